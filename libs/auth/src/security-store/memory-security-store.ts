import type { Clock } from '../kernel/clock';
import { MemoryCounters } from './memory-counters';
import { type Limit, type Outcome, SecurityStore, type Tally } from './security-store';

const SWEEP_EVERY = 1000;

/** Keeps the state in this process. For development only: another process knows nothing of it. */
export class MemorySecurityStore extends SecurityStore {
  readonly shared = false;
  private readonly entries = new Map<string, { value: string; expiresAt: number }>();
  private readonly counters: MemoryCounters;
  private writes = 0;

  constructor(private readonly clock: Clock) {
    super();
    this.counters = new MemoryCounters(clock);
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    yield [...this.entries.keys()].filter((key) => key.startsWith(prefix) && this.live(key) !== null);
  }

  async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    return keys.map((key) => this.live(key));
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    const expiresAt = this.clock.now() + ttlSeconds * 1000;
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
    return this.counters.count(limits, pending);
  }

  async settle(limits: readonly Limit[], outcome: Outcome): Promise<void> {
    this.counters.settle(limits, outcome);
  }

  private live(key: string): string | null {
    const entry = this.entries.get(key);
    return entry && entry.expiresAt > this.clock.now() ? entry.value : null;
  }

  /** Expired entries go now and then, so that the maps do not grow with the process's age. */
  private sweep(): void {
    if (++this.writes % SWEEP_EVERY) return;
    for (const key of this.entries.keys()) if (this.live(key) === null) this.entries.delete(key);
    this.counters.sweep();
  }
}
