import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import type { SecurityLine } from '../platform/catalogue';

const LONGEST = 128;

// Control characters, the line and paragraph separators, and what turns the direction of writing: none of them
// may end a line of the log, or show it as another one. Lone surrogates are no text at all.
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A value as a log takes it: one line of at most 128 characters, whatever a client made of it. */
export const clean = (value: string): string =>
  Array.from(value.slice(0, LONGEST * 2))
    .slice(0, LONGEST)
    .join('')
    .replace(HARMFUL, '?');

interface Window {
  ends: number;
  written: number;
  suppressed: number;
}

const WINDOW_MS = 60_000;

/**
 * Bounds how many lines of one kind are written in a minute, and counts the others. A flood must not fill the disk,
 * nor a line about something else be lost in it.
 */
export class LineBudget {
  private readonly windows = new Map<string, Window>();

  /**
   * @param perMinute lines of one kind
   * @param now milliseconds
   */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** How many lines of the kind were left out in the window before, where this one may be written; else null. */
  admit(kind: string): number | null {
    const now = this.now();
    const window = this.windows.get(kind);
    if (!window || window.ends <= now) {
      this.windows.set(kind, { ends: now + WINDOW_MS, written: 1, suppressed: 0 });
      return window?.suppressed ?? 0;
    }
    if (window.written < this.perMinute) {
      window.written++;
      return 0;
    }
    window.suppressed++;
    return null;
  }

  /** Takes what was left out in windows that end by then, by kind. */
  settle(until = this.now()): [kind: string, suppressed: number][] {
    const over = [...this.windows].filter(([, { ends }]) => ends <= until);
    for (const [kind] of over) this.windows.delete(kind);
    return over.flatMap(([kind, { suppressed }]) => (suppressed ? [[kind, suppressed] as [string, number]] : []));
  }
}

const SETTLE_MS = 10_000;

/** `info` for what went well, `warning` for what did not. */
export type Severity = 'info' | 'warning';

/**
 * Writes what matters to security, one object a line: to Nest's logger, or to the host's sink. Never in anybody's
 * way: bounded in volume, and a sink that throws changes nothing.
 */
@Injectable()
export class SecurityLog implements OnApplicationShutdown {
  private readonly logger = new Logger('AuthSecurity');
  private readonly options: AuthConfig['securityLog'];
  private readonly budget: LineBudget;
  private settling?: NodeJS.Timeout;

  constructor(@Inject(AUTH_CONFIG) { securityLog }: AuthConfig) {
    this.options = securityLog;
    this.budget = new LineBudget(securityLog.maxPerMinute);
  }

  write(severity: Severity, line: SecurityLine): void {
    if (!this.options.enabled) return;
    const { event, reason, guard } = line;
    const suppressed = this.budget.admit(JSON.stringify([severity, { event, reason, guard }]));
    if (suppressed === null) return this.settleLater();
    // Behind the answer: whether a line is written, and how long that takes, must show in no answer's time.
    setImmediate(() => this.emit(severity, suppressed ? { ...line, suppressed } : line));
  }

  onApplicationShutdown(): void {
    clearInterval(this.settling);
    this.settle(Infinity);
  }

  /** When a flood is over, no further line of its kind may come to tell how many there were. */
  private settleLater(): void {
    this.settling ??= setInterval(() => this.settle(), SETTLE_MS).unref();
  }

  private settle(until?: number): void {
    for (const [kind, suppressed] of this.budget.settle(until)) {
      const [severity, line] = JSON.parse(kind) as [Severity, SecurityLine];
      this.emit(severity, { ...line, suppressed });
    }
  }

  private emit(severity: Severity, line: SecurityLine): void {
    const entries = Object.entries(line).filter(([, value]) => value !== undefined);
    const written = Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]),
    ) as unknown as SecurityLine;
    const { sink } = this.options;
    if (!sink) return severity === 'info' ? this.logger.log(written) : this.logger.warn(written);
    try {
      Promise.resolve(sink(written, severity)).catch((error) => this.report(error));
    } catch (error) {
      this.report(error);
    }
  }

  private report(error: unknown): void {
    this.logger.error('securityLog.sink failed', (error as Error)?.stack);
  }
}
