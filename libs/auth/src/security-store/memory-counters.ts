import type { Clock } from '../kernel/clock';
import type { Bucket, Limit, Outcome, Tally } from './security-store';

interface Counter {
  counted: number;
  pending: number;
  endsAt: number;
  blocked: boolean;
}

/** Counters of attempts in this process. Every operation is synchronous and has one now, and is therefore atomic. */
export class MemoryCounters {
  private readonly counters = new Map<string, Counter>();

  constructor(private readonly clock: Clock) {}

  count(limits: readonly Limit[], pending: boolean): Tally {
    const now = this.clock.now();
    const full = limits.filter((limit) => this.isFull(limit, now));
    for (const limit of full) this.block(limit, now);
    if (!full.length) for (const limit of limits) this.opened(limit, now)[pending ? 'pending' : 'counted']++;
    return { admitted: !full.length, buckets: limits.map(({ key }) => this.bucket(key, now)) };
  }

  settle(limits: readonly Limit[], outcome: Outcome): void {
    const now = this.clock.now();
    for (const limit of limits) {
      if (outcome === 'failed') this.opened(limit, now).counted++;
      const counter = this.live(limit.key, now);
      if (!counter) continue;
      counter.pending = Math.max(0, counter.pending - 1);
      if (outcome === 'succeeded') counter.counted = 0;
      if (counter.counted + counter.pending === 0) this.counters.delete(limit.key);
    }
  }

  /** Drops windows that are over. */
  sweep(): void {
    const now = this.clock.now();
    for (const key of this.counters.keys()) if (!this.live(key, now)) this.counters.delete(key);
  }

  private isFull({ key, max }: Limit, now: number): boolean {
    const { counted = 0, pending = 0 } = this.live(key, now) ?? {};
    return counted + pending >= max;
  }

  private block({ key, blockSeconds = 0 }: Limit, now: number): void {
    const counter = this.live(key, now);
    if (!counter || counter.blocked || blockSeconds <= 0) return;
    counter.blocked = true;
    counter.endsAt = now + blockSeconds * 1000;
  }

  private opened({ key, seconds }: Limit, now: number): Counter {
    const fresh = { counted: 0, pending: 0, endsAt: now + seconds * 1000, blocked: false };
    const counter = this.live(key, now) ?? fresh;
    this.counters.set(key, counter);
    return counter;
  }

  private live(key: string, now: number): Counter | undefined {
    const counter = this.counters.get(key);
    return counter && counter.endsAt > now ? counter : undefined;
  }

  private bucket(key: string, now: number): Bucket {
    const { counted = 0, pending = 0, endsAt = now } = this.live(key, now) ?? {};
    return { counted, pending, secondsLeft: (endsAt - now) / 1000 };
  }
}
