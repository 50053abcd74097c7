import { RequestScope } from '../kernel/request-scope';
import { telemetry } from '../observability/telemetry';
import { HasherBusy } from './hasher-busy.exception';
import { compared, lastOf, nextOf } from './queue.policy';
import { RecentUse } from './recent-use';

/** Longest delay of a timer. */
const MOST_MS = 2 ** 31 - 1;

interface Waiting {
  readonly uses: readonly number[];
  start(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency` jobs at once and lets at most `maxQueue` wait, none longer than `maxWaitMs`. Who has
 * had the least lately is next, and of equals who came first: whoever floods the queue waits behind everybody else.
 */
export class WorkQueue {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly maxQueue: number,
    private readonly maxWaitMs = MOST_MS,
    private readonly use = new RecentUse(),
  ) {}

  /** @throws HasherBusy */
  run<T>(job: () => Promise<T>): Promise<T> {
    return telemetry.span('svc.auth.hash', {}, async (span) => {
      const [asked, applicant] = [performance.now(), RequestScope.current?.applicant() ?? []];
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

  /** What everybody who waits has had by now, read once for all comparisons. */
  private claims(): { uses: readonly number[] }[] {
    return this.waiting.map(({ uses }) => ({ uses }));
  }

  private turn(applicant: readonly string[]): Promise<void> | void {
    if (this.running < this.concurrency) {
      this.running++;
      return;
    }
    return new Promise((resolve, reject) => this.wait(applicant, resolve, reject));
  }

  private wait(applicant: readonly string[], resolve: () => void, reject: (busy: HasherBusy) => void): void {
    const { use } = this;
    const leave = (): void => {
      clearTimeout(timer);
      this.waiting.splice(this.waiting.indexOf(one), 1);
      telemetry.count('svc.auth.hash.queue.length', {}, -1);
    };
    const one: Waiting = {
      // What others were given meanwhile counts too.
      get uses() {
        return applicant.map((key) => use.of(key));
      },
      start: () => [leave(), resolve()],
      refuse: () => [leave(), refuse()],
    };
    const refuse = (): void => {
      telemetry.count('svc.auth.hash.refusals');
      reject(new HasherBusy());
    };
    if (this.waiting.length >= this.maxQueue) {
      const claims = this.claims();
      const at = lastOf(claims);
      const last = this.waiting[at];
      if (!last || compared(one, claims[at]!) >= 0) return refuse();
      last.refuse();
    }
    const timer = setTimeout(() => one.refuse(), Math.min(this.maxWaitMs, MOST_MS));
    this.waiting.push(one);
    telemetry.count('svc.auth.hash.queue.length');
  }
}
