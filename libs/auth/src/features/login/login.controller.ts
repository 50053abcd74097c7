import { Controller, Post, Req } from '@nestjs/common';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type LoginChallenge, type SessionTokens, DeliversTokens } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Login } from './login';
import { LoginRequest } from './credentials';

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
