import { Clock } from '../../foundation/platform/clock';

/**
 * Moves the library's time: that of its tokens and that by which its rows are judged in the database. What a store in
 * Redis keeps for a while still expires by Redis's own clock.
 *
 * @example Test.createTestingModule({ imports: [AppModule] }).overrideProvider(Clock).useValue(clock)
 * @publicApi
 */
export class MovableClock extends Clock {
  private stoppedAt?: number;

  /** Lets time pass only by {@link advance} from here on, for tests of the last second before a boundary. */
  stop(): void {
    this.stoppedAt = super.now();
  }

  /** Returns to the time of the machine. */
  reset(): void {
    this.stoppedAt = undefined;
    this.offsetMs = 0;
  }

  /** @param seconds how far time moves on */
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
