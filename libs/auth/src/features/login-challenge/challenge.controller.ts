import { Controller, Req } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { INTEGER, type Schema, TEXT, listOf, namedSchema, of, oneOf, record } from '../../foundation/platform/schema';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import { type Feature, isOnAt } from '../../foundation/realm/feature';
import { RequestBody } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route-answer';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, attemptRefusals, signInRefusal, tokenPair } from '../../request/routes/route';
import { unverifiedRefusal } from '../login/login.controller';
import { BadChallenge, ChallengeCompletion, ChallengeRequest } from './challenge';
import { requiresFactor } from './required-factors';
import { UsedCode, WrongCode, factorsOf } from './second-factor';

/** The answers of a sign-in that asks for a second factor, or for its enrolment. */
export function challengeAnswers(options: GuardConfig, manifests: readonly Feature[]): Schema[] {
  const factors = factorsOf(manifests);
  const challenge = namedSchema(
    'AuthChallenge',
    record<LoginChallenge>({
      two_factor: oneOf(true),
      challenge_token: of(TEXT, 'For the second step. Can be used once.'),
      methods: listOf(oneOf(...factors.flatMap(({ answers }) => answers.map(({ method }) => method)))),
    }),
  );
  const enrolment = namedSchema(
    'AuthEnrolment',
    record<EnrolmentChallenge>({
      enrolment_required: oneOf(true),
      enrolment_token: of(TEXT, 'For the routes below `/two-factor-enrolment`; opens one session.'),
      expires_in: of(INTEGER, 'Seconds until the token expires.'),
      methods: listOf(oneOf(...factors.map(({ enrols }) => enrols))),
    }),
  );
  const asks = factorsOf(manifests.filter((feature) => isOnAt(feature, options))).some(
    ({ askedBy }) => !askedBy || askedBy.value(options) !== false,
  );
  const isRequired = requiresFactor(options);
  return [...(asks || isRequired ? [challenge] : []), ...(isRequired ? [enrolment] : [])];
}

@Controller('two-factor-challenge')
export class TwoFactorChallengeController {
  constructor(private readonly completion: ChallengeCompletion) {}

  @Route('POST', '', 'challenge', {
    summary: 'Completes a sign-in with a second factor',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: tokenPair,
    refusals: [BadChallenge, WrongCode, UsedCode, attemptRefusals('code'), unverifiedRefusal, signInRefusal],
    presentedAs: 'login',
  })
  complete(@RequestBody() answer: ChallengeRequest, @Req() request: object): Promise<SessionTokens> {
    return this.completion.complete(answer, request);
  }
}

/** The answers to a challenge, by name. Each feature adds its own, by merging into this interface. */
export interface SecondFactorAnswers {}

/** The answer of one second factor. */
export type SecondFactorAnswer = SecondFactorAnswers[keyof SecondFactorAnswers];

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** The second step of a sign-in. */
    readonly challenge: ChallengeFlow;
  }
}

/**
 * The second step of a sign-in, for code of the host. Needs `features.twoFactor` or `features.passkeys`.
 *
 * @publicApi
 */
export class ChallengeFlow extends Flow {
  /**
   * As `POST /two-factor-challenge`: completes the challenge that a sign-in returned, and returns the tokens of a new
   * session. A challenge with the method `passkey` is answered with a ceremony of `PasskeyFlow.loginOptions`. With
   * `trustDevice`, the result has a `trustedDevice` if `twoFactor.trustedDeviceDays` is set.
   *
   * @throws BadChallenge, WrongCode, UsedCode, PasskeyRefused, TooManyFailures, TooManyRequests, AccountIsLocked, SignInRefused,
   * UnverifiedLogin, ValidationFailed, StoreUnavailable
   */
  async answer(
    challengeToken: string,
    answer: SecondFactorAnswer,
    source: CallSource,
    { trustDevice }: { trustDevice?: boolean } = {},
  ): Promise<SessionTokens> {
    const values = { ...answer, challengeToken, trustDevice };
    return this.call(TwoFactorChallengeController, 'complete', source, values);
  }
}
