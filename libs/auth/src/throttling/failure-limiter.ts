import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestScope } from '../kernel/request-scope';
import { isUndecided } from '../kernel/unavailable';
import { type Limit, type Outcome, SecurityStore, type Tally } from '../security-store/security-store';
import { standing } from './rate-limit.policy';

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
    onSuccess: Outcome = 'succeeded',
  ): Promise<T | null> {
    const tally = await this.reserve(limits);
    if (!tally.admitted) throw refuse(isExhausted(limits, tally) ? standing(limits, tally).retryAfter : 1);
    let outcome: Outcome = 'undone';
    try {
      const verified = await verify();
      outcome = verified === null ? 'failed' : onSuccess;
      return verified;
    } catch (error) {
      if (!isUndecided(error)) outcome = 'failed';
      throw error;
    } finally {
      await this.settle(limits, outcome);
    }
  }

  private async settle(limits: readonly Limit[], outcome: Outcome): Promise<void> {
    try {
      await this.store.settle(limits, outcome);
    } catch (error) {
      // A failure must be counted. What succeeded has happened, and is not undone by counters that stay.
      if (outcome === 'failed') throw error;
      this.logger.warn(`failed attempts stay counted: ${(error as Error).message}`);
    }
  }

  /** Attempts that may yet succeed are no reason to refuse another one: it waits until they have failed. */
  private async reserve(limits: readonly Limit[]): Promise<Tally> {
    const deadline = performance.now() + PATIENCE.total;
    for (;;) {
      // However often it asks: it waits for other attempts, and not for the store.
      const tally = await RequestScope.apart(() => this.store.count(limits, true));
      if (tally.admitted || isExhausted(limits, tally) || performance.now() >= deadline) return tally;
      await sleep(PATIENCE.step);
    }
  }
}

/** Whether failures alone fill a limit, whatever becomes of those still running. */
const isExhausted = (limits: readonly Limit[], { buckets }: Tally): boolean =>
  limits.some(({ max }, i) => buckets[i]!.counted >= max);
