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
import { CodeFactor, type FactorMatch } from './code-factor';
import { LoginChallenges } from './login-challenges';
import { WrongCode } from './wrong-code.exception';

/** What a challenge is answered with: one of the two. */
export interface ChallengeAnswer {
  readonly code: string | null;
  readonly recovery_code: string | null;
}

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
   * @throws AccountIsLocked, TooManyFailures, WrongCode, BadChallenge
   */
  async verify(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed> {
    const lock = userLock('two_factor', challenge.sub);
    const attempt = (): Promise<Completed | null> => this.redeem(challenge, answer);
    // A recovery code cannot be guessed, and is the way back in for whoever is locked out.
    const lockable = answer.code !== null || answer.recovery_code === null;
    if (lockable) await this.lockout.refuseLocked(lock, 'code');
    const completed = await this.failures.attempt(
      this.limits.ofTwoFactor(challenge.sub),
      lockable ? () => this.lockout.attempt(lock, 'code', attempt) : attempt,
      (seconds) => new TooManyFailures('code', seconds),
    );
    if (!completed) throw new WrongCode();
    await this.lockout.release([lock]);
    return completed;
  }

  private async redeem(challenge: PurposeClaims, answer: ChallengeAnswer): Promise<Completed | null> {
    const user = await answered('The user store', this.config.storeTimeoutMs, this.users.findById(challenge.sub));
    const match = user && (await this.matchOf(challenge.sub, answer));
    if (!match) return null;
    const completed = { user, amr: match.amr };
    // Whoever may not sign in is refused afterwards, and keeps the code.
    return this.unverified.holds(user) || (await this.spend(challenge, match)) ? completed : null;
  }

  private matchOf(userId: string, { code, recovery_code }: ChallengeAnswer): Promise<FactorMatch | null> {
    return recovery_code === null
      ? this.codes.matchCode(userId, code ?? '')
      : this.codes.matchRecoveryCode(userId, recovery_code);
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
