import { Controller, HttpCode, Post } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import type { Caller } from '../tokens/caller';
import { AssertionRequest } from './assertion.request';
import { PasskeyConfirmation } from './passkey-confirmation';

@Controller('confirm-passkey')
export class ConfirmPasskeyController {
  constructor(private readonly confirmation: PasskeyConfirmation) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @PinnedNeeds('svc.account')
  @Throttled('svc-confirm')
  confirm(@CurrentCaller() caller: Caller, @RequestBody(AssertionRequest) assertion: AssertionRequest) {
    return this.confirmation.confirm(caller, assertion);
  }
}
