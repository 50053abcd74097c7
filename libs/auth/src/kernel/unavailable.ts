import { AuthException, StoreUnavailable } from './auth.exception';
import type { Patience } from './patience';
import { RequestScope } from './request-scope';

const NETWORK = /^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET)/;
// SQLSTATE classes 08 (connection), 53 (resources), 57P (operator intervention), 58 (system), 25006 (read-only),
// 25P03 and 25P04 (a transaction lasted too long), 55000 (the database takes no connections), 40001, 40P01, 55P03
// and 57014 (gave up waiting: try again).
const SQLSTATE = /^(08|53|57P|58|25006|25P0[34]|55000|40001|40P01|55P03|57014)/;
const PG_POOL =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout|[Qq]uery runner (was )?already released|Driver not Connected/;

/** Whether an error says that a store could not be asked, rather than what it answered. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { code, message, driverError } = (error ?? {}) as { code?: unknown; message?: string; driverError?: unknown };
  const named = typeof code === 'string' && (NETWORK.test(code) || SQLSTATE.test(code));
  return named || PG_POOL.test(message ?? '') || (driverError !== undefined && isUnavailable(driverError));
}

/**
 * Whether a failure says nothing about what was being checked: a store or a queue could not be asked, or
 * something else stood in the way. Any other, a refusal that host code throws among them, is an answer.
 */
export const isUndecided = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof AuthException && error.isUndecided);

/**
 * Waits at most `ms` for a store, less what the request has waited for stores already, and turns silence and
 * unreachability into {@link StoreUnavailable}. Every other error passes untouched.
 *
 * @param patience of the request, where the work for it does not run in its scope
 */
export function answered<T>(store: string, ms: number, work: Promise<T>, patience = patienceNow()): Promise<T> {
  const left = patience?.begin(ms) ?? ms;
  // Every guarded request waits here, and `Promise.race` costs several times as much.
  return new Promise((resolve, reject) => {
    let isOver = false;
    const silent = (): boolean | void => end() && reject(new StoreUnavailable(store));
    // A process that was busy itself reads first what has arrived meanwhile.
    const timer = setTimeout(() => setImmediate(silent), left);
    const end = (): boolean => {
      if (isOver) return false;
      clearTimeout(timer);
      patience?.end();
      return (isOver = true);
    };
    const failed = (error: unknown): unknown =>
      error instanceof StoreUnavailable || !isUnavailable(error) ? error : new StoreUnavailable(store, error);
    // A host's port may answer with no promise at all.
    Promise.resolve(work).then(
      (value) => end() && resolve(value),
      (error: unknown) => end() && reject(failed(error)),
    );
  });
}

/** Of the request that is worked on, if one is. */
export const patienceNow = (): Patience | undefined => RequestScope.current?.waiting;
