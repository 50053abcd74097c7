import { Clock } from '../../foundation/platform/clock';

/**
 * Moves the library's time: the time of its tokens, the time for rows in the database, and the age of kept values. Entries
 * in Redis still expire by the clock of Redis.
 *
 * @example Test.createTestingModule({ imports: [AppModule] }).overrideProvider(Clock).useValue(clock)
 * @publicApi
 */
export class MovableClock extends Clock {
  private stopped?: { now: number; monotonic: number };
  /** Milliseconds by which the monotonic time differs from that of the machine. */
  private elapsedMs = 0;

  /** Stops the clock: only {@link advance} moves it, for tests of the last second before a boundary. */
  stop(): void {
    this.stopped = { now: this.now(), monotonic: this.monotonic() };
  }

  /** Resets the clock to the time of the machine. The monotonic time continues from its current value. */
  reset(): void {
    this.elapsedMs = this.monotonic() - super.monotonic();
    this.stopped = undefined;
    this.offsetMs = 0;
  }

  /**
   * Moves the clock forward.
   *
   * @param seconds how far. A negative number sets the wall time back; the monotonic time stays
   */
  advance(seconds: number): void {
    const ms = seconds * 1000;
    if (this.stopped) {
      this.stopped.now += ms;
      this.stopped.monotonic += Math.max(0, ms);
    } else {
      this.offsetMs += ms;
      this.elapsedMs += Math.max(0, ms);
    }
  }

  override now(): number {
    return this.stopped?.now ?? super.now();
  }

  override monotonic(): number {
    return this.stopped?.monotonic ?? super.monotonic() + this.elapsedMs;
  }

  override get offset(): string {
    return `${this.stopped ? this.stopped.now - Date.now() : this.offsetMs} milliseconds`;
  }
}
