import { NoLoginChallengeIssuer, LoginChallengeIssuer } from '../login/login';
import { listOf } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { LoginEnrolments } from './login-enrolments';
import { RequiredFactors, SecondFactorChallengeIssuer, factorErrors } from './required-factors';
import { TrustedDevices } from './trusted-devices';
import { TRUSTED_DEVICE } from '../sessions/trusted-device.store';
import { TrustedDevicesController } from './trusted-devices.controller';
import { TwoFactorChallengeController } from './challenge.controller';

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge = defineFeature('loginChallenge', {
  flags: ['twoFactor', 'passkeys'],
  configErrors: factorErrors,
  exported: { trusted_devices: listOf(TRUSTED_DEVICE) },
  controllers: [TwoFactorChallengeController, TrustedDevicesController],
  providers: [
    LoginChallenges,
    EnrolmentTokens,
    RequiredFactors,
    TrustedDevices,
    LoginEnrolments,
    ChallengeAttempts,
    ChallengeCompletion,
    { provide: LoginChallengeIssuer, useClass: SecondFactorChallengeIssuer },
  ],
  whenOff: [{ provide: LoginChallengeIssuer, useClass: NoLoginChallengeIssuer }],
});
