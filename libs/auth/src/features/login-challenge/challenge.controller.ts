import { Controller, Req } from '@nestjs/common';
import { RequestBody } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, attemptRefusals, signInRefusal, tokenPair } from '../../request/routes/route';
import { unverifiedRefusal } from '../login/login.controller';
import { BadChallenge, ChallengeCompletion, TwoFactorChallengeRequest, WrongCode } from './challenge';

@Controller('two-factor-challenge')
export class TwoFactorChallengeController {
  constructor(private readonly completion: ChallengeCompletion) {}

  @Route('POST', '', 'challenge', {
    summary: 'Completes a sign-in with a second factor',
    public: 'own-origin',
    limiter: 'svc-2fa',
    answer: tokenPair,
    refusals: [BadChallenge, WrongCode, attemptRefusals('code'), unverifiedRefusal, signInRefusal],
    presentedAs: 'login',
  })
  complete(@RequestBody() answer: TwoFactorChallengeRequest, @Req() request: object): Promise<SessionTokens> {
    return this.completion.complete(answer, request);
  }
}

/** One second factor: a TOTP code, a recovery code, or the response to a passkey ceremony. */
export type SecondFactorAnswer =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly ceremonyId: string; readonly credential: object };

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
   * @throws BadChallenge, WrongCode, PasskeyRefused, TooManyFailures, TooManyRequests, AccountIsLocked, SignInRefused,
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
