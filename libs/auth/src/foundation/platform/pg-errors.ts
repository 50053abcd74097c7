/** The parts of an error of node-postgres, of TypeORM around it, and of `StoreUnavailable` around either. */
interface SqlError {
  readonly code?: unknown;
  readonly message?: string;
  readonly driverError?: unknown;
  readonly cause?: unknown;
}

/** Whether the error, or one that it wraps, has a property. `depth` ends a cycle of causes. */
const someError = (error: unknown, has: (error: SqlError) => boolean, depth = 5): boolean => {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { driverError, cause } = error as SqlError;
  return has(error) || someError(driverError, has, depth - 1) || someError(cause, has, depth - 1);
};

/**
 * Whether PostgreSQL has rolled work back because of other work at the same time: a serialization failure (40001) or a
 * deadlock (40P01). Nothing of it is committed, and the same work can succeed at once.
 */
export const isConflict = (error: unknown): boolean =>
  someError(error, ({ code }) => code === '40001' || code === '40P01');

/** Whether a statement waited for a lock for longer than `lock_timeout` (SQLSTATE 55P03). */
export const isLockTimeout = (error: unknown): boolean => someError(error, ({ code }) => code === '55P03');

/** SQLSTATE 25006. After a failover, the address of a connection may belong to a server that is not the primary. */
export const isReadOnly = (error: unknown): boolean => someError(error, ({ code }) => code === '25006');

/** The error of PgBouncer to the first statement of a transaction. It has the SQLSTATE 08P01, as all its errors. */
export const isStatementPooling = (error: unknown): boolean =>
  someError(error, ({ message }) => /statement pooling/i.test(message ?? ''));

const STALE = new Set(['26000', '42P05', '0A000']);

/** Whether a connection pooler (26000, 42P05) or a migration (0A000) made a prepared statement invalid. */
export const isStale = (error: unknown): boolean => STALE.has((error as { code?: string } | null)?.code ?? '');

/** Whether a statement failed because a table does not exist: its migration has not run (SQLSTATE 42P01). */
export const isMissingTable = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42P01';

/** Whether a statement failed because a table or a column does not exist (SQLSTATE 42P01, 42703). */
export const isMissing = (error: unknown): boolean =>
  isMissingTable(error) || (error as { code?: unknown } | null)?.code === '42703';

/** Whether a column cannot contain a value: too long, or of another type (SQLSTATE class 22). TypeORM wraps the error of `pg`. */
export function isUnstorable(error: unknown): boolean {
  const { driverError, code } = (error ?? {}) as { driverError?: { code?: string }; code?: string };
  return (driverError?.code ?? code)?.startsWith('22') === true;
}

/** Whether a statement failed because a function does not exist (SQLSTATE 42883), as on an engine without standbys. */
export const isMissingFunction = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '42883';
