import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database, isMissingTable } from '../kernel/database';
import { inBatches } from '../kernel/in-batches';
import { once } from '../kernel/once';
import { RefreshToken } from './refresh-token.entity';
import { Session } from './session.entity';

/** Rows that one statement of the sweep deletes. */
const BATCH = 250;

/** What a sweep of sessions deleted. */
export interface ExpiredRows {
  sessions: number;
  refreshTokens: number;
}

/**
 * Sweeps the sessions of all guards whose deadline has passed, with their refresh tokens. A revoked session
 * stays until then: without its row, a replayed token would be unknown and no longer a replay.
 */
@Injectable()
export class ExpiredSessions {
  private readonly statements = once(() => statementsOn(this.database));

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async prune(): Promise<ExpiredRows> {
    const gone: ExpiredRows = { sessions: 0, refreshTokens: 0 };
    let from = '-infinity';
    try {
      await inBatches(async () => {
        const found = await this.database.query<{ id: string; deadline: string }>(this.statements().expired, [
          this.clock.offset,
          from,
        ]);
        const removed = await this.remove(found.map(({ id }) => id));
        gone.sessions += removed.sessions;
        gone.refreshTokens += removed.refreshTokens;
        // The next page starts here: the index still holds what was deleted before it.
        from = found.at(-1)?.deadline ?? from;
        // Where nothing could be deleted, another sweep is at work.
        return removed.sessions > 0;
      });
    } catch (error) {
      if (!isMissingTable(error)) throw error;
    }
    return gone;
  }

  /** A session may have thousands of tokens, so they go first and by number. */
  private async remove(sessions: string[]): Promise<ExpiredRows> {
    const { tokens, emptied } = this.statements();
    let refreshTokens = 0;
    await inBatches(async () => {
      const removed = await this.database.query(tokens, [sessions]);
      refreshTokens += removed.length;
      return removed.length === BATCH;
    });
    return { sessions: (await this.database.query(emptied, [sessions])).length, refreshTokens };
  }
}

function statementsOn(database: Database) {
  const [tokens, sessions] = [database.table(RefreshToken), database.table(Session)];
  // Rows that someone has locked are left for the next sweep: none waits for another.
  const chosen = (from: string, column: string): string =>
    `SELECT id FROM ${from} WHERE ${column} = ANY($1::uuid[]) LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
  return {
    expired: `SELECT id, expires_at::text AS deadline FROM ${sessions}
               WHERE expires_at < clock_timestamp() + $1::interval AND expires_at >= $2::timestamptz
               ORDER BY expires_at LIMIT ${BATCH}`,
    tokens: `DELETE FROM ${tokens} WHERE id IN (${chosen(tokens, 'family_id')}) RETURNING 1`,
    emptied: `DELETE FROM ${sessions} WHERE id IN (${chosen(sessions, 'id')}) RETURNING 1`,
  };
}
