import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { PinnedNeeds } from '../abilities/pinned-ability.decorator';
import { RequireConfirmation } from '../confirmation/require-confirmation.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { NoStore } from '../http/no-store.decorator';
import type { Caller } from '../tokens/caller';
import { TwoFactor } from './two-factor';

@Controller('two-factor/recovery-codes')
@Authenticated()
export class RecoveryCodesController {
  constructor(private readonly twoFactor: TwoFactor) {}

  @Get()
  @NoStore()
  @PinnedNeeds('svc.account')
  count(@CurrentCaller() { userId }: Caller): Promise<{ remaining: number; total: number }> {
    return this.twoFactor.recoveryCodeCount(userId);
  }

  @Post()
  @HttpCode(200)
  @NoStore()
  @RequireConfirmation()
  async replace(@CurrentCaller() { userId }: Caller): Promise<{ recovery_codes: string[] }> {
    return { recovery_codes: await this.twoFactor.replaceRecoveryCodes(userId) };
  }
}
