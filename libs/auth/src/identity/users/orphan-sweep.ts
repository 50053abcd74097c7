import { callHost } from '../../foundation/platform/deadline';
import type { Database } from '../../foundation/platform/database';
import { isMissing } from '../../foundation/platform/pg-errors';
import { type SweptPage, sweep } from '../../foundation/platform/sweep';
import type { UserProvider } from '../../foundation/ports/user-provider';

/** Number of rows that one step of the sweep reads. */
const PAGE = 250;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

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
  users: UserProvider,
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
