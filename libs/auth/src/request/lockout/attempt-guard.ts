import { Injectable, Logger } from '@nestjs/common';
import {
  type AttemptOutcome,
  type Limit,
  SecurityStore,
  type Tally,
} from '../../foundation/security-store/security-store';
import { TooManyFailures } from '../throttling/throttling.errors';
import { AccountLockout } from './lockout';
import type { LockKey } from './lockout.store';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestScope, isInconclusive } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { foldedIdentifier, normalizedIdentifier } from '../../identity/users/identifiers';
import { Clients } from '../throttling/clients';
import { limit } from '../throttling/limiters';
import { limitState } from '../throttling/rate-limit.policy';

/** How long an attempt waits for others to end before it is refused on their account, in milliseconds. */
const PATIENCE = { total: 1000, step: 25 };

/**
 * Limits failed attempts. Only failures count, yet however many run at once, no more than the limit are ever
 * verified: an attempt takes up room from before it is verified until its outcome is known.
 */
@Injectable()
export class FailureLimiter {
  private readonly logger = new Logger('Auth');

  constructor(private readonly store: SecurityStore) {}

  /**
   * Runs `verify` where every limit has room. Null, or a throw that is an answer, counts as a failure; anything
   * else empties the counters.
   *
   * @param refuse makes the error of an exhausted limit, given the wait in whole seconds
   * @param onSuccess what a success does to the counters, where it is not to empty them
   */
  async attempt<T>(
    limits: readonly Limit[],
    verify: () => Promise<T | null>,
    refuse: (seconds: number) => Error,
    onSuccess: AttemptOutcome = 'succeeded',
  ): Promise<T | null> {
    if (!limits.length) return verify();
    const tally = await this.reserve(limits);
    if (!tally.admitted) throw refuse(isExhausted(limits, tally) ? limitState(limits, tally).retryAfter : 1);
    let attemptOutcome: AttemptOutcome = 'undone';
    try {
      const verified = await verify();
      attemptOutcome = verified === null ? 'failed' : onSuccess;
      return verified;
    } catch (error) {
      if (!isInconclusive(error)) attemptOutcome = 'failed';
      throw error;
    } finally {
      await this.settle(limits, attemptOutcome);
    }
  }

  private async settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    try {
      await this.store.settle(limits, attemptOutcome);
    } catch (error) {
      // A failure must be counted. What succeeded has happened, and is not undone by counters that stay.
      if (attemptOutcome === 'failed') throw error;
      this.logger.warn(`failed attempts stay counted: ${(error as Error).message}`);
    }
  }

  /** Attempts that may yet succeed are no reason to refuse another one: it waits until they have failed. */
  private async reserve(limits: readonly Limit[]): Promise<Tally> {
    const deadline = performance.now() + PATIENCE.total;
    for (;;) {
      // However often it asks: it waits for other attempts, and not for the store.
      const tally = await RequestScope.detached(() => this.store.count(limits, true));
      if (tally.admitted || isExhausted(limits, tally) || performance.now() >= deadline) return tally;
      await sleep(PATIENCE.step);
    }
  }
}

/** Whether failures alone fill a limit, whatever becomes of those still running. */
const isExhausted = (limits: readonly Limit[], { buckets }: Tally): boolean =>
  limits.some(({ max }, i) => buckets[i]!.counted >= max);

/** What failed attempts of this realm are counted under. */
@Injectable()
export class FailureLimits {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {}

  /**
   * Failed logins: by account and client, and by account alone, or every machine of a botnet had an
   * allowance of its own. Without an identifier there is no account: all such callers would share one counter.
   */
  ofLogin(identifier: string, request: object): Limit[] {
    const { guard, options } = this.realm;
    const { maxAttempts, accountMaxAttempts, decaySeconds } = options.rateLimits.login;
    const account = normalizedIdentifier(identifier);
    const byClient = { key: `${guard}|${account}|${this.clients.addressOf(request)}`, maxAttempts, decaySeconds };
    const byAccount = { key: `acct|${guard}|${account}`, maxAttempts: accountMaxAttempts, decaySeconds };
    return [limit('login-failures', byClient), ...(account ? [limit('account-failures', byAccount)] : [])];
  }

  /**
   * Whether a success with this identifier empties the counters. Look-alikes share them, so one that is not
   * in the form they are kept under clears nobody's: its owner could be guessing at another one's account.
   */
  clearedBy(identifier: string): boolean {
    return foldedIdentifier(identifier) === normalizedIdentifier(identifier);
  }

  /** Failed second factors of one account. */
  ofTwoFactor(userId: string): Limit[] {
    const { guard, options } = this.realm;
    return [limit('2fa-challenge', { key: `${guard}:${userId}`, ...options.rateLimits.twoFactor })];
  }
}

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
