import { AuthException } from '../kernel/auth.exception';

/** More password checks wait than the server can answer in reasonable time: 503 with `Retry-After`. */
export class HasherBusy extends AuthException {
  constructor(seconds: number) {
    super('hasher_busy', {
      status: 503,
      text: { key: 'server.busy', params: { seconds } },
      headers: { 'Retry-After': String(seconds) },
    });
  }
}

const RETRY_AFTER_SECONDS = 2;

/** Runs at most `concurrency` jobs at once and lets at most `maxQueue` wait, first come, first served. */
export class WorkQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly maxQueue: number,
  ) {}

  async run<T>(job: () => Promise<T>): Promise<T> {
    await this.turn();
    try {
      return await job();
    } finally {
      const next = this.waiting.shift();
      // The place passes on directly, so that a newcomer cannot overtake the queue.
      if (next) next();
      else this.running--;
    }
  }

  private turn(): Promise<void> | void {
    if (this.running < this.concurrency) {
      this.running++;
      return;
    }
    if (this.waiting.length >= this.maxQueue) throw new HasherBusy(RETRY_AFTER_SECONDS);
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
