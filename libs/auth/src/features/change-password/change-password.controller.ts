import { Controller, HttpCode, Post } from '@nestjs/common';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import type { Caller } from '../../identity/tokens/caller';
import { ChangePasswordRequest, PasswordChange } from './change-password';

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-confirm')
  async replace(
    @CurrentCaller() caller: Caller,
    @RequestBody(ChangePasswordRequest) body: ChangePasswordRequest,
  ): Promise<{ status: string }> {
    await this.change.change(caller, body);
    return { status: 'password-changed' };
  }
}
