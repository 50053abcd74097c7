import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database, isMissingTable } from '../kernel/database';
import { inBatches } from '../kernel/in-batches';
import { once } from '../kernel/once';
import { PasswordResetToken } from './password-reset.entity';
import { RESET_TTL } from './reset-token.store';

/** Rows that one statement of the sweep looks at. */
const PAGE = 1000;

/** The primary key of a row. */
interface Place {
  guard: string;
  broker: string;
  userId: string;
}

/**
 * Sweeps reset tokens that are too old to be used, of all guards and brokers: each names an account, and the
 * account may be gone.
 */
@Injectable()
export class ExpiredResets {
  private readonly table = once(() => this.database.table(PasswordResetToken));

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Deletes them, and resolves to how many there were; none without the table. */
  async prune(): Promise<number> {
    let removed = 0;
    let after: Place | null = { guard: '', broker: '', userId: '' };
    try {
      await inBatches(async () => {
        const swept = await this.sweep(after!);
        removed += swept.removed;
        after = swept.last;
        return after !== null;
      });
    } catch (error) {
      if (!isMissingTable(error)) throw error;
    }
    return removed;
  }

  /** One page of rows in the order of their key, without those that someone is using or making anew. */
  private async sweep({ guard, broker, userId }: Place): Promise<{ removed: number; last: Place | null }> {
    const key = 'guard, broker, user_id';
    const statement = `
      WITH page AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} WHERE (${key}) > ($1, $2, $3) ORDER BY ${key} LIMIT ${PAGE}),
           expired AS MATERIALIZED (
             SELECT ${key} FROM ${this.table()} t JOIN page USING (${key})
              WHERE t.created_at <= clock_timestamp() + $4::interval - ${RESET_TTL} * interval '1 second'
                FOR UPDATE OF t SKIP LOCKED),
           gone AS (DELETE FROM ${this.table()} WHERE (${key}) IN (SELECT ${key} FROM expired) RETURNING 1)
      SELECT (SELECT count(*)::int FROM gone) AS removed,
             (SELECT json_build_object('guard', guard, 'broker', broker, 'userId', user_id)
                FROM page ORDER BY (${key}) DESC LIMIT 1) AS last`;
    const values = [guard, broker, userId, this.clock.offset];
    const [swept] = await this.database.query<{ removed: number; last: Place | null }>(statement, values);
    return swept!;
  }
}
