import { Controller, HttpCode, Post } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Throttled } from '../throttling/throttled.decorator';
import type { Caller } from '../tokens/caller';
import { ChangePasswordRequest } from './change-password.request';
import { PasswordChange } from './password-change';

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @PinnedNeeds('svc.account')
  @Throttled('svc-confirm')
  async replace(
    @CurrentCaller() caller: Caller,
    @RequestBody(ChangePasswordRequest) wanted: ChangePasswordRequest,
  ): Promise<{ status: string }> {
    await this.change.make(caller, wanted);
    return { status: 'password-changed' };
  }
}
