import { Injectable, Logger } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AuthException, StoreUnavailable } from './errors';
import { isConflict } from './pg-errors';

/** Minimum of each wait in milliseconds: enough for a healthy store after another store has not answered. */
const MIN_WAIT_MS = 50;

/**
 * The waits of one request may take this many times `storeTimeoutMs` together. `docs/deployment.md` has the round
 * trips of each flow; with this, all of them work with stores that are 100 ms away.
 */
export const REQUEST_TIMEOUTS = 4;

/**
 * Limits the time that one request waits for stores: each wait, and all waits together. Concurrent waits count once. After a
 * wait without an answer, the request waits for no store any more: it is answered 503 after one timeout of a dead store.
 */
export class RequestDeadline {
  private spent = 0;
  private waits = 0;
  private since = 0;

  /** The number of waits that ended without an answer. */
  unanswered = 0;

  /**
   * Milliseconds that a wait that begins now may last.
   *
   * @param ms limit of this wait
   */
  left(ms: number): number {
    const spent = this.spent + (this.waits ? performance.now() - this.since : 0);
    return Math.max(MIN_WAIT_MS, Math.min(ms, REQUEST_TIMEOUTS * ms - spent));
  }

  /** Starts a wait. @returns milliseconds that it may last; at most `ms` */
  begin(ms: number): number {
    const left = this.left(ms);
    if (this.waits++ === 0) this.since = performance.now();
    return left;
  }

  /** Ends a wait. */
  end(isAnswered = true): void {
    if (--this.waits === 0) this.spent += performance.now() - this.since;
    if (isAnswered) return;
    this.unanswered++;
    this.spent = Infinity;
  }
}

/** The part of a transaction of the host in which calls of the library run: see `HostTransaction`. */
export interface OuterTransaction {
  /** The sessions that calls in the transaction have started. */
  readonly started: string[];
  /** Makes a call as a part of it, after the calls that were made before. An error undoes it. @throws AuthConfigError after its end */
  call<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` after the commit, outside the transaction; never if the call is rolled back. It is repeated while a store is
   * unavailable. What must follow a statement is given before it: a COMMIT that the host sends during the call ends the call.
   *
   * @param what completes "… failed" in the log
   * @param work receives a moment after the commit, as `performance.now()` returns it
   * @param isUndo whether it runs if the call is rolled back, instead of after the commit
   */
  after(what: string, work: (committedAt: number) => Promise<unknown>, isUndo?: boolean): Promise<void>;
}

/** What surrounds work of the library. */
interface Surroundings {
  readonly scope?: RequestScope;
  readonly transaction?: OuterTransaction;
}

const storage = new AsyncLocalStorage<Surroundings | undefined>();
const SCOPE = Symbol('svc.scope');
let running = 0;

/** Holds the state of one request to a route of the library during all its asynchronous work. */
export class RequestScope {
  /** Keys for a fair share of the hash queue: the client, then the account in the request. Computed on demand. */
  fairShareKeys: () => readonly string[] = () => [];
  private readonly requestDeadline = new RequestDeadline();
  private isAnswered = false;

  private constructor(readonly request: object) {}

  static of(request: object & { [SCOPE]?: RequestScope }): RequestScope {
    return (request[SCOPE] ??= new RequestScope(request));
  }

  /** The scope of the current request; undefined outside a request. */
  static get current(): RequestScope | undefined {
    return storage.getStore()?.scope;
  }

  /** Runs `work` outside the request, whose deadline does not apply to it, and outside a transaction of the host. */
  static detached<T>(work: () => T): T {
    return storage.getStore() ? storage.run(undefined, work) : work();
  }

  /** Runs `work`, and everything that it starts, in the scope of this request. */
  run<T>(work: () => Promise<T> | T): Promise<T> {
    return surrounded({ ...storage.getStore(), scope: this }, work);
  }

  /**
   * Runs work outside the scope, as one wait of its deadline: only work that calls no code of the host, and whose waits have
   * timeouts of their own. Before Node 24, {@link run} slows down every promise of the process, by 30 µs for a refresh.
   */
  beside<T>(work: () => Promise<T>): Promise<T> {
    const { deadline } = this;
    const result = work();
    deadline?.begin(Infinity);
    const end = (): void => deadline?.end();
    result.then(end, end);
    return result;
  }

  /** Marks the request as answered. Work that continues after the response has no deadline. */
  end(): void {
    this.isAnswered = true;
  }

  /** The deadline of the request; undefined after the response. */
  get deadline(): RequestDeadline | undefined {
    return this.isAnswered ? undefined : this.requestDeadline;
  }
}

function surrounded<T>(by: Surroundings, work: () => Promise<T> | T): Promise<T> {
  running++;
  return storage.run(by, async () => work()).finally(leave);
}

function leave(): void {
  // Before Node 24 an enabled storage slows down every promise of the process, also in guarded requests.
  if (--running === 0) storage.disable();
}

/** Milliseconds after the end of a transaction of the host in which a call that was not awaited is still known as one of it. */
const KNOWN_MS = 1000;

/**
 * Keeps the surroundings of work that has left them, so that it does not go on outside the transaction.
 *
 * @returns to call after the end of the transaction
 */
export function keepSurroundings(): () => void {
  running++;
  return () => void setTimeout(leave, KNOWN_MS).unref();
}

/** The transaction of the host in which the current call runs; undefined outside one. */
export const outerTransaction = (): OuterTransaction | undefined => storage.getStore()?.transaction;

/** Makes a call, in a transaction of the host as a part of it. */
export const asPart = <T>(call: () => Promise<T>): Promise<T> => outerTransaction()?.call(call) ?? call();

/** Runs `work`, in a transaction of the host after its commit: see {@link OuterTransaction.after}. */
export async function afterCommit(what: string, work: () => void): Promise<void> {
  const outer = outerTransaction();
  if (outer) await outer.after(what, async () => work());
  else work();
}

/** Runs `work` in a part of a transaction of the host, in the deadline of the current request. */
export const runWithin = <T>(transaction: OuterTransaction, work: () => Promise<T>): Promise<T> =>
  surrounded({ ...storage.getStore(), transaction }, work);

const NETWORK = /^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|EHOST|ENET|EADDRNOTAVAIL)/;
// SQLSTATE classes 08 (connection; PgBouncer gives 08P01 to its own errors), 53 (resources), 57P (operator intervention),
// 58 (system), 25006 (read-only), 25P03 and 25P04 (transaction timeout), 55000 (the database accepts no connections),
// 40001, 40003, 40P01, 55P03 and 57014 (serialization failure, unknown result, deadlock, lock not available, statement
// cancelled: the client may retry).
const SQLSTATE = /^(08|53|57P|58|25006|25P0[34]|55000|4000[13]|40P01|55P03|57014)/;
// Errors of node-postgres, its pool and TypeORM, which have no code.
const PG_POOL =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|Query read timeout|error establishing an SSL connection|a pool after calling end|[Qq]uery runner (was )?already released|Driver not Connected/;

// Errors of Prisma, which has its own codes: server not reached (P1001, P1002), timeout (P1008, P2024), connection closed
// (P1017), conflict or deadlock (P2034), too many connections (P2037).
const PRISMA = /^P(1001|1002|1008|1017|2024|2034|2037)$/;

// The same for a raw query of Prisma, whose own code is always P2010: kinds of its driver adapters.
const PRISMA_KIND =
  /^(DatabaseNotReachable|ConnectionClosed|SocketTimeout|TlsConnectionError|TooManyConnections|TransactionWriteConflict)$/;

/** Whether an error means that a store was not available. False for an error that is the answer of a store. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const { name, code, kind, message, driverError, meta, query, cause } = (error ?? {}) as Record<string, unknown> &
    Error;
  const named =
    (typeof code === 'string' && (NETWORK.test(code) || SQLSTATE.test(code) || PRISMA.test(code))) ||
    (typeof kind === 'string' && PRISMA_KIND.test(kind));
  // The error of the driver is the cause of one with the query in Drizzle, and of this one in Prisma. The cause of another
  // error can be that of another service.
  const ofDriver = driverError ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError;
  const inner = ofDriver ?? (query !== undefined || name === 'DriverAdapterError' ? cause : undefined);
  return named || PG_POOL.test(message ?? '') || (inner !== undefined && isUnavailable(inner));
}

/**
 * Whether a check failed without a result: a store or a queue was not available (503). Every other failure is a
 * result, for example an exception of host code that refuses the request.
 */
export const isInconclusive = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof AuthException && error.isInconclusive);

/**
 * Waits at most `ms` milliseconds for a store, and less if the request has waited for long: see {@link RequestDeadline}. Rejects
 * with {@link StoreUnavailable} after a timeout or a connection error. Every other error is passed on unchanged.
 */
export function withTimeout<T>(store: string, ms: number, work: Promise<T>): Promise<T> {
  const deadline = currentDeadline();
  const left = deadline?.begin(ms) ?? ms;
  // Every guarded request runs this code, and `Promise.race` is several times slower.
  return new Promise((resolve, reject) => {
    let isOver = false;
    const timedOut = (): boolean | void => end(false) && reject(new StoreUnavailable(store));
    // After a blocked event loop, replies that have already arrived are read first.
    const timer = setTimeout(() => setImmediate(timedOut), left);
    const end = (isAnswered = true): boolean => {
      if (isOver) return false;
      clearTimeout(timer);
      deadline?.end(isAnswered);
      return (isOver = true);
    };
    const failed = (error: unknown): unknown =>
      error instanceof StoreUnavailable || !isUnavailable(error) ? error : new StoreUnavailable(store, error);
    // An implementation of the host may return a plain value.
    Promise.resolve(work).then(
      (value) => end() && resolve(value),
      (error: unknown) => end() && reject(failed(error)),
    );
  });
}

/**
 * Waits for work that has its own time limit of `ms`, and less if the request has already waited. Without a request there
 * is no timer: two of them cost a guarded request 0.6 µs on Node 24, more than its checks of the claims.
 */
export const withinDeadline = <T>(store: string, ms: number, work: Promise<T>): Promise<T> =>
  currentDeadline() ? withTimeout(store, ms, work) : work;

/** Time limit in milliseconds of a call of the host's code: a hook, a listener that is awaited, a password verifier. */
export const HOST_TIMEOUT_MS = 30_000;

/**
 * Calls code of the host, and waits at most {@link HOST_TIMEOUT_MS} for its result. The wait does not count for the
 * deadline of the stores. A later result or error of the code has no effect.
 *
 * @param name names the code in the log
 * @throws StoreUnavailable if the code has not settled in time; every error of the code
 */
export function callHost<T>(name: string, call: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreUnavailable(name)), HOST_TIMEOUT_MS);
    // The `async` function turns a synchronous exception into a rejection.
    (async () => call())()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** The deadline of the current request; undefined outside a request or after its response. */
export const currentDeadline = (): RequestDeadline | undefined => RequestScope.current?.deadline;

/**
 * Work that requests have started and do not wait for: mails, listeners of events, lines of the security log, and what completes
 * or undoes a change after the response. A process that is frozen or ends loses it.
 */
@Injectable()
export class BackgroundWork {
  /** Work of the library that belongs to no application of the process: see `bestEffort`. */
  static readonly ofProcess = new BackgroundWork();

  private readonly running = new Set<Promise<unknown>>();

  /** Counts work until it has ended. The caller handles its errors. */
  add(work: Promise<unknown>): void {
    const forget = (): boolean => this.running.delete(ended);
    const ended: Promise<boolean> = work.then(forget, forget);
    this.running.add(ended);
  }

  /**
   * Waits until no work is left, also none that the work has started. Never rejects.
   *
   * @param ms longest wait in milliseconds
   * @returns whether no work is left
   */
  async settled(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, true)));
    try {
      for (;;) {
        // What follows a response in the same turn starts first.
        await nextTurn();
        const left = [...this.running, ...BackgroundWork.ofProcess.running];
        if (left.length === 0) return true;
        if (await Promise.race([timeout, Promise.all(left).then(() => false)])) return false;
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Longest pause before the first repetition after a conflict, and before each later one, in milliseconds. */
const [FIRST_CONFLICT_MS, LAST_CONFLICT_MS] = [5, 80];

/**
 * Repeats an attempt that PostgreSQL has rolled back because of a conflict, with growing random pauses, within `ms` less
 * the time that the request has already waited. Every other error is passed on.
 *
 * @param attempt has no effect outside the database that must not be repeated, and runs no code of the host
 */
export async function repeatOnConflict<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + (currentDeadline()?.left(ms) ?? ms);
  for (let pause = FIRST_CONFLICT_MS; ; pause = Math.min(2 * pause, LAST_CONFLICT_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || performance.now() >= end) throw error;
    }
    // A pause counts as a wait for the store.
    await withTimeout('PostgreSQL', ms, sleep(Math.random() * pause));
  }
}

/** Milliseconds. The client receives the 503 within one second, and the store timeout uses most of it. */
const BEST_EFFORT_WAIT_MS = 150;

/** The pause before the first repetition in milliseconds. Each further one is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 50;
export const LONGEST_PAUSE_MS = 1000;

/** How often work is tried again while a store is unavailable: with the pauses, for about half a minute. */
export const REPETITIONS = 30;

/**
 * Repeats work outside the deadline of the request while a store is unavailable, with growing pauses. So each attempt has the
 * whole timeout of each store.
 *
 * @param work can be repeated: an attempt without an answer may have taken effect
 * @throws the last error
 */
export async function repeatWhileUnavailable<T>(work: () => Promise<T>, repetitions = REPETITIONS): Promise<T> {
  let pause = FIRST_PAUSE_MS;
  for (let left = repetitions; ; left--) {
    try {
      return await RequestScope.detached(work);
    } catch (error) {
      if (left <= 0 || !isInconclusive(error) || isClosed(error)) throw error;
    }
    await sleep(pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }
}

/** Whether the application has closed its connections, so that a repetition cannot succeed. */
const isClosed = (error: unknown): boolean => {
  const { message, cause } = (error ?? {}) as Error;
  return (
    /a pool after calling end|Driver not Connected|The client is closed/i.test(message ?? '') ||
    (cause !== undefined && isClosed(cause))
  );
};

/**
 * Undoes a change after a failure, or completes a request after its commit. The work has its own deadline and is repeated, as
 * {@link repeatWhileUnavailable} does. The caller waits a short time for it; longer work continues after the response. A last
 * error is logged.
 *
 * An undo of what a client can see is not repeated: it would change the state after the client has seen it.
 *
 * @param what completes "… failed" in the log
 */
export async function bestEffort(what: string, work: () => Promise<unknown>, repetitions = REPETITIONS): Promise<void> {
  const done = repeatWhileUnavailable(work, repetitions).catch((error: unknown) =>
    new Logger('Auth').error(`${what} failed: ${(error as Error)?.message}`),
  );
  BackgroundWork.ofProcess.add(done);
  await Promise.race([done, sleep(BEST_EFFORT_WAIT_MS, undefined, { ref: false })]);
}

/** For `catch`: the value for an expected error, such as that of a missing table. Rethrows any other error. */
export const valueIf =
  <T>(isExpected: (error: unknown) => boolean, value: T) =>
  (error: unknown): T => {
    if (isExpected(error)) return value;
    throw error;
  };
