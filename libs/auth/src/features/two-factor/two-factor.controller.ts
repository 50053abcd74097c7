import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { OptionalText, RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Sessions } from '../sessions/sessions';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { TwoFactor } from './two-factor';

/** Body of `POST /two-factor/confirm`. A missing code is treated as a wrong code. */
export class ConfirmTwoFactorRequest {
  @OptionalText()
  code: string | null = null;
}

@Controller('two-factor')
@Authenticated()
@RequireConfirmation()
export class TwoFactorController {
  constructor(
    private readonly twoFactor: TwoFactor,
    private readonly sessions: Sessions,
  ) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  async enrol(@CurrentCaller() { user, familyId }: Caller): Promise<{ otpauth_uri: string; recovery_codes: string[] }> {
    const { otpauthUri, recoveryCodes } = await this.twoFactor.enrol(user, () => this.sessions.isAlive(familyId));
    return { otpauth_uri: otpauthUri, recovery_codes: recoveryCodes };
  }

  @Post('confirm')
  @HttpCode(204)
  confirm(
    @CurrentCaller() { userId }: Caller,
    @RequestBody(ConfirmTwoFactorRequest) { code }: ConfirmTwoFactorRequest,
  ): Promise<void> {
    return this.twoFactor.confirm(userId, code ?? '');
  }

  @Delete()
  @HttpCode(204)
  disable(@CurrentCaller() { userId }: Caller): Promise<void> {
    return this.twoFactor.disable(userId);
  }
}

@Controller('two-factor/recovery-codes')
@Authenticated()
export class RecoveryCodesController {
  constructor(private readonly twoFactor: TwoFactor) {}

  @Get()
  @NoStore()
  @RequireIfPinned('svc.account')
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
