import { AsyncLocalStorage } from 'node:async_hooks';

/** Milliseconds that every wait is granted: enough for a store that is well, where another one used the patience up. */
const LEAST_MS = 50;

const current = new AsyncLocalStorage<Patience>();

/**
 * How long one request waits for its stores, all waits together; those that run at once count once. Otherwise a
 * request that asks ten times would wait ten times as long as a store may keep silent.
 */
export class Patience {
  private spent = 0;
  private waits = 0;
  private since = 0;
  private isOver = false;

  /** Has everything that `work` starts share one patience, until the returned function is called. */
  static share(work: () => void): () => void {
    const patience = new Patience();
    current.run(patience, work);
    // What goes on behind the answer keeps nobody waiting.
    return () => void (patience.isOver = true);
  }

  /** The patience of the request that is being answered, if one is. */
  static get ofRequest(): Patience | undefined {
    const patience = current.getStore();
    return patience?.isOver ? undefined : patience;
  }

  /** Does `work` without the request's patience: it waits for something else than a store, or has a bound of its own. */
  static apart<T>(work: () => T): T {
    return current.exit(work);
  }

  /** Starts a wait. @returns how long it may last, of `ms` at most */
  begin(ms: number): number {
    const now = performance.now();
    const left = ms - this.spent - (this.waits ? now - this.since : 0);
    if (this.waits++ === 0) this.since = now;
    return Math.max(LEAST_MS, left);
  }

  end(): void {
    if (--this.waits === 0) this.spent += performance.now() - this.since;
  }
}
