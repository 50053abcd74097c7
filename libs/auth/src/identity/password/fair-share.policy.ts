/** Someone who waits for a hash. */
export interface FairShareEntry {
  /** Hashes had lately: by the client, then for the account it names. */
  readonly uses: readonly number[];
}

/** Negative where `a` has the better claim: the client that has had less, then the account that has. */
export function compared(a: FairShareEntry, b: FairShareEntry): number {
  const length = Math.max(a.uses.length, b.uses.length);
  for (let i = 0; i < length; i++) {
    const difference = (a.uses[i] ?? 0) - (b.uses[i] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

/** Who is next: the best claim, the first of equals. -1 where nobody waits. */
export const nextOf = (waiting: readonly FairShareEntry[]): number =>
  waiting.reduce((best, one, i) => (best < 0 || compared(one, waiting[best]!) < 0 ? i : best), -1);

/** Who gives way when one too many waits: the worst claim, the last of equals. */
export const lastOf = (waiting: readonly FairShareEntry[]): number =>
  waiting.reduce((worst, one, i) => (worst < 0 || compared(one, waiting[worst]!) >= 0 ? i : worst), -1);

const HALF_MS = 30_000;

/** Keys of one half. Beyond it the elder half is forgotten early: a flood of new keys must not fill the memory. */
const MOST_KEYS = 4096;

/** How often something was used within the last 30 to 60 seconds. Bounded in memory. */
export class RecentUse {
  private current = new Map<string, number>();
  private former = new Map<string, number>();
  private since: number;

  /** @param now milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.since = now();
  }

  of(key: string): number {
    return this.reading()(key);
  }

  /** Reads any number of keys at one time. */
  reading(): (key: string) => number {
    this.age();
    const { current, former } = this;
    return (key) => (current.get(key) ?? 0) + (former.get(key) ?? 0);
  }

  add(key: string): void {
    this.age();
    if (this.current.size >= MOST_KEYS && !this.current.has(key)) this.turn();
    this.current.set(key, (this.current.get(key) ?? 0) + 1);
  }

  private age(): void {
    const idle = this.now() - this.since;
    if (idle >= HALF_MS) this.turn();
    if (idle >= 2 * HALF_MS) this.turn();
  }

  private turn(): void {
    this.former = this.current;
    this.current = new Map();
    this.since = this.now();
  }
}
