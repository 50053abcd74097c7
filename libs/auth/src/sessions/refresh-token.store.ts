import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { batched } from '../kernel/batched';
import { Clock } from '../kernel/clock';
import { Database, type Sql } from '../kernel/database';
import { once } from '../kernel/once';
import { Patience } from '../kernel/patience';
import { answered, patienceNow } from '../kernel/unavailable';
import { Realm } from '../realm/realm';
import { refreshStatements } from './refresh-statements';
import type { PresentedToken } from './rotation.policy';

/** A refresh token joined with its session. */
export interface FoundToken extends PresentedToken {
  id: string;
  familyId: string;
  userId: string;
  scope: string | null;
  amr: string[];
  authTime: number;
}

/** A token as it was seen without a lock. */
export interface SeenToken extends FoundToken {
  /** `performance.now()` when it was read. */
  readonly readAt: number;
}

/** What the statement of joined exchanges is given of each. */
interface Exchange extends Pick<FoundToken, 'id' | 'familyId' | 'scope'> {
  /** Hash of the new token. */
  successor: string;
  /** When the client is told that nothing was done, by the database's clock. */
  until: number;
}

/** Every query of rotation. Adds the guard itself: another guard's token is unknown here. */
@Injectable()
export class RefreshTokenStore {
  private readonly statements = once(() => refreshStatements(this.database));
  private readonly seen = batched((hashes) => this.findAll(hashes));
  private readonly exchanged = batched((exchanges: Exchange[]) => this.exchangeAll(exchanges));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** Reads a token by its hash, without a lock, on the primary. */
  byHash(hash: string, patience?: Patience): Promise<SeenToken | null> {
    return answered('PostgreSQL', this.config.storeTimeoutMs, this.seen(hash), patience);
  }

  /**
   * Exchanges a token for its first successor, in one statement and so in one transaction, unless anything has
   * changed since the token was seen, or anybody else is at it or at its session: then it changes nothing, and
   * {@link locked} decides. It waits for no lock, so that all who ask in one turn can share the statement.
   *
   * @returns whether it did
   */
  exchange(
    { id, familyId, scope, now, readAt }: SeenToken,
    successor: string,
    patience = patienceNow() ?? new Patience(),
  ): Promise<boolean> {
    const ms = this.config.storeTimeoutMs;
    // By the database's clock. A server that comes to it later, perhaps after a pause, must leave it alone: the
    // client was told that nothing was done.
    const until = now + (performance.now() - readAt + patience.left(ms)) / 1000;
    return answered('PostgreSQL', ms, this.exchanged({ id, familyId, scope, successor, until }), patience);
  }

  /**
   * Runs `work` with the token and its session locked: refresh and revocation of a session take turns.
   * `succeed` inserts the successor; a throw undoes everything.
   */
  locked<T>(hash: string, work: (found: FoundToken | null, succeed: Succeed) => Promise<T>): Promise<T> {
    return this.database.transaction(async (sql) => {
      const values = [hash, this.realm.guard, this.clock.offset];
      const [found = null] = await sql<FoundToken>(this.statements().findLocked, values);
      return work(found, (token, successor, first) => this.insert(sql, token, successor, first));
    });
  }

  private async findAll(hashes: string[]): Promise<(SeenToken | null)[]> {
    const values = [JSON.stringify(hashes), this.realm.guard, this.clock.offset];
    const rows = await this.database.query<FoundToken & { hash: string }>(this.statements().findAll, values);
    const readAt = performance.now();
    const found = new Map(rows.map(({ hash, ...token }) => [hash, { ...token, readAt }]));
    return hashes.map((hash) => found.get(hash) ?? null);
  }

  private async exchangeAll(exchanges: Exchange[]): Promise<boolean[]> {
    const values = [JSON.stringify(exchanges), this.realm.guard, this.clock.offset];
    const rows = await this.database
      .query<{ successor: string }>(this.statements().exchangeAll, values)
      .catch(nothingOnConflict);
    const stored = new Set(rows.map(({ successor }) => successor));
    return exchanges.map(({ successor }) => stored.has(successor));
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

/**
 * Under a host's default of REPEATABLE READ a row that has just been changed is an error (40001). Nothing was done
 * then; the locked exchange chooses its own isolation.
 */
function nothingOnConflict(error: { cause?: { code?: unknown } }): [] {
  if (error.cause?.code === '40001') return [];
  throw error;
}
