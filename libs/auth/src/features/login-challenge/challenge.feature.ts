import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { ENROLMENT, EnrolmentTokens, LOGIN_CHALLENGE, LoginChallenges } from './login-challenges';
import { LoginEnrolments } from './login-enrolments';
import { CHALLENGE_HOOKS, RequiredFactors, SecondFactorChallengeIssuer, factorErrors } from './required-factors';
import { ChallengeFlow, TwoFactorChallengeController } from './challenge.controller';
import { CHALLENGE_OPTIONS } from './challenge.options';

const reasons = {
  bad_challenge: 'the login challenge is not valid, has expired or was used before',
  bad_enrolment: 'the enrolment token is not valid, has expired or was used before, or the user has a second factor',
  second_factor_required: 'the last second factor of a user who must have one',
  wrong_code: 'the second factor is wrong',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge = defineFeature('loginChallenge', {
  flags: ['twoFactor', 'passkeys'],
  reasons,
  languages: () => (require('./challenge.languages') as typeof import('./challenge.languages')).challengeLanguages,
  options: CHALLENGE_OPTIONS,
  limits: {
    'svc-2fa': perClient(({ twoFactor }) => twoFactor),
  },
  configErrors: factorErrors,
  waits: { 'login with a second factor': { row: '`POST /two-factor-challenge`', inARow: 17, longest: 3 } },
  page: 'two-factor.md',
  capabilities: { challenge: ChallengeFlow },
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
