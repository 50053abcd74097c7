import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { clean } from './clean';
import { LineBudget } from './line-budget';
import type { SecurityLine } from './security-line';

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
