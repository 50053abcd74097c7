import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { ENROLMENT, EnrolmentTokens, LOGIN_CHALLENGE, LoginChallenges } from './login-challenges';
import { LoginEnrolments } from './login-enrolments';
import { CHALLENGE_HOOKS, RequiredFactors, SecondFactorChallengeIssuer, factorErrors } from './required-factors';
import { TwoFactorChallengeController } from './challenge.controller';
import { CHALLENGE_OPTIONS } from './challenge.options';

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge = defineFeature('loginChallenge', {
  flags: ['twoFactor', 'passkeys'],
  languages: () => (require('./challenge.languages') as typeof import('./challenge.languages')).challengeLanguages,
  options: CHALLENGE_OPTIONS,
  limits: {
    'svc-2fa': perClient(({ twoFactor }) => twoFactor),
  },
  configErrors: factorErrors,
  controllers: [TwoFactorChallengeController],
  purposes: [LOGIN_CHALLENGE, ENROLMENT],
  providers: [
    LoginChallenges,
    EnrolmentTokens,
    RequiredFactors,
    LoginEnrolments,
    ChallengeAttempts,
    ChallengeCompletion,
    SecondFactorChallengeIssuer,
  ],
  on: { ...CHALLENGE_HOOKS, endAll: endChallenges },
});
