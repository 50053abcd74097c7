import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import type { SessionTokens } from '../http/session-tokens';
import { DeliversTokens } from '../http/token-delivery';
import { Throttled } from '../throttling/throttled.decorator';
import { AssertionRequest } from './assertion.request';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyLogin } from './passkey-login';

@Controller('passkeys')
export class PasskeyLoginController {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly login: PasskeyLogin,
  ) {}

  /** Also for step-up and second step: what is answered says who it was. */
  @Post('login-options')
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-passkeys')
  options() {
    return this.assertions.start();
  }

  @Post('login')
  @Public()
  @Throttled('svc-passkeys')
  @DeliversTokens()
  attempt(@RequestBody(AssertionRequest) assertion: AssertionRequest, @Req() request: object): Promise<SessionTokens> {
    return this.login.attempt(assertion, request);
  }
}
