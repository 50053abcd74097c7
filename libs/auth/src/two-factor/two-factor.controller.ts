import { Controller, Delete, HttpCode, Post } from '@nestjs/common';
import { RequireConfirmation } from '../confirmation/require-confirmation.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import { Sessions } from '../sessions/sessions';
import type { Caller } from '../tokens/caller';
import { ConfirmTwoFactorRequest } from './confirm-two-factor.request';
import { TwoFactor } from './two-factor';

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
