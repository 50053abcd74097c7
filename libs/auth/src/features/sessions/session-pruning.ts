import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { Database } from '../../foundation/platform/database';
import { once, sweep } from '../../foundation/platform/sweep';
import { Realms } from '../../foundation/realm/realm';
import { longestLife } from '../../identity/denylist/denylist';
import { type EndedRow, Session } from './session.entity';
import { Sessions } from './sessions';
import { type SessionEndReason, SessionEnded } from './sessions.events';
import { type SessionLimits, endOfSession, idleTimeoutOf } from './rotation.policy';
import { epoch } from './session.sql';

/** Maximum number of rows that one statement deletes. */
export const PRUNED_BATCH = 250;

/**
 * Deletes the sessions of all guards whose deadline has passed and whose last access token has expired. A session that was
 * revoked or idle before also remains until then: without its row, a replayed refresh token would be unknown, and an access token would be
 * accepted.
 */
@Injectable()
export class SessionPruning {
  private readonly statement = once(() => statementOn(this.database.table(Session)));

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: AuthEvents,
    private readonly realms: Realms,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @returns the number of deleted rows */
  prune(): Promise<number> {
    const life = Math.max(...this.config.guards.map(longestLife));
    const idleTimeouts = new Map(this.config.guards.map(({ guard, sessions }) => [guard, sessions.idleTimeout]));
    return sweep('-infinity', async (from) => {
      const reasonOf = ({ guard, ...limits }: Deleted): SessionEndReason =>
        endOfSession({ ...limits, idleTimeout: idleTimeoutOf(idleTimeouts.get(guard) ?? 0, limits.idleTimeout) })
          .reason;
      const rows = await this.database.transaction(async (sql) => {
        const deleted = await sql<Deleted>(this.statement(), [this.clock.offset, from, life]);
        const live = deleted.filter(({ revoked }) => !revoked);
        for (const scope of this.realms.all)
          for (const reason of ['expired', 'idle'] as const) {
            const ended = live.filter((row) => row.guard === scope.realm.guard && reasonOf(row) === reason);
            await scope.get(Sessions).noteEnds(sql, ended, reason);
          }
        return deleted;
      });
      for (const row of rows) {
        const { guard, userId, id, ip, userAgent, amr } = row;
        if (!row.revoked) this.events.emit(new SessionEnded(guard, userId, id, { ip, userAgent }, amr, reasonOf(row)));
      }
      // The next page starts here, because the index still contains the deleted rows before it.
      const last = rows.reduce((latest, { deadline }) => (deadline > latest ? deadline : latest), from);
      // Without a deleted row, all pages are done, or another node is deleting the rows.
      return { removed: rows.length, next: rows.length ? last : null };
    });
  }
}

interface Deleted extends EndedRow, SessionLimits {
  guard: string;
  revoked: boolean;
  deadline: string;
}

/**
 * `statement_timestamp()` is constant, so the index limits the scan. `clock_timestamp()` changes from row to row, and
 * every live session would be read. Locked rows are skipped until the next pruning. The array is computed once: a join
 * with the sub-select could repeat it for each row, and delete more than a page, out of order.
 */
const statementOn = (sessions: string): string => `
  DELETE FROM ${sessions} WHERE id = ANY(ARRAY(
    SELECT id FROM ${sessions}
     WHERE expires_at < statement_timestamp() + $1::interval AND expires_at >= $2::timestamptz
       AND least(expires_at, last_used_at) < statement_timestamp() + $1::interval - $3::float8 * interval '1 second'
     ORDER BY expires_at LIMIT ${PRUNED_BATCH} FOR UPDATE SKIP LOCKED))
  RETURNING id, guard, user_id AS "userId", amr, ip, user_agent AS "userAgent", revoked_at IS NOT NULL AS revoked,
            idle_timeout AS "idleTimeout", ${epoch('expires_at')} AS "expiresAt",
            ${epoch('last_used_at')} AS "lastUsedAt",
            to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS deadline`;
