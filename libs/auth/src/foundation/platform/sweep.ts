import { setTimeout as sleep } from 'node:timers/promises';
import { isMissingTable } from './database';

/** The pause after a page, as a multiple of the duration of the page. It leaves capacity for requests. */
const REST = 2;

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
      if (from !== null) await sleep(REST * (performance.now() - start), undefined, { ref: false });
    }
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return removed;
}

/** A limited number of places for concurrent work. Free places are given in the order of the calls. */
export class Places {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param maxWaitMs longest wait for a free place, in milliseconds
   * @param busy makes the error after this wait
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
    return () => {
      const next = this.waiting.shift();
      if (next) next();
      else this.taken--;
    };
  }

  private next(): Promise<void> {
    return new Promise((resolve, reject) => {
      const proceed = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(proceed), 1);
        reject(this.busy());
      }, this.maxWaitMs);
      this.waiting.push(proceed);
    });
  }
}

/** Returns a function that computes a value at the first call and returns the same value at later calls. */
export function once<T>(compute: () => T): () => T {
  let kept: { value: T } | undefined;
  return () => (kept ??= { value: compute() }).value;
}
