import { setTimeout as sleep } from 'node:timers/promises';
import { callHost } from './deadline';
import { isMissing, isMissingTable } from './pg-errors';

/** The pause after a page, as a multiple of the duration of the page. It leaves capacity for requests. */
export const SWEEP_REST = 2;

/** The result of one page of a sweep. */
export interface SweptPage<Place> {
  /** Number of rows that the page removed. */
  readonly removed: number;
  /** Start of the next page; null after the last page. */
  readonly next: Place | null;
}

/**
 * Runs `page` repeatedly, from `first` until there is no next page. A missing table counts as an empty table.
 *
 * @param isAbsent whether an error means that there is nothing to sweep
 * @returns the number of removed rows
 */
export async function sweep<Place>(
  first: Place,
  page: (from: Place) => Promise<SweptPage<Place>>,
  isAbsent: (error: unknown) => boolean = isMissingTable,
): Promise<number> {
  let removed = 0;
  try {
    for (let from: Place | null = first; from !== null;) {
      const start = performance.now();
      const swept: SweptPage<Place> = await page(from);
      removed += swept.removed;
      from = swept.next;
      if (from !== null) await sleep(SWEEP_REST * (performance.now() - start), undefined, { ref: false });
    }
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return removed;
}

/** A row of a user, or of nobody. */
export interface OwnedRow {
  readonly id: string;
  readonly userId: string | null;
  /** Whether it is removed in any case. */
  readonly isOld?: boolean;
}

/** Less than the id of each row that is a UUID. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Removes the rows that are old, and those whose user does not exist any more.
 *
 * @param page reads the rows after an id, by their id. They are the last ones if there are none
 * @param existingIds null if it cannot be reported who exists
 * @param remove removes rows by their ids, and returns one for each
 */
export const sweepOwned = (
  page: (after: string) => Promise<OwnedRow[]>,
  existingIds: (ids: string[]) => Promise<ReadonlySet<string> | null>,
  remove: (ids: string[]) => Promise<unknown[]>,
): Promise<number> =>
  sweep(
    FIRST_ID,
    async (after) => {
      const rows = await page(after);
      const ids = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
      // A provider that never settles must not hold the lock of the pruning.
      const existing = ids.length ? await callHost('UserProvider.existingIds', () => existingIds(ids)) : null;
      const isGone = (userId: string | null): boolean => userId !== null && existing !== null && !existing.has(userId);
      const gone = rows.filter(({ userId, isOld }) => isOld || isGone(userId));
      const removed = await remove(gone.map(({ id }) => id));
      return { removed: removed.length, next: rows.at(-1)?.id ?? null };
    },
    isMissing,
  );

/** Number of calls that may wait for a place. Each is a request that the process holds. */
const LINE_MAX = 100;

/** A limited number of places for concurrent work. Free places are given in the order of the calls. */
export class Places {
  private taken = 0;
  private readonly waiting = new Set<() => void>();
  /** Work that has had a place. It is given one before all that is {@link waiting}. */
  private readonly returning = new Set<() => void>();

  /**
   * @param maxWaitMs longest wait for a free place, in milliseconds
   * @param busy makes the error after this wait, or at once if {@link LINE_MAX} calls wait
   */
  constructor(
    private readonly count: number,
    private readonly maxWaitMs: number,
    private readonly busy: () => Error,
  ) {}

  /** Takes a place. @returns the function that gives it back. @throws the error of `busy` */
  async take(): Promise<() => void> {
    if (this.taken < this.count) this.taken++;
    else await this.next();
    return () => this.giveBack();
  }

  /** Takes a place again, after the work has given its own back. Waits without a limit. @returns as {@link take} */
  async takeAgain(): Promise<() => void> {
    if (this.taken < this.count) this.taken++;
    else await new Promise<void>((resolve) => this.returning.add(resolve));
    return () => this.giveBack();
  }

  private giveBack(): void {
    for (const line of [this.returning, this.waiting]) {
      const [next] = line;
      if (!next) continue;
      line.delete(next);
      return next();
    }
    this.taken--;
  }

  private next(): Promise<void> {
    if (this.waiting.size >= LINE_MAX) throw this.busy();
    return new Promise((resolve, reject) => {
      const proceed = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(proceed);
        reject(this.busy());
      }, this.maxWaitMs);
      this.waiting.add(proceed);
    });
  }
}

/** Returns a function that computes a value at the first call and returns the same value at later calls. */
export function once<T>(compute: () => T): () => T {
  let kept: { value: T } | undefined;
  return () => (kept ??= { value: compute() }).value;
}
