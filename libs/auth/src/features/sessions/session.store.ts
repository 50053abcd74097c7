import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { batchPerTick } from '../../foundation/platform/batching';
import { Clock } from '../../foundation/platform/clock';
import { Database, LOCK_UNTIL_COMMIT, type Sql, isUuid } from '../../foundation/platform/database';
import { isMissingTable } from '../../foundation/platform/pg-errors';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { once } from '../../foundation/platform/sweep';
import { currentDeadline, valueIf, withTimeout } from '../../foundation/platform/deadline';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import {
  type Beside,
  type EndedPage,
  type EndedRow,
  type FoundSession,
  type NewSession,
  type PageStart,
  Session,
  type SessionOrigin,
} from './session.entity';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { recentChange } from './rotation.policy';
import { type Exchange, PAGE, type SessionStatements, sessionStatements } from './session.sql';

const FIRST_OF_USER = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
const FIRST_OF_GUARD: PageStart = { userId: '', createdAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** Work before the commit of the transaction, with the ids of the sessions that it ended. */
export type BeforeCommit = (familyIds: string[], ended: readonly EndedRow[], sql: Sql) => Promise<void>;

/** Contains all queries of sessions, restricted to the realm's guard. */
@Injectable()
export class SessionStore {
  private insertStatement: string | undefined;
  private readonly statements = once((): SessionStatements => {
    const { users } = this;
    return sessionStatements(this.database, users instanceof TypeormUserProvider ? users.existsSql('s.user_id') : null);
  });
  private readonly found = batchPerTick<FoundSession | null>((ids) => this.findAll(ids));
  private readonly joined = batchPerTick((exchanges: Exchange[]) => this.exchangeAll(exchanges, 'exchangeJoined'));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly users: UserProvider,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Reads a session on the primary, without a lock. Reads in the same turn of the event loop share one statement.
   *
   * @throws StoreUnavailable also if the session is missing on a standby
   */
  find(familyId: string): Promise<FoundSession | null> {
    return withTimeout('PostgreSQL', this.config.storeTimeoutMs, this.found(familyId));
  }

  /**
   * Replaces the refresh token of `generation` by the next one, in one conditional statement, if the session has not
   * changed since it was read. Of several concurrent calls, one succeeds.
   *
   * @param joined whether to share one statement with other calls in the same turn of the event loop; such a statement
   * does not wait for locks
   * @returns whether the token was replaced; if not, nothing was changed, and the session must be read and judged again
   */
  async rotate(session: FoundSession, generation: number, joined: boolean): Promise<boolean> {
    const change = recentChange(session, generation, this.realm.options.graceSeconds);
    const rotation = { ...change, generation: generation + 1, more: 0, isLate: false };
    const holders = await this.exchange(session, rotation, joined);
    return holders !== null;
  }

  /**
   * Adds `more` to the number of times that the current refresh token was returned, if the session has not changed since
   * it was read.
   *
   * @param isLate whether it is returned for a late repetition. That is recorded, and its grace period begins: the client may lose this
   * answer, too, or have sent two requests
   * @returns the new number; null if nothing was changed
   */
  countHolder(session: FoundSession, more: 0 | 1, isLate = false): Promise<number | null> {
    const { generation, recent } = session;
    // The earlier rotations are out of their grace period.
    const change = isLate ? { dropped: recent.length, added: 1 } : { dropped: 0, added: 0 };
    return this.exchange(session, { generation, more, isLate, ...change }, false);
  }

  /**
   * Stores a session, and what features store with it, in one statement. Returns its `auth_time` in unix seconds.
   *
   * @throws StoreUnavailable: the session may be stored nevertheless, so it must be discarded
   */
  async insert(session: NewSession, besides: readonly Beside[]): Promise<number> {
    const { familyId, userId, salt, scope, amr, authTime, ip, userAgent, label, credentialId, origin, jkt, life } =
      session;
    const described = [familyId, this.realm.guard, userId, salt, scope, amr, authTime, life.ttl, ip, userAgent, label];
    this.insertStatement ??= this.insertOf(described.length + 8, besides);
    const [row] = await this.database.query<{ kept: boolean; authTime: number }>(this.insertStatement, [
      ...described,
      life.idleTimeout,
      life.remembered,
      credentialId,
      origin?.id ?? null,
      origin?.session ?? null,
      jkt,
      this.clock.offset,
      ...besides.flatMap(({ values }) => values),
    ]);
    // A session that lost its pinned abilities in the column would have all abilities of its user.
    if (!row?.kept) throw new Error('the scope of the session was not stored unchanged');
    return row.authTime;
  }

  /** The features of the guard are always the same. @param first number of their parameters */
  private insertOf(first: number, besides: readonly Beside[]): string {
    const firsts = besides.map((_, n) => besides.slice(0, n).reduce((next, { values }) => next + values.length, first));
    return this.statements().insertBeside(besides.map(({ inserting }, n) => inserting(firsts[n]!)));
  }

  /** Whether a user has more live sessions than `sessions.maxPerUser`. Called after the session is stored. */
  async isOverCap(userId: string): Promise<boolean> {
    const [row] = await this.database.query<{ over: boolean }>(this.statements().isOverCap, this.capped(userId));
    return row?.over === true;
  }

  /**
   * Ends the sessions of a user that exceed `sessions.maxPerUser`, those with the oldest use. Each of several concurrent
   * sign-ins calls it after its own session is stored, one after the other: the last one sees all sessions.
   *
   * @param own the new session, which stays
   */
  endOverCap(userId: string, own: string, beforeCommit: BeforeCommit): Promise<EndedRow[]> {
    return this.database.transaction(async (sql) => {
      await sql(LOCK_UNTIL_COMMIT, [`svc:cap:${this.realm.guard}:${userId}`]);
      const ended = await sql<EndedRow>(this.statements().endOverCap, [...this.capped(userId), own]);
      await beforeCommit(
        ended.map(({ id }) => id),
        ended,
        sql,
      );
      return ended;
    });
  }

  private capped(userId: string): unknown[] {
    const { guard, options } = this.realm;
    return [guard, userId, options.sessions.maxPerUser, this.clock.offset, this.idleTimeout];
  }

  /**
   * Deletes a session whose tokens were not sent to any client. Also one whose statement has not been answered: the statement
   * may still run, so a row that only records an end keeps its id until the row is pruned.
   */
  async discard(
    familyId: string,
    beforeCommit: (sql: Sql, ended: readonly EndedRow[]) => Promise<void>,
  ): Promise<void> {
    const { noteEnd, discard } = this.statements();
    await this.database.transaction(async (sql) => {
      // Waits for a statement of the same id that is running; a deletion would not see its row.
      const [noted] = await sql(noteEnd, [familyId, this.realm.guard, this.clock.offset]);
      if (noted) return;
      const deleted = await sql<EndedRow & { live: boolean }>(discard, [familyId, this.realm.guard]);
      const live = deleted.filter((row) => row.live);
      await beforeCommit(sql, live);
    });
  }

  /** Writes a row that records nothing, as a mark of a transaction of the host. It can be pruned as soon as a row of an end. */
  async mark(id: string, sql: Sql = this.database.query): Promise<boolean> {
    return (await sql(this.statements().noteEnd, [id, this.realm.guard, this.clock.offset])).length > 0;
  }

  /** See `Marks`. */
  async isMarked(id: string): Promise<boolean> {
    const missing = new Error();
    return this.database
      .transaction(async (sql) => {
        // Waits for a transaction that has written the row.
        if (await this.mark(id, sql)) throw missing;
        return true;
      })
      .catch(valueIf((error) => error === missing, false));
  }

  /**
   * Ends one session. A co-issuer's session has no row, so a row is written that only records the end; if its id is not a
   * UUID, only the denylist records the end.
   *
   * @param isOver only if its deadline or its idle time has passed
   * @returns the session if it was live; `foreign` for a co-issuer's session that was not ended before; null for a session
   * that was already ended, or is not over
   */
  end(familyId: string, beforeCommit: BeforeCommit, isOver = false): Promise<EndedRow | 'foreign' | null> {
    return this.database.transaction(async (sql) => {
      const values = [familyId, this.realm.guard, this.clock.offset];
      const { endOne, endOver, noteEnd } = this.statements();
      const ended = async (): Promise<EndedRow | undefined> =>
        isOver
          ? (await sql<EndedRow>(endOver, [...values, this.idleTimeout]))[0]
          : ((await sql<EndedRow>(endOne, values))[0] ?? (await sql<EndedRow>(noteEnd, values))[0]);
      const row = isUuid(familyId) ? await ended() : FOREIGN;
      // Without a row, the session belongs to another guard, or has ended: it is not denied here.
      const isForeign = row?.userId === '';
      if (row) await beforeCommit([familyId], isForeign ? [] : [row], sql);
      return isForeign ? 'foreign' : (row ?? null);
    });
  }

  /**
   * Ends a page of a user's live sessions, the newest first, and commits.
   *
   * @param own the session of the request, which is ended on the last page, so that the client can repeat a request that
   * ran out of time. Of two concurrent requests for sessions that fit on one page, one finds its own session live
   * @param except sessions that are not ended
   * @param credentialId only sessions that were started with this credential
   * @param origin only sessions that were started with this account elsewhere
   */
  endPage(
    {
      userId,
      own,
      except,
      credentialId,
      origin,
    }: {
      userId: string;
      own?: string;
      except?: readonly string[];
      credentialId?: string;
      origin?: SessionOrigin;
    },
    start: PageStart | null,
    beforeCommit: BeforeCommit,
  ): Promise<EndedPage> {
    const { createdAt, id } = start ?? FIRST_OF_USER;
    const values = [createdAt, id, userId, except ?? (own ? [own] : []), own ?? null, credentialId ?? null];
    const ofOrigin = [origin?.id ?? null, origin?.session ?? null];
    return this.paged(this.statements().endPage, [...values, ...ofOrigin], beforeCommit);
  }

  /** The account elsewhere that has started a session; null without one. */
  async originOf(familyId: string): Promise<string | null> {
    if (!isUuid(familyId)) return null;
    const values = [familyId, this.realm.guard];
    const [row] = await this.database.query<{ origin: string | null }>(this.statements().originOf, values);
    return row?.origin ?? null;
  }

  /** The users and accounts of the live sessions with this session elsewhere. */
  ofOriginSession(session: string): Promise<{ userId: string; origin: string }[]> {
    return this.database.query(this.statements().ofOriginSession, [this.realm.guard, session]);
  }

  /**
   * The position after the sessions of a user that began before a moment, by the database's clock.
   *
   * @param moment as `performance.now()` returns it: the clock of this process may differ from that of the database
   */
  async startBefore(userId: string, moment: number): Promise<PageStart> {
    // In a transaction, so that the wait for a connection is over before this process reads its clock. The database reads
    // its clock later: the position is never before the moment.
    const [row] = await this.database.transaction((sql) =>
      sql<{ createdAt: string }>(
        `SELECT (clock_timestamp() + $1::interval - $2::float8 * interval '1 second')::text AS "createdAt"`,
        [this.clock.offset, (performance.now() - moment) / 1000],
      ),
    );
    return { ...FIRST_OF_USER, userId, createdAt: row!.createdAt };
  }

  /** Ends a page of the guard's live sessions, in the order of their users, and commits. */
  endPageOfGuard(start: PageStart | null, beforeCommit: BeforeCommit): Promise<EndedPage> {
    const { userId, createdAt, id } = start ?? FIRST_OF_GUARD;
    return this.paged(this.statements().endPageOfGuard, [userId, createdAt, id], beforeCommit);
  }

  /** Ends a page of a user's live sessions except `own`, as {@link endPage}, and none if `own` has ended. */
  endOthersPage(
    userId: string,
    own: string | null,
    start: PageStart | null,
    beforeCommit: BeforeCommit,
  ): Promise<EndedPage> {
    const { createdAt, id } = start ?? FIRST_OF_USER;
    return this.paged(this.statements().endOthersPage, [createdAt, id, userId, own], beforeCommit);
  }

  /** Erases a page of a user's ended sessions except their id, guard and time of the end, the newest first, and commits. */
  erasePage(userId: string, start: PageStart | null, beforeCommit: BeforeCommit): Promise<EndedPage> {
    const { createdAt, id } = start ?? FIRST_OF_USER;
    return this.paged(this.statements().erasePage, [createdAt, id, userId], beforeCommit);
  }

  /**
   * Ends and erases all sessions of a user in the same way, as part of a transaction. Records the end of `own` if it is a
   * co-issuer's session, which has no row.
   *
   * @returns the sessions that were live
   */
  async eraseRest(userId: string, own: string | null, sql: Sql): Promise<EndedRow[]> {
    const { guard } = this.realm;
    const ended = await sql<EndedRow>(this.statements().eraseRest, [guard, this.clock.offset, userId]);
    if (own !== null && isUuid(own)) await sql(this.statements().noteEnd, [own, guard, this.clock.offset]);
    return ended;
  }

  /**
   * Whether a session has ended. False for a co-issuer's session without a row.
   *
   * @param sql a transaction: the session does not end before it is over, if `locks`
   */
  async hasEnded(familyId: string, sql?: Sql, locks = true): Promise<boolean> {
    if (!isUuid(familyId) || !this.database.hasEntity(Session)) return false;
    const { hasEnded, hasEndedLocked } = this.statements();
    const values = [familyId, this.realm.guard, this.clock.offset, this.idleTimeout];
    const [row] = await (sql
      ? sql<{ ended: boolean }>(locks ? hasEndedLocked : hasEnded, values)
      : this.database.query<{ ended: boolean }>(hasEnded, values));
    return row?.ended === true;
  }

  /** False in a service that only verifies tokens and has no table of sessions. */
  async isPinned(familyId: string): Promise<boolean> {
    // The session id of a co-issuer can be any text.
    if (!isUuid(familyId) || !this.database.hasEntity(Session)) return false;
    try {
      return (await this.database.query(this.statements().isPinned, [familyId, this.realm.guard])).length > 0;
    } catch (error) {
      if (!this.config.verifyOnly || !isMissingTable(error)) throw error;
      return false;
    }
  }

  /** The idle time of the guard as a parameter of statements. */
  private get idleTimeout(): number | null {
    return this.realm.options.sessions.idleTimeout || null;
  }

  private paged(statement: string, values: unknown[], beforeCommit: BeforeCommit): Promise<EndedPage> {
    return this.database.transaction(async (sql) => {
      const all = [this.realm.guard, this.clock.offset, ...values];
      const rows = await sql<EndedRow & PageStart & { size: number }>(statement, all);
      const ended = rows.filter(({ size }) => size === 0);
      await beforeCommit(
        ended.map((row) => row.id),
        ended,
        sql,
      );
      return { ended, next: rows.find(({ size }) => size >= PAGE) ?? null };
    });
  }

  private async findAll(ids: string[]): Promise<(FoundSession | null)[]> {
    const values = [JSON.stringify(ids), this.realm.guard, this.clock.offset, this.idleTimeout];
    const { find, findWithUser } = this.statements();
    // Without the users where the type of their ids in the database is not the one that the entity declares.
    const rows = await this.database.queryEither<FoundSession>(findWithUser, find, values);
    const readAt = performance.now();
    const found = new Map(rows.map((row) => [row.familyId, { ...row, readAt }]));
    const missing = ids.filter((id) => !found.has(id));
    // The session may have started a moment ago: a standby that is not promoted yet lacks the latest commits. It may be
    // promoted by now, and another connection may reach another server. Then the session is found.
    const isFound = this.statements().isFound;
    if (missing.length && (await this.database.isStandby(isFound, [missing, this.realm.guard])))
      throw new StoreUnavailable('PostgreSQL');
    return ids.map((id) => found.get(id) ?? null);
  }

  /** Changes a session; null, without any change, if the session has changed since it was read. */
  private exchange(
    { familyId: id, generation: seen, lateGeneration: late, jkt, now, readAt }: FoundSession,
    change: Omit<Exchange, 'id' | 'seen' | 'late' | 'jkt' | 'until'>,
    joined: boolean,
  ): Promise<number | null> {
    const ms = this.config.storeTimeoutMs;
    // By the database's clock. If the statement runs after the client was answered 503, for example after a pause of the
    // process, it changes nothing: the client may repeat the token only after the grace period.
    const until = now + (performance.now() - readAt + (currentDeadline()?.left(ms) ?? ms)) / 1000;
    const request: Exchange = { id, seen, late, jkt, until, ...change };
    const holders = joined ? this.joined(request) : this.exchangeAll([request], 'exchangeOne').then(([only]) => only!);
    return withTimeout('PostgreSQL', ms, holders);
  }

  private async exchangeAll(
    exchanges: Exchange[],
    statement: 'exchangeOne' | 'exchangeJoined',
  ): Promise<(number | null)[]> {
    const changes = JSON.stringify(exchanges.map((exchange, n) => ({ n, ...exchange })));
    const values = [changes, this.realm.guard, this.clock.offset, this.idleTimeout];
    const rows = await this.database.query<{ n: number; holders: number }>(this.statements()[statement], values);
    const made = new Map(rows.map(({ n, holders }) => [n, holders]));
    return exchanges.map((_, n) => made.get(n) ?? null);
  }
}

const FOREIGN: EndedRow = { id: '', userId: '', amr: [], ip: null, userAgent: null };
