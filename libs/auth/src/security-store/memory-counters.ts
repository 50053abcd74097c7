import type { Clock } from '../kernel/clock';
import type { Bucket, Limit, Outcome, Tally } from './security-store';

interface Counter {
  counted: number;
  pending: number;
  endsAt: number;
  blocked: boolean;
}

/** Counters of attempts in this process. Every operation is synchronous, and therefore atomic. */
export class MemoryCounters {
  private readonly counters = new Map<string, Counter>();

  constructor(private readonly clock: Clock) {}

  count(limits: readonly Limit[], pending: boolean): Tally {
    const full = limits.filter((limit) => this.isFull(limit));
    for (const limit of full) this.block(limit);
    if (!full.length) for (const limit of limits) this.opened(limit)[pending ? 'pending' : 'counted']++;
    return { admitted: !full.length, buckets: limits.map(({ key }) => this.bucket(key)) };
  }

  settle(limits: readonly Limit[], outcome: Outcome): void {
    for (const limit of limits) {
      if (outcome === 'failed') this.opened(limit).counted++;
      const counter = this.live(limit.key);
      if (!counter) continue;
      counter.pending = Math.max(0, counter.pending - 1);
      if (outcome === 'succeeded') counter.counted = 0;
      if (counter.counted + counter.pending === 0) this.counters.delete(limit.key);
    }
  }

  /** Drops windows that are over. */
  sweep(): void {
    for (const key of this.counters.keys()) if (!this.live(key)) this.counters.delete(key);
  }

  private isFull({ key, max }: Limit): boolean {
    const { counted = 0, pending = 0 } = this.live(key) ?? {};
    return counted + pending >= max;
  }

  private block({ key, blockSeconds }: Limit): void {
    const counter = this.live(key);
    if (!counter || counter.blocked || blockSeconds === undefined) return;
    counter.blocked = true;
    counter.endsAt = this.clock.now() + blockSeconds * 1000;
  }

  private opened({ key, seconds }: Limit): Counter {
    const counter = this.live(key) ?? {
      counted: 0,
      pending: 0,
      endsAt: this.clock.now() + seconds * 1000,
      blocked: false,
    };
    this.counters.set(key, counter);
    return counter;
  }

  private live(key: string): Counter | undefined {
    const counter = this.counters.get(key);
    return counter && counter.endsAt > this.clock.now() ? counter : undefined;
  }

  private bucket(key: string): Bucket {
    const { counted = 0, pending = 0, endsAt = this.clock.now() } = this.live(key) ?? {};
    return { counted, pending, secondsLeft: (endsAt - this.clock.now()) / 1000 };
  }
}
