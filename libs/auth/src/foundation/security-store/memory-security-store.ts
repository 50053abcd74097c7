import type { Clock } from '../platform/clock';
import { type Bucket, type Limit, type AttemptOutcome, SecurityStore, type Tally } from './security-store';

interface Counter {
  counted: number;
  pending: number;
  endsAt: number;
  blocked: boolean;
}

const SWEEP_EVERY = 1000;

/**
 * Stores the state in the memory of this process. For development only: processes do not share it. Every operation is
 * synchronous and therefore atomic.
 */
export class MemorySecurityStore extends SecurityStore {
  readonly shared = false;
  private readonly entries = new Map<string, { value: string; expiresAt: number }>();
  private readonly counters = new Map<string, Counter>();
  private writes = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    yield [...this.entries.keys()].filter((key) => key.startsWith(prefix) && this.live(key) !== null);
  }

  async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    return keys.map((key) => this.live(key));
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const expiresAt = this.clock.monotonic() + ttlSeconds * 1000;
    for (const key of keys) this.entries.set(key, { value, expiresAt });
    this.sweep();
  }

  async add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    if (this.live(key) !== null) return false;
    await this.setMany([key], value, ttlSeconds);
    return true;
  }

  async take(key: string): Promise<string | null> {
    const value = this.live(key);
    this.entries.delete(key);
    return value;
  }

  async advance(key: string, to: number, ttlSeconds: number): Promise<boolean> {
    const current = this.live(key);
    if (current !== null && Number(current) >= to) return false;
    await this.setMany([key], String(to), ttlSeconds);
    return true;
  }

  async count(limits: readonly Limit[], pending = false): Promise<Tally> {
    this.sweep();
    const now = this.clock.monotonic();
    const full = limits.filter((limit) => this.isFull(limit, now));
    for (const limit of full) this.block(limit, now);
    if (!full.length) for (const limit of limits) this.opened(limit, now)[pending ? 'pending' : 'counted']++;
    return { admitted: !full.length, buckets: limits.map(({ key }) => this.bucket(key, now)) };
  }

  async settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    const now = this.clock.monotonic();
    for (const limit of limits) {
      if (attemptOutcome === 'failed') this.opened(limit, now).counted++;
      const counter = this.counter(limit.key, now);
      if (!counter) continue;
      counter.pending = Math.max(0, counter.pending - 1);
      if (attemptOutcome === 'succeeded') counter.counted = 0;
      if (counter.counted + counter.pending === 0) this.counters.delete(limit.key);
    }
  }

  private live(key: string): string | null {
    const entry = this.entries.get(key);
    return entry && entry.expiresAt > this.clock.monotonic() ? entry.value : null;
  }

  /** Removes expired entries at every 1000th write, so that the maps do not grow without limit. */
  private sweep(): void {
    if (++this.writes % SWEEP_EVERY) return;
    for (const key of this.entries.keys()) if (this.live(key) === null) this.entries.delete(key);
    const now = this.clock.monotonic();
    for (const key of this.counters.keys()) if (!this.counter(key, now)) this.counters.delete(key);
  }

  private isFull({ key, max }: Limit, now: number): boolean {
    const { counted = 0, pending = 0 } = this.counter(key, now) ?? {};
    return counted + pending >= max;
  }

  private block({ key, blockSeconds = 0 }: Limit, now: number): void {
    const counter = this.counter(key, now);
    if (!counter || counter.blocked || blockSeconds <= 0) return;
    counter.blocked = true;
    counter.endsAt = now + blockSeconds * 1000;
  }

  private opened({ key, seconds }: Limit, now: number): Counter {
    const fresh = { counted: 0, pending: 0, endsAt: now + seconds * 1000, blocked: false };
    const counter = this.counter(key, now) ?? fresh;
    this.counters.set(key, counter);
    return counter;
  }

  private counter(key: string, now: number): Counter | undefined {
    const counter = this.counters.get(key);
    return counter && counter.endsAt > now ? counter : undefined;
  }

  private bucket(key: string, now: number): Bucket {
    const { counted = 0, pending = 0, endsAt = now } = this.counter(key, now) ?? {};
    return { counted, pending, secondsLeft: (endsAt - now) / 1000 };
  }
}
