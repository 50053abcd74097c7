import { NoLoginChallengeIssuer, LoginChallengeIssuer } from '../login/login';
import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { defineFeature } from '../../foundation/realm/feature';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { LoginEnrolments } from './login-enrolments';
import { RequiredFactors, SecondFactorChallengeIssuer, factorErrors } from './required-factors';
import { TwoFactorChallengeController } from './challenge.controller';

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge = defineFeature('loginChallenge', {
  flags: ['twoFactor', 'passkeys'],
  configErrors: factorErrors,
  controllers: [TwoFactorChallengeController],
  providers: [
    LoginChallenges,
    EnrolmentTokens,
    RequiredFactors,
    LoginEnrolments,
    ChallengeAttempts,
    ChallengeCompletion,
    { provide: LoginChallengeIssuer, useClass: SecondFactorChallengeIssuer },
  ],
  on: { endAll: endChallenges },
  whenOff: [{ provide: LoginChallengeIssuer, useClass: NoLoginChallengeIssuer }],
});
