import { HttpStatus, Injectable, NotFoundException } from '@nestjs/common';
import { Auth, AuthException, type SessionTokens, Unauthenticated } from '@svc/auth';
import type { Request } from 'express';
import { FormerSessions } from '../session/former-sessions.js';
import { StatusEnum } from '../statuses/statuses.enum.js';
import type { UserEntity } from '../users/entities/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { linkOf } from '../utils/link-hash.js';
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
    const { pathname, searchParams } = linkOf(mailedHash);
    const [id = '', hash = ''] = pathname.split('/').slice(-2);
    const [expires, signature] = ['expires', 'signature'].map((name) => searchParams.get(name) ?? '');
    await this.auth.emailVerification.verify({ id, hash, expires: expires!, signature: signature! }, request);

    const user = await this.usersService.findOne({ id: Number(id) });

    if (user?.status?.id !== StatusEnum.inactive) {
      throw new NotFoundException({ status: HttpStatus.NOT_FOUND, error: 'notFound' });
    }

    await this.usersService.update(user.id, { status: { id: StatusEnum.active } });
  }

  async confirmNewEmail(hash: string, request: Request): Promise<void> {
    await this.auth.emailChange.confirm(linkOf(hash).searchParams.get('token') ?? '', request);
  }

  async undoNewEmail(hash: string, request: Request): Promise<void> {
    await this.auth.emailChange.undo(linkOf(hash).searchParams.get('token') ?? '', request);
  }

  async forgotPassword(email: string, request: Request): Promise<void> {
    await this.auth.passwordReset.request(email, request);
  }

  async resetPassword(hash: string, password: string, request: Request): Promise<void> {
    const link = linkOf(hash).searchParams;
    const [token, email] = [link.get('token') ?? '', link.get('email') ?? ''];
    await this.auth.passwordReset.reset({ token, email, password }, request);

    const user = await this.usersService.findOne({ email });

    if (user) {
      await this.formerSessions.endAll(user.id);
    }
  }

  async update(currentUser: UserEntity, userDto: AuthUpdateDto, request: Request): Promise<NullableType<UserEntity>> {
    const { email, password, oldPassword, ...changes } = userDto;
    const isNewEmail = email !== undefined && email !== currentUser.email;

    if ((password || isNewEmail) && !oldPassword) {
      throw unprocessable({ oldPassword: 'missingOldPassword' });
    }

    if (isNewEmail) {
      await this.usersService.requireFreeEmail(email);
    }

    if (password) {
      await this.checkOld(this.auth.passwordChange.change({ currentPassword: oldPassword!, password }, request));
      await this.formerSessions.endAll(currentUser.id);
    }

    // After the password: its change ends a requested change of the email.
    if (isNewEmail) {
      const current = password ?? oldPassword!;
      const confirmationToken = await this.checkOld(this.auth.confirmation.byPassword(current, request));
      await this.auth.emailChange.request(email, { request, confirmationToken });
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

  /** A wrong password is answered under the field of this application. */
  private async checkOld<T>(checked: Promise<T>): Promise<T> {
    try {
      return await checked;
    } catch (error) {
      if (error instanceof AuthException && error.code === 'wrong_password') {
        throw unprocessable({ oldPassword: 'incorrectOldPassword' });
      }
      throw error;
    }
  }

  private tokensData({ accessToken, refreshToken, expiresIn }: SessionTokens): RefreshResponseDto {
    return { token: accessToken, refreshToken, tokenExpires: Date.now() + expiresIn * 1000 };
  }
}
