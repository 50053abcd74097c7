import {
  BadRequestException,
  Body,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpCode,
  Post,
  Put,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { ThrottlerGuard } from '@nestjs/throttler';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Auth,
  Authenticated,
  type Caller,
  CurrentCaller,
  CurrentUser,
  RequireAbilityIfPinned,
  RequireConfirmation,
} from '@svc/auth';
import { LANGUAGES, type Language } from '@svc/auth/languages';
import { IsNull, Not, type Repository } from 'typeorm';
import { names, tokenCan } from '../orders/abilities';
import { User } from './user.entity';

const isDeclared = (name: unknown): name is (typeof names)[number] => names.includes(name as (typeof names)[number]);

@Controller('user')
@ApiSecurity('api_access_token')
@Authenticated()
@UseGuards(ThrottlerGuard)
export class UserController {
  constructor(
    private readonly auth: Auth,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /** The signed-in user and the abilities of the token. */
  @Get()
  async show(@CurrentUser() { id, name, email, language }: User, @CurrentCaller() caller: Caller) {
    const [two_factor, has_password] = await Promise.all([
      this.users.existsBy({ id, twoFactorConfirmedAt: Not(IsNull()) }),
      this.users.existsBy({ id, passwordHash: Not(IsNull()) }),
    ]);
    const fields = { name, email, language, two_factor, has_password };
    return this.auth.userResource(caller.user, caller, fields);
  }

  /** The language of the mails to the user: `{ "language": "de" }`. A pinned session cannot change it. */
  @Put('language')
  @HttpCode(204)
  @RequireAbilityIfPinned('svc.account')
  async speak(@CurrentUser() { id }: User, @Body('language') language: unknown): Promise<void> {
    if (!LANGUAGES.includes(language as Language))
      throw new BadRequestException(`language must be one of ${LANGUAGES.join(', ')}`);
    await this.users.update({ id }, { language: language as Language });
  }

  /**
   * A session for a machine, permanently pinned to a list of abilities: `{ "label": "CI", "abilities": ["orders.read"] }`.
   * Its tokens cannot get more abilities and cannot manage the account.
   */
  @Post('tokens')
  @Header('Cache-Control', 'no-store')
  @RequireConfirmation()
  async issue(@CurrentCaller() caller: Caller, @Body('label') label: unknown, @Body('abilities') abilities: unknown) {
    const wanted: unknown[] = Array.isArray(abilities) ? abilities : [];
    // An unknown name is refused and not left out: the client would not notice that it lacks an ability.
    if (typeof label !== 'string' || !wanted.length || !wanted.every(isDeclared))
      throw new BadRequestException(`label must be a text, abilities a list of ${names.join(', ')}`);
    // A token cannot issue abilities that it does not have.
    if (!wanted.every((name) => tokenCan(caller, name)))
      throw new ForbiddenException('Your token does not have these abilities.');
    const { accessToken, refreshToken, expiresIn } = await this.auth.startSession(caller.userId, { label }, wanted);
    return { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn };
  }
}
