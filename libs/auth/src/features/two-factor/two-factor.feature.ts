import { FLAG, TIME, orNull, record } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { CodeFactor, NoCodeFactor } from '../login-challenge/second-factors';
import { FactorImports } from './imported-factor';
import { OwnTwoFactor } from './own-two-factor';
import { RecoveryCodes } from './recovery-codes';
import { RequiredTwoFactor, RequiredTwoFactorController, TwoFactorRemoval } from './required-two-factor';
import { RecoveryCodesController, TwoFactorController } from './two-factor.controller';
import { SecondFactors } from './stored-factors';
import { UsedCodes, Totp } from './totp';
import { TwoFactor } from './two-factor';
import { TwoFactorCodes } from './code-factor';

/** TOTP and recovery codes. */
export const twoFactor = defineFeature('twoFactor', {
  flags: ['twoFactor'],
  exported: { two_factor: record({ enabled: FLAG, confirmed_at: orNull(TIME) }) },
  controllers: [RequiredTwoFactorController],
  defaultGuardControllers: [TwoFactorController, RecoveryCodesController],
  providers: [
    Totp,
    UsedCodes,
    SecondFactors,
    RecoveryCodes,
    FactorImports,
    TwoFactor,
    OwnTwoFactor,
    TwoFactorRemoval,
    RequiredTwoFactor,
    { provide: CodeFactor, useClass: TwoFactorCodes },
  ],
  whenOff: [{ provide: CodeFactor, useClass: NoCodeFactor }],
});
