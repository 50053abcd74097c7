import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BackgroundWork } from '../platform/deadline';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import type { SecurityLine } from '../platform/catalogue';

const MAX_LENGTH = 128;

// Control and format characters, line and paragraph separators, and lone surrogates. They could end a line of the log
// or change its appearance, for example by a change of the writing direction.
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A line with harmful characters replaced by `?`. */
export const printable = (line: string): string => line.replaceAll(HARMFUL, '?');

/** Converts a value for the log: one line of at most 128 characters, as {@link printable} returns it. */
export const clean = (value: string): string =>
  printable(
    Array.from(value.slice(0, MAX_LENGTH * 2))
      .slice(0, MAX_LENGTH)
      .join(''),
  );

interface Window {
  ends: number;
  written: number;
  suppressed: number;
}

const WINDOW_MS = 60_000;

/**
 * Limits the lines of one kind per minute and counts the omitted lines. A flood of one kind must not fill the disk or
 * hide lines of another kind.
 */
export class LineBudget {
  private readonly windows = new Map<string, Window>();

  /**
   * @param perMinute maximum number of lines of one kind
   * @param now returns the current time in milliseconds
   */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** If the line may be written: the number of lines omitted in the previous window. Otherwise null. */
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

  get isEmpty(): boolean {
    return this.windows.size === 0;
  }

  /** Removes the windows that end by `until`. Returns the number of omitted lines by kind. */
  settle(until = this.now()): [kind: string, suppressed: number][] {
    const ended = [...this.windows].filter(([, { ends }]) => ends <= until);
    for (const [kind] of ended) this.windows.delete(kind);
    return ended.flatMap(([kind, { suppressed }]) => (suppressed ? [[kind, suppressed] as [string, number]] : []));
  }
}

const SETTLE_MS = 10_000;

/**
 * The lines with which a line shares its limit. Pure. Any client can cause refusals, so those of all users share one. All
 * other lines are limited for each user, or for each session or client where the user is unknown: with successes on an
 * account of their own, attackers could otherwise suppress the line of a success on another account.
 */
export function kindOf({ event, reason, guard, user_id, session_id, ip }: SecurityLine): SecurityLine {
  if (reason !== undefined) return { event, reason, guard };
  if (user_id !== undefined) return { event, guard, user_id };
  return session_id === undefined ? { event, guard, ip } : { event, guard, session_id };
}

/** `info` for a success, `warning` for a refusal or failure. */
export type Severity = 'info' | 'warning';

/** The request that a line is about. */
export interface LoggedRequest {
  readonly request: object;
  /** Whether it has started a session: that start has its own line. */
  readonly startsSession?: boolean;
}

/** @param about of the line of a request */
type LineReader = (line: SecurityLine, about: Partial<LoggedRequest>) => void;

/**
 * Writes security events to the logger of Nest or to the sink of the host, one object per line. The volume is limited.
 * An error of the sink is logged and has no other effect.
 */
@Injectable()
export class SecurityLog implements OnApplicationShutdown {
  private readonly logger = new Logger('AuthSecurity');
  private readonly options: AuthConfig['securityLog'];
  private readonly budget: LineBudget;
  private readonly readers: LineReader[] = [];
  private settling?: NodeJS.Timeout;

  constructor(
    @Inject(AUTH_CONFIG) { securityLog }: AuthConfig,
    private readonly background: BackgroundWork,
  ) {
    this.options = securityLog;
    this.budget = new LineBudget(securityLog.maxPerMinute);
  }

  /** Calls `reader` for every line, also where the log is off, and for those over the limit. */
  onEvery(reader: LineReader): void {
    this.readers.push(reader);
  }

  write(severity: Severity, line: SecurityLine, about: Partial<LoggedRequest> = {}): void {
    for (const reader of this.readers) reader(line, about);
    if (!this.options.enabled) return;
    const suppressed = this.budget.admit(JSON.stringify([severity, kindOf(line)]));
    this.settleLater();
    if (suppressed === null) return;
    // After the response: the response time must not depend on the write.
    this.background.add(nextTurn().then(() => this.emit(severity, suppressed ? { ...line, suppressed } : line)));
  }

  onApplicationShutdown(): void {
    clearInterval(this.settling);
    this.settle(Infinity);
  }

  /** Writes the number of omitted lines also when no further line of the kind follows, and forgets windows that ended. */
  private settleLater(): void {
    this.settling ??= setInterval(() => this.settle(), SETTLE_MS).unref();
  }

  private settle(until?: number): void {
    for (const [kind, suppressed] of this.budget.settle(until)) {
      const [severity, line] = JSON.parse(kind) as [Severity, SecurityLine];
      this.background.add(this.emit(severity, { ...line, suppressed }));
    }
    if (!this.budget.isEmpty) return;
    clearInterval(this.settling);
    this.settling = undefined;
  }

  private async emit(severity: Severity, line: SecurityLine): Promise<void> {
    const entries = Object.entries(line).filter(([, value]) => value !== undefined);
    const written = Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]),
    ) as unknown as SecurityLine;
    const { sink } = this.options;
    if (!sink) return severity === 'info' ? this.logger.log(written) : this.logger.warn(written);
    try {
      await sink(written, severity);
    } catch (error) {
      this.logger.error('securityLog.sink failed', (error as Error)?.stack);
    }
  }
}
