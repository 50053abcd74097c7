import { Clock } from '../../foundation/platform/clock';
import { Database, type ParsedSql } from '../../foundation/platform/database';

/** The current time in the statements of the library, where `$n` is `Clock.offset`. */
const NOW = /(?:clock|statement)_timestamp\(\) \+ \$(\d+)::interval/g;

/** An offset of {@link stoppedOffset}. */
const STOPPED = /^-?\d+\.0000(\d+) milliseconds$/;

/**
 * The offset of a clock that is stopped at `now`. As an interval it leads to this time, apart from the time that passes until
 * PostgreSQL reads its clock. The digits after the fourth decimal place are below the resolution of an interval, a
 * microsecond: they contain the stopped time itself, in milliseconds.
 */
export const stoppedOffset = (now: number): string =>
  `${Math.round(now) - Date.now()}.0000${Math.round(now)} milliseconds`;

/** Replaces the time of the database by that of a stopped clock, where a statement has its offset. */
export function withStoppedTime(text: string, values: readonly unknown[]): [text: string, values: unknown[]] {
  const times = new Map<string, string>();
  values.forEach((value, i) => {
    const [, now] = (typeof value === 'string' && STOPPED.exec(value)) || [];
    if (now) times.set(String(i + 1), new Date(Number(now)).toISOString());
  });
  if (!times.size) return [text, [...values]];
  const used = new Set<string>();
  const stopped = text.replaceAll(NOW, (whole, n: string) => {
    if (!times.has(n)) return whole;
    used.add(n);
    return `$${n}::timestamptz`;
  });
  return [stopped, values.map((value, i) => (used.has(String(i + 1)) ? times.get(String(i + 1)) : value))];
}

/**
 * Moves the library's time: the time of its tokens, the time for its rows in the database, and the age of kept values.
 * Entries in Redis still expire by the clock of Redis.
 *
 * @example Test.createTestingModule({ imports: [AppModule] }).overrideProvider(Clock).useValue(clock)
 * @publicApi
 */
export class MovableClock extends Clock {
  private stopped?: { now: number; monotonic: number };
  /** Milliseconds by which the monotonic time differs from that of the machine. */
  private elapsedMs = 0;

  /**
   * Stops the clock: only {@link advance} moves it, for tests of a boundary. The rows of the library have exactly this time,
   * too. Rows of the host have it only if their times come from {@link now}.
   */
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
    return this.stopped ? stoppedOffset(this.stopped.now) : super.offset;
  }
}

// Only here, where no application outside a test loads it: the library itself cannot stop the time of rows.
const prototype = Database.prototype as unknown as { on(...connection: unknown[]): { sql: ParsedSql } };
const { on } = prototype;
prototype.on = function (this: Database, ...where) {
  const connection = on.apply(this, where);
  const { sql } = connection;
  return { ...connection, sql: (text, values = [], ...types) => sql(...withStoppedTime(text, values), ...types) };
};
