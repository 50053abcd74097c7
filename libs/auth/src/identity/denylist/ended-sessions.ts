import { Inject, Injectable, Logger } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { batchPerTick } from '../../foundation/platform/batching';
import { Clock } from '../../foundation/platform/clock';
import { Database, type Sql, isUuid } from '../../foundation/platform/database';
import { isMissingTable } from '../../foundation/platform/pg-errors';
import { isInconclusive, valueIf } from '../../foundation/platform/deadline';
import { once } from '../../foundation/platform/sweep';
import { Realm } from '../../foundation/realm/realm';
import { Denylist } from './denylist';

/** The table of the sessions. Their entity belongs to the feature that starts and ends them. */
export const SESSIONS = 'svc_sessions';

/** Maximum number of rows that one statement reads or changes. */
export const ENDED_BATCH = 1000;

/** A session that was ended a short time ago. */
export interface EndedSince {
  id: string;
  /** Text of the timestamp, as PostgreSQL prints it. */
  revokedAt: string;
  /** Seconds for which its access tokens may still be presented. */
  seconds: number;
}

/** A session that was live before its end was finished. */
export interface FinishedEnd {
  id: string;
  guard: string;
  userId: string;
  amr: string[];
  ip: string | null;
  userAgent: string | null;
}

/** What a guard does about its sessions whose end was finished. */
export interface FinishedEnds {
  /** In the transaction of the end. */
  readonly beforeCommit: (sql: Sql, ended: readonly FinishedEnd[]) => Promise<void>;
  readonly report: (session: FinishedEnd) => void;
}

/** A PostgreSQL database and its current timeline. */
export interface Timeline {
  /** Identifies the database across all servers. */
  readonly database: string;
  readonly timeline: string;
  /** Whether it was read from a standby, whose data may be older than the primary's. */
  readonly isStandby: boolean;
}

/** Reads from PostgreSQL, on the primary, which sessions were ended. Session ids are unique across guards. */
@Injectable()
export class EndedSessions {
  private readonly statements = once(() => statementsOn(this.database));
  private readonly lookUp = batchPerTick<boolean | null>((ids) => this.includes(ids));
  private readonly guards = new Map<string, FinishedEnds>();
  private readonly logger = new Logger('Auth');
  private isWarned = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Whether a session was ended. Concurrent requests share a statement. Null if it is unknown: in a service that only
   * verifies, for a session without a row. On an issuing node a session without a row was not ended.
   *
   * @throws StoreUnavailable
   */
  async has(familyId: string | null): Promise<boolean | null> {
    const isAsked = familyId !== null && isUuid(familyId) && this.database.hasEntity(SESSIONS);
    return (isAsked ? await this.lookUp(familyId) : null) ?? (this.config.verifyOnly ? null : false);
  }

  /** Whether this process issues tokens from the table. That of a service that only verifies may lack ends of the issuer. */
  get areOwn(): boolean {
    return !this.config.verifyOnly && this.database.hasEntity(SESSIONS);
  }

  /**
   * The next batch of sessions that were ended less than `life` seconds ago, ordered by time, after `last`.
   *
   * The batches may lack a session whose end commits during the read. `Denylist.deny` writes such an end again
   * after its commit.
   */
  since(life: number, last?: EndedSince): Promise<EndedSince[]> {
    const after = [last?.revokedAt ?? '-infinity', last?.id ?? '00000000-0000-0000-0000-000000000000'];
    return this.database.query<EndedSince>(this.statements().since, [this.clock.offset, life, ...after]);
  }

  /** What a guard does about the sessions whose end {@link end} finishes. */
  onFinished(guard: string, ends: FinishedEnds): void {
    this.guards.set(guard, ends);
  }

  /**
   * Ends those of the given sessions that are live in PostgreSQL although they are denied: their end was not committed, or a
   * failover has lost it.
   *
   * @returns the number of ended sessions
   * @throws StoreUnavailable also on a standby
   */
  async end(ids: readonly string[]): Promise<number> {
    const uuids = ids.filter(isUuid);
    let ended = 0;
    for (let from = 0; from < uuids.length; from += ENDED_BATCH) {
      const batch = [this.clock.offset, uuids.slice(from, from + ENDED_BATCH)];
      const rows = await this.database.transaction(async (sql) => {
        const finished = await sql<FinishedEnd>(this.statements().end, batch);
        for (const [guard, { beforeCommit }] of this.guards)
          await beforeCommit(
            sql,
            finished.filter((row) => row.guard === guard),
          );
        return finished;
      });
      for (const row of rows) this.guards.get(row.guard)?.report(row);
      ended += rows.length;
    }
    return ended;
  }

  /** A session and the newest live sessions of its user; none if the session is not live. */
  async liveOf(guard: string, userId: string, familyId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(this.statements().liveOf, [guard, userId, familyId]);
    return rows.map(({ id }) => id);
  }

  /**
   * The database and its timeline. The timeline changes when a standby is promoted, which may lack the last commits.
   * Null for an engine without a timeline, or one that does not report it to the role: the log has a warning.
   */
  async timeline(): Promise<Timeline | null> {
    try {
      const [row] = await this.database.query<Timeline>(this.statements().timeline);
      return row ?? null;
    } catch (error) {
      if (isInconclusive(error)) throw error;
      if (await this.database.isStandby()) return { database: '', timeline: '', isStandby: true };
      this.warnOfNoTimeline(error as Error);
      return null;
    }
  }

  private async includes(ids: string[]): Promise<(boolean | null)[]> {
    const { ended, endedAnywhere } = this.statements();
    const rows = await this.database
      .queryEither<{ id: string; ended: boolean | null }>(ended, endedAnywhere, [ids])
      .catch(valueIf(isMissingTable, null));
    const known = new Map(rows?.map((row) => [row.id, row.ended]));
    return ids.map((id) => known.get(id.toLowerCase()) ?? null);
  }

  private warnOfNoTimeline({ message }: Error): void {
    if (this.isWarned) return;
    this.isWarned = true;
    this.logger.warn(
      `The database does not report its timeline (${message}). After a failover that loses commits, the ends of sessions ` +
        'that only Redis still knows are written back some minutes later. Until then Redis denies these sessions.',
    );
  }
}

/**
 * Finishes the ends of sessions that were denied, but not committed.
 *
 * A denial is written before the commit of the end. If the commit does not happen (connection cut, timeout, killed process),
 * the session is denied and its row is live. A denial expires, and the session must not come back: so the next request that
 * presents a token of such a session writes the end before it is answered, the process repeats it in the background, and
 * `DenylistMonitor` does the same for all denials from time to time.
 */
@Injectable()
export class UnfinishedEnds {
  constructor(
    private readonly denylist: Denylist,
    private readonly ended: EndedSessions,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Ends the live sessions of a user that are denied. The request that has denied them may have been one for all sessions of
   * the user, and its client cannot repeat it with a token that is denied.
   *
   * @param familyId a session that may be denied
   * @throws StoreUnavailable also without a primary that can be written to
   */
  async finish(userId: string, familyId: string | null): Promise<void> {
    // A service that only verifies tokens writes no sessions, and the session of a co-issuer has no row.
    if (familyId === null || this.config.verifyOnly || !isUuid(familyId)) return;
    // The token may be denied by its own id, which says nothing about its session.
    if (!(await this.denylist.deniesFamily(familyId))) return;
    await this.finishDenied(await this.ended.liveOf(this.realm.guard, userId, familyId));
  }

  /** Ends those of the sessions that are denied. @throws StoreUnavailable */
  async finishDenied(familyIds: readonly string[]): Promise<void> {
    const isDenied = await Promise.all(familyIds.map((id) => this.denylist.deniesFamily(id)));
    const denied = familyIds.filter((_, i) => isDenied[i]);
    if (!denied.length) return;
    await this.ended.end(denied);
    await this.denylist.keep(denied);
  }
}

/** A sub-select of the ended sessions among the ids of a parameter. */
export const endedAmong = (database: Database, parameter: string): string =>
  `SELECT array_agg(id::text) FROM ${database.table(SESSIONS)} WHERE id = ANY(${parameter}::uuid[]) AND revoked_at IS NOT NULL`;

/** A sub-select of the sessions with a pinned list of abilities among the ids of a parameter. */
export const pinnedAmong = (database: Database, parameter: string): string =>
  `SELECT array_agg(id::text) FROM ${database.table(SESSIONS)} WHERE id = ANY(${parameter}::uuid[]) AND scope IS NOT NULL`;

function statementsOn(database: Database) {
  const sessions = database.table(SESSIONS);
  const ended = (verdict: string): string =>
    `SELECT id, ${verdict} AS ended FROM ${sessions} WHERE id = ANY($1::uuid[])`;
  // Constant within a statement, so that PostgreSQL can use it as an index bound.
  const now = 'statement_timestamp() + $1::interval';
  return {
    // The data of a standby may be old: an end is reliable, a live session is not.
    ended: ended('CASE WHEN revoked_at IS NOT NULL THEN true WHEN NOT pg_is_in_recovery() THEN false END'),
    endedAnywhere: ended('revoked_at IS NOT NULL'),
    // One bound: with two, PostgreSQL starts at the first one, and every batch would read all batches before it.
    since: `SELECT id, revoked_at::text AS "revokedAt",
                   extract(epoch FROM revoked_at - (${now}) + $2::float8 * interval '1 second')::float8 AS seconds
              FROM ${sessions}
             WHERE revoked_at IS NOT NULL
               AND (revoked_at, id) > (greatest($3::timestamptz, ${now} - $2::float8 * interval '1 second'), $4::uuid)
             ORDER BY revoked_at, id LIMIT ${ENDED_BATCH}`,
    // Rows are locked in the same order as when all sessions of a user are ended, to avoid deadlocks.
    // An array and not a join: see `paged` in session.sql.ts.
    end: `UPDATE ${sessions} SET revoked_at = ${now} WHERE id = ANY(ARRAY(
            SELECT id FROM ${sessions} WHERE id = ANY($2::uuid[]) AND revoked_at IS NULL ORDER BY id FOR UPDATE))
          RETURNING id, guard, user_id AS "userId", amr, ip, user_agent AS "userAgent"`,
    // In the order in which sessions are ended: those of an unfinished page are the newest ones.
    liveOf: `WITH own AS MATERIALIZED (SELECT id FROM ${sessions} WHERE id = $3::uuid AND revoked_at IS NULL)
             SELECT id FROM own
             UNION
             (SELECT id FROM ${sessions}
               WHERE guard = $1 AND user_id = $2 AND revoked_at IS NULL AND EXISTS (SELECT FROM own)
               ORDER BY created_at DESC, id DESC LIMIT ${ENDED_BATCH})`,
    timeline: `SELECT system_identifier || ':' || current_database() AS database, pg_is_in_recovery() AS "isStandby",
                      CASE WHEN pg_is_in_recovery() THEN ''
                           ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline
                 FROM pg_control_system()`,
  };
}
