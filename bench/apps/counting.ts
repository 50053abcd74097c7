import { Controller, Get } from '@nestjs/common';
import { Client } from 'pg';

/** What a server process has spent since it started. */
export interface Spent {
  /** SQL statements sent, transaction control included. */
  statements: number;
  /** BEGIN, COMMIT and ROLLBACK among them. */
  transactionControl: number;
  /** Processor time of all threads, in microseconds. */
  cpuMicros: number;
}

const sent = { statements: 0, transactionControl: 0 };

/** Counts every statement of this process where it leaves, below TypeORM and below the pool. */
export function countStatements(): void {
  const { prototype } = Client as unknown as { prototype: { query(...args: unknown[]): unknown } };
  const { query } = prototype;
  prototype.query = function counted(...args) {
    const [first] = args as [string | { text?: string }];
    const text = typeof first === 'string' ? first : (first.text ?? '');
    sent.statements++;
    if (/^\s*(BEGIN|START|COMMIT|ROLLBACK)\b/i.test(text)) sent.transactionControl++;
    return query.apply(this, args);
  };
}

/** Tells the load generator what this process has spent. */
@Controller('bench-stats')
export class SpentController {
  @Get()
  spent(): Spent {
    const { user, system } = process.cpuUsage();
    return { ...sent, cpuMicros: user + system };
  }
}
