import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { answered } from '../kernel/unavailable';
import { AccountLockout } from '../lockout/account-lockout';
import { userLock } from '../lockout/lock-key';
import { UnverifiedBlock } from '../login/unverified-block';
import { FailureLimiter } from '../throttling/failure-limiter';
import { FailureLimits } from '../throttling/failure-limits';
import { TooManyFailures } from '../throttling/too-many-failures.exception';
import type { PurposeClaims } from '../tokens/purpose-token.policy';
import { UserProvider } from '../users/user-provider';
import { BadChallenge } from './bad-challenge.exception';
import type { ChallengeAnswer } from './challenge-answer.policy';
import { CodeFactor } from './code-factor';
import type { FactorMatch } from './factor-match';
import { LoginChallenges } from './login-challenges';
import { PasskeyFactor } from './passkey-factor';
import { WrongCode } from './wrong-code.exception';

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
    if (user && !this.challenges.stands(challenge, stored)) throw new BadChallenge();
    const match = user && (await this.matchOf(challenge.sub, answer));
    if (!match) return null;
    // Whoever may not sign in keeps challenge and factor.
    this.unverified.refuse(user);
    return (await this.spend(challenge, match)) ? { user, amr: match.amr } : null;
  }

  private inTime<T>(work: Promise<T>): Promise<T> {
    return answered('The user store', this.config.storeTimeoutMs, work);
  }

  private matchOf(userId: string, answer: ChallengeAnswer): Promise<FactorMatch | null> {
    if (answer.kind === 'code') return this.codes.matchCode(userId, answer.code);
    if (answer.kind === 'recovery_code') return this.codes.matchRecoveryCode(userId, answer.code);
    return this.passkeys.match(userId, answer.ceremonyId, answer.credential);
  }

  /** The challenge first: of two factors at once, the second one is not lost to a challenge that is. */
  private async spend(challenge: PurposeClaims, match: FactorMatch): Promise<boolean> {
    if (!(await this.challenges.burn(challenge))) throw new BadChallenge();
    let spent = false;
    try {
      spent = await match.spend();
    } finally {
      if (!spent) await this.challenges.restore(challenge);
    }
    return spent;
  }
}
