import type { INestApplication } from '@nestjs/common';
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestScope as Scope } from '../../../libs/auth/src/foundation/platform/deadline';

/** The `storeTimeoutMs` of hosts and stores whose timeouts a test ends. Their timers are known by this length. */
export const HELD_MS = 59_000;

/** More than the time limit of code of the host. A wait has less than the whole timeout if the request has waited before. */
const SHORTEST_MS = 31_000;

/** Five waits for answers that take so long fit into the time of a request, which is four timeouts. A sixth does not. */
export const SLOW_ANSWER_MS = 45_000;

/** More than the other timers of a process, such as those of connections that are not used. */
const OTHERS_MS = 10_000;

/** Work that starts no timer during this time waits. An earlier end of its timeouts has the same result. */
const QUIET_MS = 100;

/** A request, or a call of a store, with its own time: the end of its timeouts does not change that of others. */
class Work {
  passedMs = 0;
  timers = 0;
  readonly waits = new Map<NodeJS.Timeout, () => void>();
  private readonly detached = new Set<Work>();
  private hasEnded = false;
  private hasSettled = false;

  constructor(
    readonly answerMs = 0,
    private readonly of?: Work,
  ) {}

  /** It, and what it has started that has a time of its own. */
  get parts(): Work[] {
    return [this, ...[...this.detached].flatMap((work) => work.parts)];
  }

  get isOver(): boolean {
    return this.hasSettled || this.of?.isOver === true;
  }

  settle(): void {
    this.hasSettled = true;
    this.of?.detached.delete(this);
  }

  /** What the library detaches from a request has the whole timeout of a store again. */
  detach<T>(run: () => T): T {
    const work = new Work(this.answerMs, this);
    this.detached.add(work);
    const result = current.run(work, run);
    const settle = (): void => work.settle();
    Promise.resolve(result).then(settle, settle);
    return result;
  }

  /** Ends its timeouts. @throws Error if they have ended before: there is one timeout for all waits together */
  end(): void {
    if (this.hasEnded) throw new Error('After its timeout, the work waits for a store again with another timeout');
    this.hasEnded = true;
    this.passedMs += HELD_MS;
    for (const call of this.waits.values()) call();
    this.waits.clear();
  }
}

const current = new AsyncLocalStorage<Work>();

type StartTimer = (call: () => void, ms?: number, ...args: unknown[]) => NodeJS.Timeout;

/** Holds back the timeouts of stores. Other timers run. Jest restores the functions after the test. */
function hold(): void {
  if (jest.isMockFunction(globalThis.setTimeout)) return;
  const start = globalThis.setTimeout as StartTimer;
  const clear = globalThis.clearTimeout;
  const now = performance.now.bind(performance);
  const held = new WeakMap<object, { work: Work; sinceMs: number }>();

  const startHeld: StartTimer = (call, ms = 0, ...args) => {
    const work = current.getStore();
    if (!work || work.isOver) return start(call, ms, ...args);
    work.timers++;
    if (ms < work.answerMs && ms > OTHERS_MS) {
      // At once, before the store can do what is asked.
      call();
      return start(() => undefined);
    }
    if (ms <= SHORTEST_MS || ms > HELD_MS) return start(call, ms, ...args);
    const timer = start(() => undefined, 2 ** 31 - 1);
    work.waits.set(timer, AsyncResource.bind(call));
    held.set(timer, { work, sinceMs: work.passedMs });
    // A timer for which the process does not wait is not one for which a request waits.
    timer.unref = () => {
      clear(timer);
      work.waits.delete(timer);
      return start(call, ms).unref();
    };
    return timer;
  };
  const clearHeld = (timer?: NodeJS.Timeout): void => {
    const { work, sinceMs } = (timer && held.get(timer)) ?? {};
    // Concurrent waits count once.
    if (work?.waits.delete(timer!)) work.passedMs = Math.max(work.passedMs, sinceMs! + work.answerMs);
    clear(timer);
  };
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(startHeld as never);
  jest.spyOn(globalThis, 'clearTimeout').mockImplementation(clearHeld as never);
  // Loaded here, because the hosts with the packed library have no sources of it.
  const { RequestScope } = require('../../../libs/auth/src/foundation/platform/deadline') as {
    RequestScope: typeof Scope;
  };
  const detached = RequestScope.detached.bind(RequestScope);
  const detach = <T>(run: () => T): T => detached(() => current.getStore()?.detach(run) ?? run());
  jest.spyOn(RequestScope, 'detached').mockImplementation(detach as never);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + (current.getStore()?.passedMs ?? 0));
}

/** Waits for a result, and ends the timeouts of everything that works for it and waits for nothing else. */
async function resultOf<T>(result: PromiseLike<T>, working: () => Iterable<Work>, mayEnd: () => boolean): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  result.then(end, end);
  const seen = new WeakMap<Work, number>();
  while (!over.signal.aborted) {
    await sleep(QUIET_MS);
    for (const work of [...working()].flatMap(({ parts }) => parts)) {
      const isQuiet = seen.get(work) === work.timers;
      seen.set(work, work.timers);
      if (isQuiet && work.waits.size && mayEnd()) work.end();
    }
  }
  return result;
}

/**
 * Calls stores, and ends the timeouts of the calls once when they wait. Without a timeout, a call of a store that does not
 * answer does not end, and neither does the test.
 */
export function whenTimedOut<T>(call: () => PromiseLike<T>): Promise<T> {
  hold();
  const work = new Work();
  return resultOf(
    current.run(work, () => call().then((value) => value)),
    () => [work],
    () => true,
  );
}

/** The timeouts of the requests to a host whose `storeTimeoutMs` is {@link HELD_MS}. */
export class StoreTimeouts {
  /** How long a store takes for each answer, in the time of the request. */
  answerMs = 0;
  private readonly requests = new Set<Work>();
  private static readonly known = new WeakMap<Server, StoreTimeouts>();

  static of(app: INestApplication): StoreTimeouts {
    const server: Server = app.getHttpServer();
    if (!this.known.has(server)) this.known.set(server, new StoreTimeouts(server));
    return this.known.get(server)!;
  }

  private constructor(server: Server) {
    server.prependListener('request', (_request, response: ServerResponse) => {
      const work = new Work(this.answerMs);
      this.requests.add(work);
      response.once('finish', () => {
        work.settle();
        this.requests.delete(work);
      });
      current.enterWith(work);
    });
  }

  /**
   * Sends requests, and ends the timeout of each of them once when it waits. Without a timeout, a request to a store that
   * does not answer does not end, and neither does the test.
   *
   * @param mayEnd whether the store does not answer any more
   * @throws Error if a request waits for a store again with another timeout
   */
  during<T>(send: () => PromiseLike<T>, mayEnd = (): boolean => true): Promise<T> {
    hold();
    return resultOf(send(), () => this.requests, mayEnd);
  }
}
