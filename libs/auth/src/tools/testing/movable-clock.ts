import { Clock } from '../../foundation/platform/clock';

/**
 * Moves the library's time: the time of its tokens, and the time for rows in the database. Entries in Redis still expire
 * by the clock of Redis.
 *
 * @example Test.createTestingModule({ imports: [AppModule] }).overrideProvider(Clock).useValue(clock)
 * @publicApi
 */
export class MovableClock extends Clock {
  private stoppedAt?: number;

  /** Stops the clock: only {@link advance} moves it, for tests of the last second before a boundary. */
  stop(): void {
    this.stoppedAt = this.now();
  }

  /** Resets the clock to the time of the machine. */
  reset(): void {
    this.stoppedAt = undefined;
    this.offsetMs = 0;
  }

  /** Moves the clock forward. @param seconds how far */
  advance(seconds: number): void {
    if (this.stoppedAt !== undefined) this.stoppedAt += seconds * 1000;
    else this.offsetMs += seconds * 1000;
  }

  override now(): number {
    return this.stoppedAt ?? super.now();
  }

  override get offset(): string {
    return `${this.stoppedAt === undefined ? this.offsetMs : this.stoppedAt - Date.now()} milliseconds`;
  }
}
