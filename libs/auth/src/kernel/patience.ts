/** Milliseconds that every wait is granted: enough for a store that is well, where another one used the patience up. */
const LEAST_MS = 50;

/**
 * How long one request waits for its stores, all waits together; those that run at once count once. Otherwise a
 * request that asks ten times would wait ten times as long as a store may keep silent.
 */
export class Patience {
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
