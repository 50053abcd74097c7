import { Injectable } from '@nestjs/common';
import { bestEffort } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { clientInfo } from '../../request/http/client-info';
import { OptionalFlag, RequiredString } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route-answer';
import { afterProof } from '../../request/lockout/attempt-guard';
import { type AdmittedSignIn, SignIn } from '../sessions/sign-in';
import { LoginChallenges, begunSignIn } from './login-challenges';
import { type FactorMatch, type GivenAnswer, GuardFactors, type UsedCredential } from './second-factor';
import { TrustedDevices } from './trusted-devices';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { challengeText } from './challenge.texts';

/** The user that completed a challenge, and the method (RFC 8176). */
export interface Completed {
  readonly signIn: AdmittedSignIn<never>;
  readonly amr: string;
  readonly credential?: UsedCredential;
}

/** Completes a login challenge with a second factor and starts a session (`POST /two-factor-challenge`). */
@Injectable()
export class ChallengeCompletion {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly factors: GuardFactors,
    private readonly users: TimedUserProvider,
    private readonly devices: TrustedDevices,
    private readonly signIn: SignIn,
  ) {}

  /** @throws ValidationFailed, BadChallenge, AccountIsLocked, TooManyFailures, WrongCode, UsedCode, UnverifiedLogin, SignInRefused; the errors of the factor */
  async complete(body: ChallengeRequest, request: object): Promise<SessionTokens> {
    const answer = this.factors.answerIn(body);
    const challenge = await this.challenges.verify(body.challenge_token);
    if (!challenge) throw new BadChallenge();
    // Before the factor is verified: if it is replaced meanwhile, the device is not trusted.
    const trusting = body.trust_device ? await this.devices.prepare(challenge.sub) : null;
    const { signIn, amr, credential } = await this.verify(challenge, answer, body);
    const { first, remember, origin } = begunSignIn(challenge);
    const ending = { methods: [first, amr], request, remember, credentialId: credential?.id, origin };
    const device = trusting && (await trusting.trust(clientInfo(request)));
    // An end of all sessions is recorded before the sessions end. So either it ends this one, or this check sees it.
    const stillValid = async (stored: string | null): Promise<boolean> =>
      this.challenges.isCurrent(challenge, stored) &&
      (await this.challenges.tokens.isOutstanding(challenge)) &&
      (!credential || (await credential.isCurrent()));
    let tokens: SessionTokens | null = null;
    try {
      tokens = await this.signIn.complete(signIn, ending, stillValid);
    } finally {
      if (!tokens) await device?.forget();
    }
    if (!tokens) throw new BadChallenge();
    device?.announce();
    return device ? { ...tokens, trustedDevice: device.trusted } : tokens;
  }

  /**
   * Verifies the answer, consumes the challenge and the factor (both or neither), and clears the counters.
   *
   * @param answer null for a body without one, which counts as a wrong code
   * @throws AccountIsLocked, TooManyFailures, WrongCode, UsedCode, BadChallenge, UnverifiedLogin, SignInRefused; the errors of the factor
   */
  private verify(challenge: PurposeClaims, answer: GivenAnswer | null, body: object): Promise<Completed> {
    return this.factors.attempt(challenge.sub, answer ?? { isGuessable: true }, () =>
      this.redeem(challenge, answer, body),
    );
  }

  private async redeem(challenge: PurposeClaims, answer: GivenAnswer | null, body: object): Promise<Completed | null> {
    const { sub: userId } = challenge;
    const user = await this.users.findById(userId);
    const stored = user && (await this.users.passwordHashOf(userId));
    if (user && !this.challenges.isCurrent(challenge, stored)) throw new BadChallenge();
    const match = user && answer && (await this.factors.match(userId, answer, body));
    if (!match) return null;
    return afterProof(async () => {
      // Before the challenge and the factor are consumed: a refused user can use them later.
      const signIn = await this.signIn.admitTwoFactors({ user, userId });
      if (!(await this.spend(challenge, match))) return null;
      return { signIn, amr: answer.factor.amr, credential: match.credential };
    });
  }

  /** Consumes the challenge first: if two factors answer it concurrently, only one factor is consumed. */
  private async spend(challenge: PurposeClaims, match: FactorMatch): Promise<boolean> {
    if (!(await this.challenges.tokens.spend(challenge))) throw new BadChallenge();
    let spent = false;
    try {
      spent = await match.spend();
    } finally {
      // Not repeated: it could restore a challenge that was spent again meanwhile.
      if (!spent) await bestEffort('restoring a challenge', () => this.challenges.tokens.restore(challenge), 0);
    }
    return spent;
  }
}

/** Body of `POST /two-factor-challenge`: the challenge, and the answer of one second factor. */
export class ChallengeRequest {
  @RequiredString()
  challenge_token!: string;

  /** Whether the device is to be trusted: see `twoFactor.trustedDeviceDays`. */
  @OptionalFlag()
  trust_device: boolean | null = null;
}

/**
 * The challenge token is invalid, expired, already used, from another guard, was issued for a former password, or was
 * issued before all sessions of the user were ended: 422. The client must start the login again.
 */
export class BadChallenge extends AuthException {
  constructor() {
    super('bad_challenge', { status: 422, errors: { challenge_token: [challengeText('auth.bad_challenge')] } });
  }

  /** When several requests answer one challenge concurrently, the refused ones were not guesses. */
  override get isInconclusive(): boolean {
    return true;
  }
}
