import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUndecided } from '../kernel/unavailable';
import { type Limit, type Outcome, SecurityStore, type Tally } from '../security-store/security-store';
import { standing } from './rate-limit.policy';

/** How long an attempt waits for others to end before it is refused on their account. */
const PATIENCE = { tries: 40, ms: 25 };

/**
 * Limits failed attempts. Only failures count, yet however many run at once, no more than the limit are ever
 * verified: an attempt takes up room from before it is verified until its outcome is known.
 */
@Injectable()
export class FailureLimiter {
  constructor(private readonly store: SecurityStore) {}

  /**
   * Runs `verify` where every limit has room. Null, or a throw that is an answer, counts as a failure; anything
   * else empties the counters.
   *
   * @param refuse makes the error of an exhausted limit, given the wait in whole seconds
   */
  async attempt<T>(
    limits: readonly Limit[],
    verify: () => Promise<T | null>,
    refuse: (seconds: number) => Error,
  ): Promise<T | null> {
    const tally = await this.reserve(limits);
    if (!tally.admitted) throw refuse(standing(limits, tally).retryAfter);
    let outcome: Outcome = 'undone';
    try {
      const verified = await verify();
      outcome = verified === null ? 'failed' : 'succeeded';
      return verified;
    } catch (error) {
      if (!isUndecided(error)) outcome = 'failed';
      throw error;
    } finally {
      await this.store.settle(limits, outcome);
    }
  }

  /** Attempts that may yet succeed are no reason to refuse another one: it waits until they have failed. */
  private async reserve(limits: readonly Limit[]): Promise<Tally> {
    for (let tries = PATIENCE.tries; ; tries--) {
      const tally = await this.store.count(limits, true);
      const exhausted = limits.some(({ max }, i) => tally.buckets[i]!.counted >= max);
      if (tally.admitted || exhausted || tries === 0) return tally;
      await sleep(PATIENCE.ms);
    }
  }
}
