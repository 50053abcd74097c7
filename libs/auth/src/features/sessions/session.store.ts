import { Inject, Injectable } from '@nestjs/common';
import { PinnedSessions } from '../../request/abilities/pinned-ability.gate';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { batchPerTick } from '../../foundation/platform/batching';
import { Clock } from '../../foundation/platform/clock';
import { Database, type Sql, isUuid } from '../../foundation/platform/database';
import { once } from '../../foundation/platform/sweep';
import { withTimeout, currentDeadline } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { type RecentChange, type SessionState, recentChange } from './rotation.policy';
import { PAGE, type SessionStatements, sessionStatements } from './session.sql';

/** A session about to be stored. */
export interface NewSession {
  familyId: string;
  userId: string;
  salt: Buffer;
  scope: string | null;
  amr: readonly string[];
  /** Unix seconds; null is now. */
  authTime: number | null;
  ip: string | null;
  userAgent: string | null;
  label: string | null;
}

/** A session as a refresh reads it. */
export interface FoundSession extends SessionState {
  familyId: string;
  userId: string;
  salt: Buffer;
  scope: string | null;
  amr: string[];
  authTime: number;
  ip: string | null;
  userAgent: string | null;
  /** `performance.now()` when it was read. */
  readAt: number;
}

/** A session that lived until now. */
export type EndedRow = Pick<FoundSession, 'userId' | 'amr' | 'ip' | 'userAgent'> & { id: string };

/** What one page of ending sessions did. */
export interface EndedPage {
  readonly ended: EndedRow[];
  /** Where the next page begins; null after the last one. */
  readonly next: PageStart | null;
}

/** The place after a session in the order in which sessions are ended: the newest first. */
export interface PageStart {
  readonly createdAt: string;
  readonly id: string;
}

const FIRST_PAGE: PageStart = { createdAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** What is to be done before a statement's transaction commits, with the sessions that it ended. */
type BeforeCommit = (familyIds: string[]) => Promise<void>;

/** Every query of sessions. Adds the guard itself: another guard's session is unknown here. */
@Injectable()
export class SessionStore extends PinnedSessions {
  private readonly statements = once((): SessionStatements => sessionStatements(this.database));
  private readonly found = batchPerTick<FoundSession | null>((ids) => this.findAll(ids));
  private readonly joined = batchPerTick((exchanges: Exchange[]) => this.exchangeAll(exchanges, 'exchangeJoined'));

  constructor(
    private readonly database: Database,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    super();
  }

  /** Reads a session on the primary, without a lock. Those of one turn of the event loop share the statement. */
  find(familyId: string): Promise<FoundSession | null> {
    return withTimeout('PostgreSQL', this.config.storeTimeoutMs, this.found(familyId));
  }

  /**
   * Replaces the refresh token of `generation` by the next one, in one conditional statement, if the session is still as
   * it was read: of many at once one does.
   *
   * @param joined shares the statement with those of the same turn of the event loop, and waits for no lock
   * @returns whether it did; otherwise nothing was changed, and the session is to be read and judged again
   */
  async rotate(session: FoundSession, generation: number, joined: boolean): Promise<boolean> {
    const change = recentChange(session, generation, this.realm.options.graceSeconds);
    const holders = await this.exchange(session, { ...change, generation: generation + 1, more: 0 }, joined);
    return holders !== null;
  }

  /**
   * Notes that the current refresh token was handed out again, `more` times, if the session is still as it was read.
   *
   * @returns how often that token was handed out in all; null where nothing was changed
   */
  handOut(session: FoundSession, more: 0 | 1): Promise<number | null> {
    const { generation } = session;
    return this.exchange(session, { generation, more, dropped: 0, added: 0 }, false);
  }

  /**
   * Stores a session, and ends those of its user that are one too many. `mint` is given its `auth_time` in unix seconds
   * and runs before the commit: a token that cannot be minted leaves no session that nobody holds.
   *
   * @param beforeCommit is given the sessions that the cap ended
   */
  async insert<T>(
    session: NewSession,
    mint: (authTime: number) => T,
    beforeCommit: BeforeCommit,
  ): Promise<{ minted: T; ended: EndedRow[] }> {
    const { familyId, userId, salt, scope, amr, authTime, ip, userAgent, label } = session;
    const { guard, options } = this.realm;
    const { maxPerUser } = options.sessions;
    const isCapped = maxPerUser > 0 && scope === null;
    const { insert, lockUser, endOverCap } = this.statements();
    const values = [familyId, guard, userId, salt, scope, amr, authTime, options.refreshTtl, ip, userAgent, label];
    return this.database.transaction(async (sql) => {
      // Logins of one user take turns, or each of two would leave the other's session out of its count.
      if (isCapped) await sql(lockUser, [`svc:cap:${guard}:${userId}`]);
      const [row] = await sql<{ kept: boolean; authTime: number }>(insert, [...values, this.clock.offset]);
      // A pin that was lost on the way to the column would be a session that may do everything.
      if (!row?.kept) throw new Error('the session was not stored as it was given');
      const ended = isCapped
        ? await sql<EndedRow>(endOverCap, [guard, userId, familyId, maxPerUser - 1, this.clock.offset])
        : [];
      const minted = mint(row.authTime);
      await beforeCommit(ended.map(({ id }) => id));
      return { minted, ended };
    });
  }

  /** Deletes a session whose tokens nobody has seen. */
  async discard(familyId: string): Promise<void> {
    await this.database.query(this.statements().discard, [familyId, this.realm.guard]);
  }

  /**
   * Ends one session. For the session of a co-issuer, which has no row here, a row is written that says no more than
   * that it ended; where the id is no UUID the denylist alone knows.
   *
   * @returns the session where it lived until now; `foreign` for a co-issuer's that was not ended here before; null for
   * one that was
   */
  end(familyId: string, beforeCommit: BeforeCommit): Promise<EndedRow | 'foreign' | null> {
    return this.database.transaction(async (sql) => {
      const values = [familyId, this.realm.guard, this.clock.offset];
      const [row] = isUuid(familyId) ? await sql<EndedRow>(this.statements().endOne, values) : [FOREIGN];
      // Another guard's session is not this one's to deny.
      if (row) await beforeCommit([familyId]);
      return row?.userId === '' ? 'foreign' : (row ?? null);
    });
  }

  /**
   * Ends a page of a user's live sessions, the newest first, and commits.
   *
   * @param own is ended on the last page only, so that its bearer can repeat a request that ran out of time; of two
   * such requests at once, on sessions that fit one page, one finds its own session alive
   * @param except is not ended
   */
  endPage(
    { userId, own, except }: { userId: string; own?: string; except?: string },
    start: PageStart | null,
    beforeCommit: BeforeCommit,
  ): Promise<EndedPage> {
    return this.paged(this.statements().endPage, [userId, except ?? own ?? null, own ?? null], start, beforeCommit);
  }

  /**
   * Leaves of a page of a user's sessions, live or ended, no more than the id, the guard and when it ended, and commits.
   *
   * @param until an ended session: it and those that ended later are left as they are
   */
  erasePage(userId: string, until: string | null, beforeCommit: BeforeCommit): Promise<EndedPage> {
    return this.paged(this.statements().erasePage, [userId, until], null, beforeCommit);
  }

  /** The same for all sessions that have ended, as part of a transaction. */
  async eraseEnded(userId: string, sql: Sql): Promise<void> {
    await sql(this.statements().eraseEnded, [this.realm.guard, userId]);
  }

  /** Whether a session is the user's. One that was erased is nobody's. */
  async belongsTo(userId: string, familyId: string, sql: Sql): Promise<boolean> {
    return (await sql(this.statements().isOf, [familyId, this.realm.guard, userId])).length > 0;
  }

  /** Whether a session was ended. One of a co-issuer is not stored here, so nothing is known of it. */
  async hasEnded(familyId: string, sql: Sql = this.database.query): Promise<boolean> {
    if (!isUuid(familyId)) return false;
    return (await sql(this.statements().hasEnded, [familyId, this.realm.guard])).length > 0;
  }

  async isPinned(familyId: string): Promise<boolean> {
    // A co-issuer may name its sessions by any text.
    if (!isUuid(familyId)) return false;
    return (await this.database.query(this.statements().isPinned, [familyId, this.realm.guard])).length > 0;
  }

  private paged(
    statement: string,
    values: unknown[],
    start: PageStart | null,
    beforeCommit: BeforeCommit,
  ): Promise<EndedPage> {
    const { createdAt, id } = start ?? FIRST_PAGE;
    return this.database.transaction(async (sql) => {
      const rows = await sql<EndedRow & PageStart & { size: number }>(statement, [
        this.realm.guard,
        this.clock.offset,
        createdAt,
        id,
        ...values,
      ]);
      const ended = rows.filter(({ size }) => size === 0);
      await beforeCommit(ended.map((row) => row.id));
      return { ended, next: rows.find(({ size }) => size >= PAGE) ?? null };
    });
  }

  private async findAll(ids: string[]): Promise<(FoundSession | null)[]> {
    const values = [JSON.stringify(ids), this.realm.guard, this.clock.offset];
    const rows = await this.database.query<FoundSession>(this.statements().find, values);
    const readAt = performance.now();
    const found = new Map(rows.map((row) => [row.familyId, { ...row, readAt }]));
    return ids.map((id) => found.get(id) ?? null);
  }

  /** Null where the session is not as it was read, and nothing was changed. */
  private exchange(
    { familyId: id, generation: seen, now, readAt }: FoundSession,
    change: Pick<Exchange, 'generation' | 'more' | 'dropped' | 'added'>,
    joined: boolean,
  ): Promise<number | null> {
    const ms = this.config.storeTimeoutMs;
    // By the database's clock. A server that comes to the statement after the client was answered 503, as after a pause,
    // leaves the session alone: the client may come back with the same token only after the grace period.
    const until = now + (performance.now() - readAt + (currentDeadline()?.left(ms) ?? ms)) / 1000;
    const one: Exchange = { id, seen, until, ...change };
    const asked = joined ? this.joined(one) : this.exchangeAll([one], 'exchangeOne').then(([holders]) => holders!);
    return withTimeout('PostgreSQL', ms, asked);
  }

  private async exchangeAll(
    exchanges: Exchange[],
    statement: 'exchangeOne' | 'exchangeJoined',
  ): Promise<(number | null)[]> {
    const changes = JSON.stringify(exchanges.map((one, n) => ({ n, ...one })));
    const rows = await this.database
      .query<{ n: number; holders: number }>(this.statements()[statement], [
        changes,
        this.realm.guard,
        this.clock.offset,
      ])
      .catch(nothingOnConflict);
    const made = new Map(rows.map(({ n, holders }) => [n, holders]));
    return exchanges.map((_, n) => made.get(n) ?? null);
  }
}

/** One change of a session that a refresh asks for. */
interface Exchange extends RecentChange {
  id: string;
  /** The generation that was read. */
  seen: number;
  /** The next one; the same where nothing is rotated. */
  generation: number;
  /** How often the current token is handed out again. */
  more: number;
  /** When the client is answered at the latest, by the database's clock. */
  until: number;
}

const FOREIGN: EndedRow = { id: '', userId: '', amr: [], ip: null, userAgent: null };

/** Where the host's default isolation is REPEATABLE READ, a row that has just changed is an error, and not "no row". */
function nothingOnConflict(error: { cause?: { code?: unknown } }): [] {
  if (error.cause?.code === '40001') return [];
  throw error;
}
