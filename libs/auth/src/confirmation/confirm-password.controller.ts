import { Controller, HttpCode, Post } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import type { Caller } from '../tokens/caller';
import { ConfirmPasswordRequest } from './confirm-password.request';
import { PasswordConfirmation } from './password-confirmation';

@Controller('confirm-password')
export class ConfirmPasswordController {
  constructor(private readonly confirmation: PasswordConfirmation) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @PinnedNeeds('svc.account')
  @Throttled('svc-confirm')
  confirm(@CurrentCaller() caller: Caller, @RequestBody(ConfirmPasswordRequest) { password }: ConfirmPasswordRequest) {
    return this.confirmation.confirm(caller, password);
  }
}
