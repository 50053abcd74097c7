import { Controller, Post, Req } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import type { LoginChallenge } from '../http/login-challenge';
import type { SessionTokens } from '../http/session-tokens';
import { DeliversTokens } from '../http/token-delivery';
import { Throttled } from '../throttling/throttled.decorator';
import { Login } from './login';
import { LoginRequest } from './login.request';

@Controller('login')
export class LoginController {
  constructor(private readonly login: Login) {}

  @Post()
  @Public()
  @Throttled('svc-login')
  @DeliversTokens()
  attempt(
    @RequestBody(LoginRequest) credentials: LoginRequest,
    @Req() request: object,
  ): Promise<SessionTokens | LoginChallenge> {
    return this.login.attempt(credentials, request);
  }
}
