/** A job that waits for a hash. */
export interface FairShareEntry {
  /** Recent hashes: of the client, then of the account in the request. */
  readonly uses: readonly number[];
}

/** Negative if `a` has priority: its client has fewer recent hashes, or with equal clients, its account has. */
export function compared(a: FairShareEntry, b: FairShareEntry): number {
  const length = Math.max(a.uses.length, b.uses.length);
  for (let i = 0; i < length; i++) {
    const difference = (a.uses[i] ?? 0) - (b.uses[i] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

/** Index of the job to run next: the highest priority, the first of equals. -1 if the list is empty. */
export const nextOf = (waiting: readonly FairShareEntry[]): number =>
  waiting.reduce((best, entry, i) => (best < 0 || compared(entry, waiting[best]!) < 0 ? i : best), -1);

/** Index of the job to refuse in a full queue: the lowest priority, the last of equals. -1 if the list is empty. */
export const lastOf = (waiting: readonly FairShareEntry[]): number =>
  waiting.reduce((worst, entry, i) => (worst < 0 || compared(entry, waiting[worst]!) >= 0 ? i : worst), -1);

const HALF_MS = 30_000;

/** Maximum number of keys per half. Above it the older half is dropped early, so that new keys cannot fill the memory. */
const MOST_KEYS = 4096;

/** Counts uses by key within the last 30 to 60 seconds, in bounded memory. */
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

  /** A function that returns the counts of keys at the current time. */
  reading(): (key: string) => number {
    this.age();
    const { current, former } = this;
    return (key) => (current.get(key) ?? 0) + (former.get(key) ?? 0);
  }

  add(key: string): void {
    this.age();
    if (this.current.size >= MOST_KEYS && !this.current.has(key)) this.rotate();
    this.current.set(key, (this.current.get(key) ?? 0) + 1);
  }

  private age(): void {
    const elapsed = this.now() - this.since;
    if (elapsed >= HALF_MS) this.rotate();
    if (elapsed >= 2 * HALF_MS) this.rotate();
  }

  private rotate(): void {
    this.former = this.current;
    this.current = new Map();
    this.since = this.now();
  }
}
