import { Injectable } from '@nestjs/common';
import { Clock } from '../kernel/clock';
import { Database, type Sql } from '../kernel/database';
import { once } from '../kernel/once';
import { Realm } from '../realm/realm';
import { RefreshToken } from './refresh-token.entity';
import type { PresentedToken } from './rotation.policy';
import { Session } from './session.entity';

/** A refresh token joined with its session. */
export interface FoundToken extends PresentedToken {
  id: string;
  familyId: string;
  userId: string;
  scope: string | null;
  amr: string[];
  authTime: number;
}

/** Every query of rotation. Adds the guard itself: another guard's token is unknown here. */
@Injectable()
export class RefreshTokenStore {
  private readonly statements = once(() => statementsOn(this.database));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** Reads a token by its hash, without a lock, on the primary. */
  async byHash(hash: string): Promise<FoundToken | null> {
    return this.read(this.database.query, this.statements().find, hash);
  }

  /**
   * Runs `work` with the token and its session locked: refresh and revocation of a session take turns.
   * `succeed` inserts the successor; a throw undoes everything.
   */
  locked<T>(hash: string, work: (found: FoundToken | null, succeed: Succeed) => Promise<T>): Promise<T> {
    return this.database.transaction(async (sql) => {
      const found = await this.read(sql, this.statements().findLocked, hash);
      return work(found, (token, successor, first) => this.insert(sql, token, successor, first));
    });
  }

  private async read(sql: Sql, statement: string, hash: string): Promise<FoundToken | null> {
    const [found] = await sql<FoundToken>(statement, [hash, this.realm.guard, this.clock.offset]);
    return found ?? null;
  }

  private async insert(sql: Sql, token: FoundToken, successor: string, first: boolean): Promise<number> {
    const { succeedFirst, succeedSibling } = this.statements();
    const values = [token.familyId, token.id, successor, token.scope, this.clock.offset];
    const [row] = await sql<{ kept: boolean; live: number }>(first ? succeedFirst : succeedSibling, values);
    // A scope lost on the way to the column would widen the session at its next refresh.
    if (!row?.kept) throw new Error('the refresh token was not stored as it was given');
    return row.live;
  }
}

/** Inserts the successor; resolves to the live tokens of the session, known for siblings only. */
export type Succeed = (token: FoundToken, successorHash: string, first: boolean) => Promise<number>;

function statementsOn(database: Database) {
  const [tokens, sessions] = [database.table(RefreshToken), database.table(Session)];
  const find = `
    SELECT t.id, t.scope, s.id AS "familyId", s.user_id AS "userId", s.amr,
           extract(epoch FROM t.rotated_at)::float8 AS "rotatedAt",
           extract(epoch FROM s.expires_at)::float8 AS "expiresAt",
           extract(epoch FROM s.revoked_at)::float8 AS "revokedAt",
           extract(epoch FROM s.auth_time)::float8 AS "authTime",
           extract(epoch FROM clock_timestamp() + $3::interval)::float8 AS now
      FROM ${tokens} t JOIN ${sessions} s ON s.id = t.family_id
     WHERE t.token_hash = $1 AND s.guard = $2`;

  const succeed = (stamp: string, live: string): string => `
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() + $5::interval AS now), ${stamp}
         used AS (UPDATE ${sessions} SET last_used_at = (SELECT now FROM moment) WHERE id = $1)
    INSERT INTO ${tokens} (family_id, token_hash, previous_id, scope, created_at)
    VALUES ($1, $3, $2, $4, (SELECT now FROM moment))
    RETURNING scope IS NOT DISTINCT FROM $4 AS kept, ${live} AS live`;
  const stamp = `stamped AS (UPDATE ${tokens} SET rotated_at = (SELECT now FROM moment) WHERE id = $2),`;
  const others = `(SELECT count(*)::int FROM ${tokens} WHERE family_id = $1 AND rotated_at IS NULL)`;

  return {
    find,
    // The session first: revocation and pruning lock it too, and only in one order can nobody deadlock.
    findLocked: `${find} FOR UPDATE OF s, t`,
    succeedFirst: succeed(stamp, '1'),
    // A sibling leaves its parent's stamp alone: moved, the grace window would slide for ever.
    succeedSibling: succeed('', `${others} + 1`),
  };
}
