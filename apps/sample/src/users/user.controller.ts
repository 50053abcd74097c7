import { BadRequestException, Body, Controller, ForbiddenException, Get, Header, Post } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { Auth, Authenticated, type Caller, CurrentCaller, CurrentUser, RequireConfirmation } from '@svc/auth';
import { names, tokenCan } from '../orders/abilities';
import type { User } from './user.entity';

@Controller('user')
@ApiSecurity('api_access_token')
@Authenticated()
export class UserController {
  constructor(private readonly auth: Auth) {}

  /** The signed-in user, and what the asking token may do. */
  @Get()
  show(@CurrentUser() user: User, @CurrentCaller() caller: Caller) {
    return this.auth.userResource(user, caller, { name: user.name, email: user.email });
  }

  /**
   * A session for a machine, pinned to a list of abilities for ever: `{ "label": "CI", "abilities": ["orders.read"] }`.
   * Its tokens can neither be widened nor manage the account.
   */
  @Post('tokens')
  @Header('Cache-Control', 'no-store')
  @RequireConfirmation()
  async issue(@CurrentCaller() caller: Caller, @Body('label') label: unknown, @Body('abilities') abilities: unknown) {
    const wanted = names.filter((name) => Array.isArray(abilities) && abilities.includes(name));
    if (typeof label !== 'string' || !wanted.length)
      throw new BadRequestException(`label must be a text, abilities a list of ${names.join(', ')}`);
    // Nobody hands out more than the own token may do.
    if (!wanted.every((name) => tokenCan(caller, name))) throw new ForbiddenException('Your token may do less.');
    const { accessToken, refreshToken, expiresIn } = await this.auth.startSession(caller.userId, { label }, wanted);
    return { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn };
  }
}
