import { Injectable } from '@nestjs/common';
import { bestEffort } from '../../foundation/platform/deadline';
import { ValidationFailed, AuthException } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { clientInfo } from '../../request/http/client-info';
import { OptionalFlag, OptionalObject, OptionalText, RequiredString, named } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { userLock } from '../../request/lockout/lockout.store';
import { AttemptGuard, type GuardedAttempt, FailureLimits, afterProof } from '../../request/lockout/attempt-guard';
import { type AdmittedSignIn, SignIn } from '../sessions/sign-in';
import { type ChallengeAnswer, type NoAnswer, answerIn } from './challenge-answer.policy';
import { LoginChallenges } from './login-challenges';
import { CodeFactor, type FactorMatch, PasskeyFactor, type UsedPasskey } from './second-factors';
import { TrustedDevices } from './trusted-devices';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { challengeText } from './challenge.texts';

/** The user that completed a challenge, and the method (RFC 8176). */
export interface Completed {
  readonly signIn: AdmittedSignIn<never>;
  readonly amr: string;
  readonly passkey?: UsedPasskey;
}

/** Checks second factors, protected by the lockout and the limit on failures. */
@Injectable()
export class ChallengeAttempts {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
    private readonly attempts: AttemptGuard,
    private readonly limits: FailureLimits,
    private readonly users: TimedUserProvider,
    private readonly signIn: SignIn,
  ) {}

  /**
   * Verifies the answer, consumes the challenge and the factor (both or neither), and clears the counters.
   *
   * @throws AccountIsLocked, TooManyFailures, WrongCode, PasskeyRefused, BadChallenge, UnverifiedLogin, SignInRefused
   */
  async verify(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed> {
    const lock = userLock('two_factor', challenge.sub);
    const attempt: GuardedAttempt<Completed> = {
      // Only a TOTP code can be guessed. A locked user can still sign in with another factor.
      lock: answer.kind === 'code' ? lock : undefined,
      limits: this.limits.ofTwoFactor(challenge.sub),
      field: answer.kind === 'passkey' ? 'credential' : 'code',
      released: () => (answer.kind === 'passkey' ? [lock, userLock('confirm', challenge.sub)] : [lock]),
    };
    const completed = await this.attempts.run(attempt, () => this.redeem(challenge, answer));
    if (!completed) throw new WrongCode();
    return completed;
  }

  private async redeem(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed | null> {
    const user = await this.users.findById(challenge.sub);
    const stored = user && (await this.users.passwordHashOf(challenge.sub));
    if (user && !this.challenges.isCurrent(challenge, stored)) throw new BadChallenge();
    const match = user && (await this.matchOf(challenge.sub, answer));
    if (!match) return null;
    return afterProof(async () => {
      // Before the challenge and the factor are consumed: a refused user can use them later.
      const signIn = await this.signIn.admitTwoFactors({ user, userId: challenge.sub });
      return (await this.spend(challenge, match)) ? { signIn, amr: match.amr, passkey: match.passkey } : null;
    });
  }

  private matchOf(userId: string, answer: ChallengeAnswer): Promise<FactorMatch | null> {
    if (answer.kind === 'code') return this.codes.matchCode(userId, answer.code);
    if (answer.kind === 'recovery_code') return this.codes.matchRecoveryCode(userId, answer.code);
    return this.passkeys.match(userId, answer.ceremonyId, answer.credential);
  }

  /** Consumes the challenge first: if two factors answer it concurrently, only one factor is consumed. */
  private async spend(challenge: PurposeClaims, match: FactorMatch): Promise<boolean> {
    if (!(await this.challenges.consume(challenge))) throw new BadChallenge();
    let spent = false;
    try {
      spent = await match.spend();
    } finally {
      // Not repeated: it could restore a challenge that was spent again meanwhile.
      if (!spent) await bestEffort('restoring a challenge', () => this.challenges.restore(challenge), 0);
    }
    return spent;
  }
}

/** Completes a login challenge with a second factor and starts a session (`POST /two-factor-challenge`). */
@Injectable()
export class ChallengeCompletion {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly attempts: ChallengeAttempts,
    private readonly devices: TrustedDevices,
    private readonly signIn: SignIn,
  ) {}

  /** @throws ValidationFailed, BadChallenge, AccountIsLocked, TooManyFailures, WrongCode, PasskeyRefused, UnverifiedLogin, SignInRefused */
  async complete(body: TwoFactorChallengeRequest, request: object): Promise<SessionTokens> {
    const answer = answerIn(body);
    if ('problem' in answer) throw invalidAnswer(answer);
    const challenge = await this.challenges.verify(body.challenge_token);
    if (!challenge) throw new BadChallenge();
    // Before the factor is verified: if it is replaced meanwhile, the device is not trusted.
    const trusting = body.trust_device ? await this.devices.prepare(challenge.sub) : null;
    const { signIn, amr, passkey } = await this.attempts.verify(challenge, answer);
    const { fst: first = 'pwd', rem: remember = true } = challenge;
    const ending = { methods: [first, amr], request, remember, credentialId: passkey?.passkeyId };
    const device = trusting && (await trusting.trust(clientInfo(request)));
    // An end of all sessions is recorded before the sessions end. So either it ends this one, or this check sees it.
    const stillValid = async (stored: string | null): Promise<boolean> =>
      this.challenges.isCurrent(challenge, stored) &&
      (await this.challenges.isOutstanding(challenge)) &&
      (!passkey || (await passkey.isCurrent()));
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
}

function invalidAnswer({ problem, fields }: NoAnswer): ValidationFailed {
  const textOf = (field: string): Text =>
    problem === 'missing'
      ? { key: 'validation.required', params: { field: named(field) } }
      : challengeText('auth.one_factor_only');
  return new ValidationFailed(Object.fromEntries(fields.map((field) => [field, [textOf(field)]])));
}

/** Body of `POST /two-factor-challenge`: the challenge, and one second factor. */
export class TwoFactorChallengeRequest {
  @RequiredString()
  challenge_token!: string;

  @OptionalText()
  code: string | null = null;

  @OptionalText()
  recovery_code: string | null = null;

  @OptionalText()
  ceremony_id: string | null = null;

  @OptionalObject()
  credential: object | null = null;

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

/** The code is wrong or already used, or the user has no second factor: 422, with the same body in all cases. */
export class WrongCode extends AuthException {
  constructor() {
    super('wrong_code', { status: 422, errors: { code: [challengeText('auth.wrong_code')] } });
  }
}
