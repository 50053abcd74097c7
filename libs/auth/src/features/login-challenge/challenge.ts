import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { withTimeout } from '../../foundation/platform/deadline';
import { ValidationFailed } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import { UserProvider } from '../../foundation/ports/user-provider';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { clientInfo } from '../../request/http/client-info';
import { OptionalObject, OptionalText, RequiredString, named } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/token-response';
import { userLock } from '../../request/lockout/lock-key';
import { AccountLockout } from '../../request/lockout/lockout';
import { FailureLimiter, FailureLimits } from '../../request/throttling/failure-limiter';
import { TooManyFailures } from '../../request/throttling/throttling.errors';
import { UnverifiedBlock } from '../login/unverified-block';
import { Sessions } from '../sessions/sessions';
import { type ChallengeAnswer, type NoAnswer, answerIn } from './challenge-answer.policy';
import { LoginChallenges } from './challenge-tokens';
import { BadChallenge, WrongCode } from './challenge.errors';
import { CodeFactor, type FactorMatch, PasskeyFactor } from './second-factors';

/** Who completed a challenge, and how. */
export interface Completed {
  readonly user: object;
  readonly amr: string;
}

/** Checks second factors within the lockout and the limit on failures. */
@Injectable()
export class ChallengeAttempts {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
    private readonly lockout: AccountLockout,
    private readonly failures: FailureLimiter,
    private readonly limits: FailureLimits,
    private readonly users: UserProvider,
    private readonly unverified: UnverifiedBlock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Uses up the challenge and the factor, both or neither, and clears the counters.
   *
   * @throws AccountIsLocked, TooManyFailures, WrongCode, PasskeyRefused, BadChallenge, UnverifiedLogin
   */
  async verify(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed> {
    const lock = userLock('two_factor', challenge.sub);
    const attempt = (): Promise<Completed | null> => this.redeem(challenge, answer);
    // Only a code can be guessed. The others are the way back in for whoever is locked out.
    const lockable = answer.kind === 'code';
    const field = answer.kind === 'passkey' ? 'credential' : 'code';
    if (lockable) await this.lockout.refuseLocked(lock, field);
    const completed = await this.failures.attempt(
      this.limits.ofTwoFactor(challenge.sub),
      lockable ? () => this.lockout.attempt(lock, field, attempt) : attempt,
      (seconds) => new TooManyFailures(field, seconds),
    );
    if (!completed) throw new WrongCode();
    const confirm = userLock('confirm', challenge.sub);
    await this.lockout.release(answer.kind === 'passkey' ? [lock, confirm] : [lock]);
    return completed;
  }

  private async redeem(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed | null> {
    const user = await this.inTime(this.users.findById(challenge.sub));
    const stored = user && (await this.inTime(this.users.passwordHashOf(challenge.sub)));
    if (user && !this.challenges.isCurrent(challenge, stored)) throw new BadChallenge();
    const match = user && (await this.matchOf(challenge.sub, answer));
    if (!match) return null;
    // Whoever may not sign in keeps challenge and factor.
    this.unverified.refuse(user);
    return (await this.spend(challenge, match)) ? { user, amr: match.amr } : null;
  }

  private inTime<T>(work: Promise<T>): Promise<T> {
    return withTimeout('The user store', this.config.storeTimeoutMs, work);
  }

  private matchOf(userId: string, answer: ChallengeAnswer): Promise<FactorMatch | null> {
    if (answer.kind === 'code') return this.codes.matchCode(userId, answer.code);
    if (answer.kind === 'recovery_code') return this.codes.matchRecoveryCode(userId, answer.code);
    return this.passkeys.match(userId, answer.ceremonyId, answer.credential);
  }

  /** The challenge first: of two factors at once, the second one is not lost to a challenge that is. */
  private async spend(challenge: PurposeClaims, match: FactorMatch): Promise<boolean> {
    if (!(await this.challenges.consume(challenge))) throw new BadChallenge();
    let spent = false;
    try {
      spent = await match.spend();
    } finally {
      if (!spent) await this.challenges.restore(challenge);
    }
    return spent;
  }
}

/** `POST /two-factor-challenge`: from a challenge and a second factor to a session. */
@Injectable()
export class ChallengeCompletion {
  constructor(
    private readonly challenges: LoginChallenges,
    private readonly attempts: ChallengeAttempts,
    private readonly users: UserProvider,
    private readonly sessions: Sessions,
  ) {}

  /** @throws ValidationFailed, BadChallenge, AccountIsLocked, TooManyFailures, WrongCode, PasskeyRefused, UnverifiedLogin */
  async complete(body: TwoFactorChallengeRequest, request: object): Promise<SessionTokens> {
    const answer = answerIn(body);
    if ('problem' in answer) throw noAnswer(answer);
    const challenge = await this.challenges.verify(body.challenge_token);
    if (!challenge) throw new BadChallenge();
    const { user, amr } = await this.attempts.verify(challenge, answer);
    const start = { userId: this.users.idOf(user), amr: ['pwd', amr], client: clientInfo(request) };
    const tokens = await this.sessions.start(start, (stored) => this.challenges.isCurrent(challenge, stored));
    if (!tokens) throw new BadChallenge();
    return tokens;
  }
}

function noAnswer({ problem, fields }: NoAnswer): ValidationFailed {
  const textOf = (field: string): Text =>
    problem === 'missing'
      ? { key: 'validation.required', params: { field: named(field) } }
      : { key: 'auth.one_factor_only' };
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
}
