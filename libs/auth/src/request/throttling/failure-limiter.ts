import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestScope, isInconclusive } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import {
  type Limit,
  type AttemptOutcome,
  SecurityStore,
  type Tally,
} from '../../foundation/security-store/security-store';
import { foldedIdentifier, normalizedIdentifier } from '../../identity/users/identifiers';
import { Clients } from './clients';
import { limit } from './limiters';
import { limitState } from './rate-limit.policy';

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
