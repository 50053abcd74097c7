import { Logger } from '@nestjs/common';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { telemetry } from '../../foundation/observability/telemetry';
import { RequestScope } from '../../foundation/platform/deadline';
import { ServerBusy } from '../../foundation/platform/errors';
import { type FairShareEntry, RecentUse, compared, lastOf, nextOf } from './fair-share.policy';

const RETRY_AFTER_SECONDS = 2;

/** Too many password hashes are waiting: 503 with `Retry-After`. */
export class HasherBusy extends ServerBusy {
  constructor() {
    super('hasher_busy', RETRY_AFTER_SECONDS);
  }
}

/** Longest delay of a Node.js timer, in milliseconds. */
const MOST_MS = 2 ** 31 - 1;

interface Waiting {
  readonly fairShareKeys: readonly string[];
  start(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency` jobs at once. At most `maxQueue` jobs wait, none longer than `maxWaitMs`. The next job is
 * the one whose client has the fewest recent hashes, and of equals the oldest. A client that floods the queue therefore
 * waits behind all others.
 */
export class HashQueue {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly maxQueue: number,
    private readonly maxWaitMs = MOST_MS,
    private readonly use = new RecentUse(),
  ) {}

  /**
   * Refuses early, before the work that precedes a job.
   *
   * @throws HasherBusy if the queue would refuse the job now
   */
  admit(): void {
    if (this.running < this.concurrency || this.waiting.length < this.maxQueue) return;
    if (!this.displacedBy(currentFairShareKeys())) throw this.busy();
  }

  /** @throws HasherBusy */
  run<T>(job: () => Promise<T>): Promise<T> {
    return telemetry.span('svc.auth.hash', {}, async (span) => {
      const [queuedAt, fairShareKeys] = [performance.now(), currentFairShareKeys()];
      await this.acquire(fairShareKeys);
      const startedAt = performance.now();
      span?.setAttributes({ 'svc.auth.hash.wait': (startedAt - queuedAt) / 1000 });
      telemetry.duration('svc.auth.hash.wait.duration', queuedAt);
      try {
        for (const key of fairShareKeys) this.use.add(key);
        return await job();
      } finally {
        telemetry.duration('svc.auth.hash.duration', startedAt);
        this.startNext();
      }
    });
  }

  /** Starts the next waiting job directly, so that a new job cannot overtake the queue. */
  private startNext(): void {
    const next = this.waiting[nextOf(this.claims())];
    if (next) next.start();
    else this.running--;
  }

  /** The current counts of all waiting jobs. They change while a job waits. */
  private claims(): FairShareEntry[] {
    const of = this.use.reading();
    return this.waiting.map(({ fairShareKeys }) => ({ uses: fairShareKeys.map(of) }));
  }

  /** The waiting job that a new job displaces from a full queue; undefined if the new job has no higher priority. */
  private displacedBy(fairShareKeys: readonly string[]): Waiting | undefined {
    const claims = this.claims();
    const at = lastOf(claims);
    const uses = fairShareKeys.map(this.use.reading());
    return at >= 0 && compared({ uses }, claims[at]!) < 0 ? this.waiting[at] : undefined;
  }

  private busy(): HasherBusy {
    telemetry.count('svc.auth.hash.refusals');
    return new HasherBusy();
  }

  private acquire(fairShareKeys: readonly string[]): Promise<void> | void {
    if (this.running < this.concurrency) {
      this.running++;
      return;
    }
    return new Promise((resolve, reject) => this.wait(fairShareKeys, resolve, reject));
  }

  private wait(fairShareKeys: readonly string[], resolve: () => void, reject: (busy: HasherBusy) => void): void {
    const leave = (): void => {
      clearTimeout(timer);
      this.waiting.splice(this.waiting.indexOf(entry), 1);
      telemetry.count('svc.auth.hash.queue.length', {}, -1);
    };
    const entry: Waiting = {
      fairShareKeys,
      start: () => [leave(), resolve()],
      refuse: () => [leave(), refuse()],
    };
    const refuse = (): void => reject(this.busy());
    if (this.waiting.length >= this.maxQueue) {
      const last = this.displacedBy(fairShareKeys);
      if (!last) return refuse();
      last.refuse();
    }
    const timer = setTimeout(() => entry.refuse(), Math.min(this.maxWaitMs, MOST_MS));
    this.waiting.push(entry);
    telemetry.count('svc.auth.hash.queue.length');
  }
}

const currentFairShareKeys = (): readonly string[] => RequestScope.current?.fairShareKeys() ?? [];

const [BY_DEFAULT, MOST] = [4, 1024];

/** Threads of libuv's pool, as it reads `UV_THREADPOOL_SIZE` (libuv, thread pool work scheduling). */
export function poolSize(variable: string | undefined): number {
  if (variable === undefined) return BY_DEFAULT;
  // Like atoi: a text that is not a number is 0, and 0 means one thread.
  const size = Number.parseInt(variable, 10) || 0;
  return size < 0 ? MOST : Math.min(MOST, Math.max(1, size));
}

/** Maximum number of concurrent hashes, so that one thread remains for file access and DNS look-ups. */
export const mostAtOnce = (configured: number, threads: number): number =>
  Math.max(1, Math.min(configured, threads - 1));

/**
 * Creates the process-wide queue for all password hashing. Its concurrency times `hashing.memoryCost` limits the memory
 * that hashing uses.
 */
export function createHashQueue({ concurrency, maxQueue, maxWaitMs }: AuthConfig['hashing']): HashQueue {
  const threads = poolSize(process.env.UV_THREADPOOL_SIZE);
  const most = mostAtOnce(concurrency, threads);
  if (most < concurrency) {
    new Logger('Auth').warn(
      `hashing.concurrency is ${concurrency}, but libuv has ${threads} threads, and files and name look-ups need one: ` +
        `${most} hashes run at once. Start the process with UV_THREADPOOL_SIZE=${concurrency + 1}.`,
    );
  }
  return new HashQueue(most, maxQueue, maxWaitMs);
}
