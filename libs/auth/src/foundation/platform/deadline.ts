import { Logger } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthException, StoreUnavailable } from './errors';

/** Milliseconds that every wait is granted: enough for a store that is well, where another one used the patience up. */
const LEAST_MS = 50;

/**
 * How long one request waits for its stores, all waits together; those that run at once count once. Otherwise a
 * request that asks ten times would wait ten times as long as a store may keep silent.
 */
export class RequestDeadline {
  private spent = 0;
  private waits = 0;
  private since = 0;

  /** How long a wait that began now could last, of `ms` at most. */
  left(ms: number): number {
    return Math.max(LEAST_MS, ms - this.spent - (this.waits ? performance.now() - this.since : 0));
  }

  /** Starts a wait. @returns how long it may last, of `ms` at most */
  begin(ms: number): number {
    const left = this.left(ms);
    if (this.waits++ === 0) this.since = performance.now();
    return left;
  }

  end(): void {
    if (--this.waits === 0) this.spent += performance.now() - this.since;
  }
}

const storage = new AsyncLocalStorage<RequestScope | undefined>();
const SCOPE = Symbol('svc.scope');
let running = 0;

/** What belongs to one request to the library's routes, whatever is done for it. */
export class RequestScope {
  /** For whom something is hashed: the client, then the account it names. Asked for only then. */
  fairShareKeys: () => readonly string[] = () => [];
  private readonly requestDeadline = new RequestDeadline();
  private isAnswered = false;

  private constructor() {}

  static of(request: object & { [SCOPE]?: RequestScope }): RequestScope {
    return (request[SCOPE] ??= new RequestScope());
  }

  /** Of the request that is worked on, if one is. */
  static get current(): RequestScope | undefined {
    return storage.getStore();
  }

  /** Does `work` for no request: it waits for something else than a store, or has a bound of its own. */
  static detached<T>(work: () => T): T {
    return this.current ? storage.run(undefined, work) : work();
  }

  /** Does `work`, and all that it starts until it has ended, for this request. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await storage.run(this, work);
    } finally {
      // Before Node 24 a storage in use slows down every promise of the process, those of guarded requests too.
      if (--running === 0) storage.disable();
    }
  }

  /** What goes on behind the answer keeps nobody waiting. */
  end(): void {
    this.isAnswered = true;
  }

  /** How long the request waits for its stores; nothing where it is answered. */
  get deadline(): RequestDeadline | undefined {
    return this.isAnswered ? undefined : this.requestDeadline;
  }
}

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
export const isInconclusive = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof AuthException && error.isInconclusive);

/**
 * Waits at most `ms` for a store, less what the request has waited for stores already, and turns silence and
 * unreachability into {@link StoreUnavailable}. Every other error passes untouched.
 */
export function withTimeout<T>(store: string, ms: number, work: Promise<T>): Promise<T> {
  const deadline = currentDeadline();
  const left = deadline?.begin(ms) ?? ms;
  // Every guarded request waits here, and `Promise.race` costs several times as much.
  return new Promise((resolve, reject) => {
    let isOver = false;
    const silent = (): boolean | void => end() && reject(new StoreUnavailable(store));
    // A process that was busy itself reads first what has arrived meanwhile.
    const timer = setTimeout(() => setImmediate(silent), left);
    const end = (): boolean => {
      if (isOver) return false;
      clearTimeout(timer);
      deadline?.end();
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
export const currentDeadline = (): RequestDeadline | undefined => RequestScope.current?.deadline;

/** Milliseconds. A store that did not answer is told within a second, of which waiting for it took most. */
const PATIENCE_MS = 150;

/**
 * Waits a little for what puts things in order after a failure. Where it takes longer it goes on behind the answer;
 * where it fails, it is logged.
 *
 * @param what completes "… failed" in the log
 */
export async function bestEffort(what: string, work: Promise<unknown>): Promise<void> {
  const done = work.catch((error: unknown) => new Logger('Auth').error(`${what} failed: ${(error as Error)?.message}`));
  await Promise.race([done, sleep(PATIENCE_MS, undefined, { ref: false })]);
}
