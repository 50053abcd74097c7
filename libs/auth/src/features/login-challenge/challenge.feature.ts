import { endChallenges } from '../../identity/tokens/purpose-tokens';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { ChallengeCompletion } from './challenge';
import { factorErrors, CHALLENGE_HOOKS, RequiredFactors, SecondFactorChallengeIssuer } from './required-factors';
import { ENROLMENT, EnrolmentTokens, LOGIN_CHALLENGE, LoginChallenges } from './login-challenges';
import { LoginEnrolments } from './login-enrolments';
import { ChallengeFlow, TwoFactorChallengeController, challengeAnswers } from './challenge.controller';
import { CHALLENGE_OPTIONS } from './challenge.options';

const reasons = {
  bad_challenge: 'the login challenge is not valid, has expired or was used before',
  bad_enrolment: 'the enrolment token is not valid, has expired or was used before, or the user has a second factor',
  second_factor_required: 'the last second factor of a user who must have one',
  used_code: 'the code is right, and it or a later one was used before',
  wrong_code: 'the second factor is wrong',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge = defineFeature('loginChallenge', {
  onWith: ({ factor }) => factor !== undefined,
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
  signInAnswers: challengeAnswers,
  providers: [
    LoginChallenges,
    EnrolmentTokens,
    RequiredFactors,
    LoginEnrolments,
    ChallengeCompletion,
    SecondFactorChallengeIssuer,
  ],
  on: { ...CHALLENGE_HOOKS, endAll: endChallenges },
});
