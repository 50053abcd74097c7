import { Injectable } from '@nestjs/common';

/**
 * The one door to time.
 *
 * Token times read {@link Clock.seconds}. Stored times are judged by the database's clock, never by
 * the node's, so queries add {@link Clock.offset} to the database's now; it is zero outside tests.
 */
@Injectable()
export class Clock {
  /** Milliseconds by which tests move both the node's and the database's time. */
  protected offsetMs = 0;

  /** Unix time in milliseconds. */
  now(): number {
    return Date.now() + this.offsetMs;
  }

  /** Unix time in whole seconds, as JWT claims carry it (RFC 7519 §2, NumericDate). */
  seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  /** The same offset as a PostgreSQL interval literal: a query's now is `clock_timestamp() + $n::interval`. */
  get offset(): string {
    return `${this.offsetMs} milliseconds`;
  }
}
