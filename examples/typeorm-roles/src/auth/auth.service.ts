import { HttpStatus, Injectable, NotFoundException } from '@nestjs/common';
import { Auth, type SessionTokens, Unauthenticated } from '@svc/auth';
import type { Request } from 'express';
import { FormerSessions } from '../session/former-sessions.js';
import { StatusEnum } from '../statuses/statuses.enum.js';
import type { UserEntity } from '../users/entities/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { linkOf, parameterOf } from '../utils/link-hash.js';
import type { NullableType } from '../utils/nullable.type.js';
import { unprocessable } from '../utils/unprocessable.js';
import type { AuthEmailLoginDto } from './dto/auth-email-login.dto.js';
import type { AuthRegisterLoginDto } from './dto/auth-register-login.dto.js';
import type { AuthUpdateDto } from './dto/auth-update.dto.js';
import type { LoginResponseDto, RefreshResponseDto } from './dto/login-response.dto.js';

@Injectable()
export class AuthService {
  constructor(
    private readonly auth: Auth,
    private readonly usersService: UsersService,
    private readonly formerSessions: FormerSessions,
  ) {}

  async validateLogin({ email, password }: AuthEmailLoginDto, request: Request): Promise<LoginResponseDto> {
    const result = await this.auth.login.attempt({ identifier: email, password }, request);

    if (!('accessToken' in result)) {
      throw unprocessable({ email: 'needSecondFactor' });
    }

    const user = await this.usersService.findOne({ id: Number(result.userId) });

    return { ...this.tokensData(result), user: user! };
  }

  async register(dto: AuthRegisterLoginDto, request: Request): Promise<void> {
    await this.auth.registration.register({ ...dto, password_confirmation: dto.password }, request);
  }

  async confirmEmail(mailedHash: string, request: Request): Promise<void> {
    const link = linkOf(mailedHash);
    const [id = '', hash = ''] = link.pathname.split('/').slice(-2);
    const [expires, signature] = [parameterOf(link, 'expires'), parameterOf(link, 'signature')];
    await this.auth.emailVerification.verify({ id, hash, expires, signature }, request);

    const user = await this.usersService.findOne({ id: Number(id) });

    if (user?.status?.id !== StatusEnum.inactive) {
      throw new NotFoundException({ status: HttpStatus.NOT_FOUND, error: 'notFound' });
    }

    await this.usersService.update(user.id, { status: { id: StatusEnum.active } });
  }

  async confirmNewEmail(hash: string, request: Request): Promise<void> {
    await this.auth.emailChange.confirm(parameterOf(linkOf(hash), 'token'), request);
  }

  async undoNewEmail(hash: string, request: Request): Promise<void> {
    await this.auth.emailChange.undo(parameterOf(linkOf(hash), 'token'), request);
  }

  async forgotPassword(email: string, request: Request): Promise<void> {
    await this.auth.passwordReset.request(email, request);
  }

  async resetPassword(hash: string, password: string, request: Request): Promise<void> {
    const link = linkOf(hash);
    const [token, email] = [parameterOf(link, 'token'), parameterOf(link, 'email')];
    await this.auth.passwordReset.reset({ token, email, password }, request);

    const user = await this.usersService.findOne({ email });

    if (user) {
      await this.formerSessions.endAll(user.id);
    }
  }

  async update(currentUser: UserEntity, userDto: AuthUpdateDto, request: Request): Promise<NullableType<UserEntity>> {
    const { email, password, oldPassword, ...changes } = userDto;
    const isNewEmail = email !== undefined && email !== currentUser.email;

    if (password && isNewEmail) {
      // Each of both has its own limits: a refusal of the second would leave the first one made.
      throw unprocessable({ email: 'changeWithoutPassword' });
    }

    if ((password || isNewEmail) && !oldPassword) {
      throw unprocessable({ oldPassword: 'missingOldPassword' });
    }

    if (isNewEmail) {
      // The password and its limits come first: a stolen access token does not show which emails are taken.
      const confirmationToken = await this.auth.confirmation.byPassword(oldPassword!, request);
      await this.usersService.requireFreeEmail(email, 'emailExists');
      await this.auth.emailChange.request(email, { request, confirmationToken });
    }

    if (password) {
      await this.auth.passwordChange.change({ currentPassword: oldPassword!, password }, request);
      const caller = await this.auth.callerOf(request);
      await this.formerSessions.endAll(currentUser.id, caller?.familyId);
    }

    return this.usersService.update(currentUser.id, changes);
  }

  async refreshToken(request: Request): Promise<RefreshResponseDto> {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];

    if (!token) {
      throw new Unauthenticated(false);
    }

    return this.tokensData(
      (await this.formerSessions.exchange(token)) ?? (await this.auth.sessions.refresh(token, request)),
    );
  }

  async softDelete(id: UserEntity['id']): Promise<void> {
    await this.usersService.softDelete(id);
  }

  logout(request: Request): Promise<void> {
    return this.auth.sessions.logout(request);
  }

  private tokensData({ accessToken, refreshToken, expiresIn }: SessionTokens): RefreshResponseDto {
    return { token: accessToken, refreshToken, tokenExpires: Date.now() + expiresIn * 1000 };
  }
}
