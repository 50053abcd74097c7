import { Injectable, Inject } from '@nestjs/common';
import { type Sql, canonicalId, Database } from '../../foundation/platform/database';
import { repeatWhileUnavailable } from '../../foundation/platform/deadline';
import { Denylist, longestLife } from '../../identity/denylist/denylist';
import type { Caller } from '../../identity/tokens/caller';
import { type EndedRow, Session } from './session.entity';
import { SessionStore } from './session.store';
import { Sessions, rowId } from './sessions';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { once, sweep } from '../../foundation/platform/sweep';
import { Realms } from '../../foundation/realm/realm';
import { type SessionEndReason, SessionEnded } from './sessions.events';
import { type SessionLimits, endOfSession, idleTimeoutOf } from './rotation.policy';
import { epoch } from './session.sql';

/** Ends and erases the sessions of a user whose account is deleted. */
@Injectable()
export class SessionErasure {
  constructor(
    private readonly sessions: Sessions,
    private readonly store: SessionStore,
    private readonly denylist: Denylist,
  ) {}

  /**
   * Ends every session of the user on this guard except that of the caller, who deletes the account. Of two sessions that do
   * this at the same time, one ends the other, which then ends none.
   *
   * @throws Unauthenticated when the session of the caller has ended; StoreUnavailable as `Sessions.endAll` does
   */
  async endForDeletion({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>): Promise<void> {
    const own = rowId(familyId) ?? null;
    await this.sessions.inPages('erased', (start, deny) => this.store.endOthersPage(userId, own, start, deny), 'later');
    await repeatWhileUnavailable(() => this.sessions.requireAlive({ userId, familyId }));
  }

  /** Removes all personal data from the rows of the user's ended sessions on this guard. In pages, which are tried again. */
  async eraseEnded(userId: string): Promise<void> {
    await this.sessions.inPages('erased', (start, deny) => this.store.erasePage(userId, start, deny), 'all');
  }

  /**
   * Ends every session of the user on this guard, and removes all personal data from their rows. In pages, which are tried
   * again: the caller has deleted the account.
   */
  async eraseAll(userId: string): Promise<void> {
    await this.sessions.inPages('erased', (start, deny) => this.store.endPage({ userId }, start, deny), 'all');
    await this.eraseEnded(userId);
  }

  /**
   * Ends and erases all sessions of the user, as part of the transaction that deletes the account, and denies them. That of the
   * caller is not denied: a denial would refuse the repeated request if the commit failed.
   *
   * @returns the sessions that were live: see {@link denyErased}
   */
  async eraseRest({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>, sql: Sql): Promise<EndedRow[]> {
    const own = familyId && canonicalId(familyId);
    const ended = await this.store.eraseRest(userId, own, sql);
    await this.sessions.noteEnds(sql, ended, 'erased');
    await this.denylist.deny(ended.map(({ id }) => id).filter((id) => id !== own));
    return ended;
  }

  /** Denies sessions, and that of the caller, after the commit of the transaction that has erased them. */
  async denyErased({ familyId }: Pick<Caller, 'familyId'>, erased: readonly EndedRow[]): Promise<void> {
    for (const row of erased) this.sessions.emitEnded(row, 'erased');
    const ids = new Set(erased.map(({ id }) => id));
    if (familyId !== null) ids.add(canonicalId(familyId));
    await repeatWhileUnavailable(() => this.denylist.keep([...ids]));
  }
}

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
