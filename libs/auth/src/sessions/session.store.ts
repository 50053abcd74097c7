import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database, type Sql } from '../kernel/database';
import { once } from '../kernel/once';
import { isUuid } from '../kernel/uuid';
import { Realm } from '../realm/realm';
import { denialId } from '../revocations/denial-id';
import { Revocation } from '../revocations/revocation.entity';
import { RefreshToken } from './refresh-token.entity';
import { Session } from './session.entity';

/** A session about to be stored. */
export interface NewSession {
  familyId: string;
  userId: string;
  tokenHash: string;
  scope: string | null;
  amr: readonly string[];
  /** Unix seconds; null is now. */
  authTime: number | null;
  ip: string | null;
  userAgent: string | null;
  label: string | null;
}

/** Every query of starting and ending sessions. Adds the guard itself. */
@Injectable()
export class SessionStore {
  private readonly tables = once(() => ({
    sessions: this.database.table(Session),
    tokens: this.database.table(RefreshToken),
    revocations: this.database.table(Revocation),
  }));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a session with its first refresh token. `mint` is given its `auth_time` in unix seconds and runs
   * before the commit: a token that cannot be minted leaves no session that nobody holds.
   */
  insert<T>(session: NewSession, mint: (authTime: number) => T): Promise<T> {
    const { familyId, userId, tokenHash, scope, amr, authTime, ip, userAgent, label } = session;
    const { sessions, tokens } = this.tables();
    const statement = `
      WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $11::interval AS now),
           started AS (
             INSERT INTO ${sessions}
                    (id, guard, user_id, amr, auth_time, expires_at, last_used_at, ip, user_agent, label, created_at)
             SELECT $1, $2, $3, $4::text[], coalesce(to_timestamp($5::float8), now),
                    now + $6 * interval '1 second', now, $7, $8, $9, now FROM moment
             RETURNING id, auth_time)
      INSERT INTO ${tokens} (family_id, token_hash, scope, created_at)
      SELECT started.id, $10, $12, now FROM started, moment
      RETURNING scope IS NOT DISTINCT FROM $12 AS kept,
                (SELECT floor(extract(epoch FROM auth_time))::float8 FROM started) AS "authTime"`;
    const { guard, options } = this.realm;
    const values = [familyId, guard, userId, amr, authTime, options.refreshTtl, ip, userAgent, label, tokenHash];
    return this.database.transaction(async (sql) => {
      const [row] = await sql<{ kept: boolean; authTime: number }>(statement, [...values, this.clock.offset, scope]);
      // A pin that did not reach storage would be a session that may do everything.
      if (!row?.kept) throw new Error('the session was not stored as it was given');
      return mint(row.authTime);
    });
  }

  /** Deletes a session whose tokens nobody has seen. */
  async discard(familyId: string): Promise<void> {
    await this.database.query(`DELETE FROM ${this.tables().sessions} WHERE id = $1 AND guard = $2`, [
      familyId,
      this.realm.guard,
    ]);
  }

  /**
   * Ends sessions that still live, and resolves to them.
   *
   * The rows are locked first, so that no refresh is between its mint and its commit. Their end is written with
   * the fact that their access tokens are dead, which has to survive the store; then `deny` puts those on the
   * denylist, and only then does it commit. A failing `deny` leaves all as it was.
   *
   * @param lifetime seconds that the access tokens may live on
   * @param within a transaction of the caller's, in the place of its own
   */
  async revoke(
    which: Selection,
    lifetime: number,
    deny: (familyIds: string[]) => Promise<void>,
    within?: Sql,
  ): Promise<EndedSession[]> {
    const { sessions, revocations } = this.tables();
    const [condition, value, named] = conditionOf(which);
    const statement = `
      WITH living AS (
             SELECT id, user_id FROM ${sessions}
              WHERE guard = $1 AND revoked_at IS NULL AND ${condition} ORDER BY id FOR UPDATE),
           ended AS (
             UPDATE ${sessions} s SET revoked_at = clock_timestamp() + $2::interval FROM living WHERE s.id = living.id),
           denied AS (SELECT id::text FROM living UNION SELECT unnest($3::text[])),
           noted AS (
             INSERT INTO ${revocations} (family_id, expires_at)
             SELECT id, clock_timestamp() + $2::interval + $4::float8 * interval '1 second' FROM denied WHERE $4 > 0)
      SELECT denied.id, living.user_id AS "userId" FROM denied LEFT JOIN living ON living.id::text = denied.id`;
    const end = async (sql: Sql): Promise<EndedSession[]> => {
      const values = [this.realm.guard, this.clock.offset, named, lifetime, ...value];
      const denied = await sql<{ id: string; userId: string | null }>(statement, values);
      await deny(denied.map(({ id }) => id));
      return denied.filter((one): one is EndedSession => one.userId !== null);
    };
    return within ? end(within) : this.database.transaction(end);
  }

  /** Whether a session was ended. One of a co-issuer is not stored here, so nothing is known of it. */
  async hasEnded(familyId: string, sql: Sql = this.database.query): Promise<boolean> {
    if (!isUuid(familyId)) return false;
    const statement = `SELECT 1 FROM ${this.tables().sessions} WHERE id = $1 AND guard = $2 AND revoked_at IS NOT NULL`;
    return (await sql(statement, [familyId, this.realm.guard])).length > 0;
  }

  /**
   * Deletes every session of a user with its refresh tokens, by the foreign key, and resolves to their ids. What
   * {@link revoke} says of the order holds here too, for those that were alive.
   */
  async erase(
    sql: Sql,
    userId: string,
    lifetime: number,
    deny: (familyIds: string[]) => Promise<void>,
  ): Promise<string[]> {
    const { sessions, revocations } = this.tables();
    // Locked in the order in which sessions are ended, with which it would deadlock otherwise.
    const erased = await sql<{ id: string; alive: boolean }>(
      `WITH locked AS (SELECT id FROM ${sessions} WHERE guard = $1 AND user_id = $2 ORDER BY id FOR UPDATE),
            erased AS (
              DELETE FROM ${sessions} s USING locked WHERE s.id = locked.id
              RETURNING s.id, s.revoked_at IS NULL AS alive),
            noted AS (
              INSERT INTO ${revocations} (family_id, expires_at)
              SELECT id::text, clock_timestamp() + $3::interval + $4::float8 * interval '1 second'
                FROM erased WHERE alive AND $4 > 0)
       SELECT id, alive FROM erased`,
      [this.realm.guard, userId, this.clock.offset, lifetime],
    );
    await deny(erased.filter(({ alive }) => alive).map(({ id }) => id));
    return erased.map(({ id }) => id);
  }
}

/** A session that lived until now. */
export interface EndedSession {
  id: string;
  userId: string;
}

/** Which sessions of the guard: one by id, or all of a user's but one. */
export type Selection = { familyId: string } | { userId: string; except?: string };

/** The condition, what it needs, and the ids that are denied whether or not there is such a session. */
function conditionOf(which: Selection): [condition: string, values: unknown[], named: string[]] {
  if ('familyId' in which) {
    const id = denialId(which.familyId);
    return ['id = ANY($5::uuid[])', [isUuid(id) ? [id] : []], [id]];
  }
  return which.except === undefined
    ? ['user_id = $5', [which.userId], []]
    : ['user_id = $5 AND id::text <> $6', [which.userId, which.except], []];
}
