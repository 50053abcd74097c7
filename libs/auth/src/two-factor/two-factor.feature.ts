import type { Feature } from '../realm/feature';
import { CodeFactor, NoCodeFactor } from '../second-step/code-factor';
import { RecoveryCodes } from './recovery-codes';
import { RecoveryCodesController } from './recovery-codes.controller';
import { SecondFactors } from './second-factors';
import { SpentCodes } from './spent-codes';
import { Totp } from './totp';
import { TwoFactor } from './two-factor';
import { TwoFactorCodes } from './two-factor-codes';
import { TwoFactorController } from './two-factor.controller';

/** TOTP and recovery codes. */
export const twoFactor: Feature = {
  flags: ['twoFactor'],
  defaultGuardControllers: [TwoFactorController, RecoveryCodesController],
  providers: [
    Totp,
    SpentCodes,
    SecondFactors,
    RecoveryCodes,
    TwoFactor,
    { provide: CodeFactor, useClass: TwoFactorCodes },
  ],
  whenOff: [{ provide: CodeFactor, useClass: NoCodeFactor }],
};
