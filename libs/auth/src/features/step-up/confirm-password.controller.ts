import { Controller, HttpCode, Post } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody, RequiredText } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { PasswordConfirmation } from './password-confirmation';

/** Body of `POST /confirm-password`. */
export class ConfirmPasswordRequest {
  @RequiredText()
  password!: string;
}

@Controller('confirm-password')
export class ConfirmPasswordController {
  constructor(private readonly confirmation: PasswordConfirmation) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-confirm')
  confirm(@CurrentCaller() caller: Caller, @RequestBody(ConfirmPasswordRequest) { password }: ConfirmPasswordRequest) {
    return this.confirmation.confirm(caller, password);
  }
}
