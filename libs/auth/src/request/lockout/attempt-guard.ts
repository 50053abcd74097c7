import { Injectable } from '@nestjs/common';
import type { AttemptOutcome, Limit } from '../../foundation/security-store/security-store';
import { FailureLimiter } from '../throttling/failure-limiter';
import { TooManyFailures } from '../throttling/throttling.errors';
import { AccountLockout } from './lockout';
import type { LockKey } from './lock-key';

/** How an attempt at a secret is guarded. */
export interface GuardedAttempt<T> {
  /** The counter of failures in a row; left out where the secret cannot be guessed. */
  readonly lock?: LockKey;
  /** Limits on failures in a period of time. */
  readonly limits?: readonly Limit[];
  /** The request field under which the client reads a refusal. */
  readonly field: string;
  /** What a success does to the counters of `limits`: by default it empties them. */
  readonly onSuccess?: AttemptOutcome;
  /** Is called before an attempt is refused because of `limits`. */
  readonly onLimit?: () => void;
  /** The counters of failures in a row that a success clears; none by default. */
  readonly released?: (verified: T) => readonly LockKey[];
}

/**
 * Runs every check of a secret: password, code and passkey. The order is fixed: a lock refuses first, since it holds
 * longer than a limit; then the limits and the lock each reserve an attempt; then the secret is verified; then a
 * success clears counters.
 */
@Injectable()
export class AttemptGuard {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly failures: FailureLimiter,
  ) {}

  /**
   * @param verify resolves to null for a wrong secret
   * @returns what `verify` resolves to
   * @throws AccountIsLocked, TooManyFailures, both without a verification; StoreUnavailable
   */
  async run<T>(attempt: GuardedAttempt<T>, verify: () => Promise<T | null>): Promise<T | null> {
    const { lock, limits = [], field, onSuccess, onLimit, released } = attempt;
    if (lock) await this.lockout.refuseLocked(lock, field);
    const verified = await this.failures.attempt(
      limits,
      () => (lock ? this.lockout.attempt(lock, field, verify) : verify()),
      (seconds) => {
        onLimit?.();
        return new TooManyFailures(field, seconds);
      },
      onSuccess,
    );
    if (verified !== null && released) await this.lockout.release(released(verified));
    return verified;
  }
}
