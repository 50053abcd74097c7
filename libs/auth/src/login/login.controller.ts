import { Body, Controller, Post, Req } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import type { SessionTokens } from '../http/session-tokens';
import { DeliversTokens } from '../http/token-delivery';
import { Login } from './login';
import { LoginRequest } from './login.request';

@Controller('login')
export class LoginController {
  constructor(private readonly login: Login) {}

  @Post()
  @Public()
  @DeliversTokens()
  attempt(@Body() credentials: LoginRequest, @Req() request: object): Promise<SessionTokens> {
    return this.login.attempt(credentials, request);
  }
}
