import { setTimeout as sleep } from 'node:timers/promises';
import { isMissingTable } from './database';

/** How many times as long as a page took a sweep rests after it, so that requests beside it have room. */
const REST = 2;

/** What one page of a sweep did. */
export interface SweptPage<Place> {
  /** Rows that the page removed. */
  readonly removed: number;
  /** Where the next page begins; null after the last one. */
  readonly next: Place | null;
}

/**
 * Runs `page` from `first` on until there is no next page. A table that does not exist has no rows to remove.
 *
 * @param isAbsent whether an error means that there is nothing to sweep
 * @returns how many rows were removed
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
      if (from !== null) await sleep(REST * (performance.now() - start));
    }
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return removed;
}

/** Runs jobs one after the other, in the order in which they come. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.last.then(job);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** Computes a value at its first use and keeps it. */
export function once<T>(compute: () => T): () => T {
  let kept: { value: T } | undefined;
  return () => (kept ??= { value: compute() }).value;
}
