import { Logger } from '@nestjs/common';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { telemetry } from '../../foundation/observability/telemetry';
import { RequestScope } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import { type FairShareEntry, RecentUse, compared, lastOf, nextOf } from './fair-share.policy';

const RETRY_AFTER_SECONDS = 2;

/** More password checks wait than the server can answer in reasonable time: 503 with `Retry-After`. */
export class HasherBusy extends AuthException {
  constructor(seconds = RETRY_AFTER_SECONDS) {
    super('hasher_busy', {
      status: 503,
      text: { key: 'server.busy', params: { seconds } },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

/** Longest delay of a timer. */
const MOST_MS = 2 ** 31 - 1;

interface Waiting {
  readonly applicant: readonly string[];
  start(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency` jobs at once and lets at most `maxQueue` wait, none longer than `maxWaitMs`. Who has
 * had the least lately is next, and of equals who came first: whoever floods the queue waits behind everybody else.
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
   * Spares whoever asks for a job what comes before it.
   *
   * @throws HasherBusy where the job would be sent away at once
   */
  admit(): void {
    if (this.running < this.concurrency || this.waiting.length < this.maxQueue) return;
    if (!this.placeFor(currentApplicant())) throw this.busy();
  }

  /** @throws HasherBusy */
  run<T>(job: () => Promise<T>): Promise<T> {
    return telemetry.span('svc.auth.hash', {}, async (span) => {
      const [asked, applicant] = [performance.now(), currentApplicant()];
      await this.turn(applicant);
      const started = performance.now();
      span?.setAttributes({ 'svc.auth.hash.wait': (started - asked) / 1000 });
      telemetry.duration('svc.auth.hash.wait.duration', asked);
      try {
        for (const key of applicant) this.use.add(key);
        return await job();
      } finally {
        telemetry.duration('svc.auth.hash.duration', started);
        this.passOn();
      }
    });
  }

  /** The place passes on directly, so that a newcomer cannot overtake the queue. */
  private passOn(): void {
    const next = this.waiting[nextOf(this.claims())];
    if (next) next.start();
    else this.running--;
  }

  /** What everybody who waits has had by now, what others were given meanwhile included. */
  private claims(): FairShareEntry[] {
    const of = this.use.reading();
    return this.waiting.map(({ applicant }) => ({ uses: applicant.map(of) }));
  }

  /** Who gives way to a newcomer in a full queue; undefined where the newcomer has no better claim than anybody. */
  private placeFor(applicant: readonly string[]): Waiting | undefined {
    const claims = this.claims();
    const at = lastOf(claims);
    const uses = applicant.map(this.use.reading());
    return at >= 0 && compared({ uses }, claims[at]!) < 0 ? this.waiting[at] : undefined;
  }

  private busy(): HasherBusy {
    telemetry.count('svc.auth.hash.refusals');
    return new HasherBusy();
  }

  private turn(applicant: readonly string[]): Promise<void> | void {
    if (this.running < this.concurrency) {
      this.running++;
      return;
    }
    return new Promise((resolve, reject) => this.wait(applicant, resolve, reject));
  }

  private wait(applicant: readonly string[], resolve: () => void, reject: (busy: HasherBusy) => void): void {
    const leave = (): void => {
      clearTimeout(timer);
      this.waiting.splice(this.waiting.indexOf(one), 1);
      telemetry.count('svc.auth.hash.queue.length', {}, -1);
    };
    const one: Waiting = {
      applicant,
      start: () => [leave(), resolve()],
      refuse: () => [leave(), refuse()],
    };
    const refuse = (): void => reject(this.busy());
    if (this.waiting.length >= this.maxQueue) {
      const last = this.placeFor(applicant);
      if (!last) return refuse();
      last.refuse();
    }
    const timer = setTimeout(() => one.refuse(), Math.min(this.maxWaitMs, MOST_MS));
    this.waiting.push(one);
    telemetry.count('svc.auth.hash.queue.length');
  }
}

const currentApplicant = (): readonly string[] => RequestScope.current?.fairShareKeys() ?? [];

const [BY_DEFAULT, MOST] = [4, 1024];

/** Threads of libuv's pool, as it reads `UV_THREADPOOL_SIZE` (libuv, thread pool work scheduling). */
export function poolSize(variable: string | undefined): number {
  if (variable === undefined) return BY_DEFAULT;
  // atoi: what is no number is 0, and 0 is one thread.
  const size = Number.parseInt(variable, 10) || 0;
  return size < 0 ? MOST : Math.min(MOST, Math.max(1, size));
}

/** Hashes that may run at once, so that one thread is left to files and name look-ups. */
export const mostAtOnce = (wanted: number, threads: number): number => Math.max(1, Math.min(wanted, threads - 1));

/**
 * The queue of everything that is slow on purpose, one for the process: its concurrency times `hashing.memoryCost` is
 * the memory that hashing takes, whatever arrives.
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
