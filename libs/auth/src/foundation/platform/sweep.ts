import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database';
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

/** Number of rows that one step of the sweep reads. */
const PAGE = 250;
/** Less than the id of each row that is a UUID. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Rows with a UUID as `id`, a `guard` and a `user_id`, which is null for a row that belongs to no user. */
export interface OwnedRows {
  readonly table: string;
  readonly guards: readonly string[];
  /** SQL of whether a row `r` is deleted whatever its user is, and the value of its parameter `$3`. */
  readonly isOld?: { readonly sql: string; readonly value: unknown };
}

/**
 * Deletes the rows that are old, and those of users that do not exist any more, if `UserProvider.existingIds` can report it.
 * Resolves to the number of deleted rows; 0 when the table is missing.
 *
 * @throws StoreUnavailable if `UserProvider.existingIds` does not settle in time
 */
export function sweepOrphans(
  { query }: Database,
  users: { existingIds(ids: readonly string[]): Promise<ReadonlySet<string> | null> },
  { table, guards, isOld = { sql: '$3', value: false } }: OwnedRows,
): Promise<number> {
  const page = async (after: string): Promise<SweptPage<string>> => {
    const rows = await query<{ id: string; userId: string | null; isOld: boolean }>(
      `SELECT id, user_id AS "userId", (${isOld.sql}) IS TRUE AS "isOld"
         FROM ${table} r WHERE guard = ANY($1) AND id > $2::uuid ORDER BY id LIMIT ${PAGE}`,
      [guards, after, isOld.value],
    );
    const ids = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
    // A provider that never settles must not hold the lock of the pruning.
    const existing = ids.length ? await callHost('UserProvider.existingIds', () => users.existingIds(ids)) : null;
    const isGone = (userId: string | null): boolean => userId !== null && existing?.has(userId) === false;
    const deleted = await query(
      `DELETE FROM ${table} WHERE id IN (
         SELECT id FROM ${table} WHERE guard = ANY($1) AND id = ANY($2::uuid[]) FOR UPDATE SKIP LOCKED) RETURNING 1`,
      [guards, rows.filter((row) => row.isOld || isGone(row.userId)).map(({ id }) => id)],
    );
    return { removed: deleted.length, next: rows.at(-1)?.id ?? null };
  };
  return sweep(FIRST_ID, page, isMissing);
}

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
