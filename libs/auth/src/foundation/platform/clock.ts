import { Injectable } from '@nestjs/common';

/**
 * Provides the current time. All code of the library reads the wall time here.
 *
 * Elapsed time is never measured by the wall time, so that a correction of the machine's time neither keeps nor removes a
 * cached value. The age of keys and of entries in memory comes from {@link Clock.monotonic}. Waits and rates are measured by
 * `performance.now()`, because their timers do not follow a test's clock.
 *
 * Times in tokens come from {@link Clock.seconds}. Stored times are compared with the clock of the database, never with
 * the clock of the node. Therefore queries add {@link Clock.offset} to the current time of the database. The offset is
 * zero outside tests.
 */
@Injectable()
export class Clock {
  /** Milliseconds by which tests move the time of the node and of the database. */
  protected offsetMs = 0;

  /** Unix time in milliseconds. */
  now(): number {
    return Date.now() + this.offsetMs;
  }

  /** Whole milliseconds since an arbitrary start. They never decrease, and do not follow changes of the wall time. */
  monotonic(): number {
    return Math.floor(performance.now());
  }

  /** Unix time in whole seconds, the form of JWT claims (RFC 7519 §2, NumericDate). */
  seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  /** The offset as a PostgreSQL interval literal: queries use `clock_timestamp() + $n::interval` as current time. */
  get offset(): string {
    return `${this.offsetMs} milliseconds`;
  }
}

/** Milliseconds by the clock of the machine, which also advances while the machine is suspended. Never for stored times. */
export const machineTime = (): number => Date.now();
