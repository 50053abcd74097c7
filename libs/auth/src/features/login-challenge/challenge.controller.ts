import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, Injectable, Post, Req } from '@nestjs/common';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { DeliversTokens } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { ChallengeCompletion, TwoFactorChallengeRequest } from './challenge';

@Controller('two-factor-challenge')
export class TwoFactorChallengeController {
  constructor(private readonly completion: ChallengeCompletion) {}

  @Post()
  @Public()
  @Throttled('svc-2fa')
  @DeliversTokens()
  complete(
    @RequestBody(TwoFactorChallengeRequest) answer: TwoFactorChallengeRequest,
    @Req() request: object,
  ): Promise<SessionTokens> {
    return this.completion.complete(answer, request);
  }
}

/** One second factor: a TOTP code, a recovery code, or the response to a passkey ceremony. */
export type SecondFactorAnswer =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly ceremonyId: string; readonly credential: object };

/**
 * The second step of a sign-in, for code of the host. Needs `features.twoFactor` or `features.passkeys`.
 *
 * @publicApi
 */
@Injectable()
export class ChallengeFlow extends Flow {
  protected override readonly feature = 'twoFactor';

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
    const { code, recoveryCode, ceremonyId, credential } = (answer ?? {}) as Partial<Record<string, unknown>>;
    const completion = this.get(ChallengeCompletion);
    const complete = async (request: ServerRequest): Promise<SessionTokens> =>
      completion.complete(this.read(TwoFactorChallengeRequest, request), request);
    return this.call(TwoFactorChallengeController, 'complete', source, complete, {
      challenge_token: challengeToken,
      code,
      recovery_code: recoveryCode,
      ceremony_id: ceremonyId,
      credential,
      trust_device: trustDevice,
    });
  }
}
