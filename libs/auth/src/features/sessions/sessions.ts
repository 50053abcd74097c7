import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { type Sql, canonicalId, isUuid } from '../../foundation/platform/database';
import { bestEffort, outerTransaction, REPETITIONS, repeatWhileUnavailable } from '../../foundation/platform/deadline';
import { StoreUnavailable, Unauthenticated } from '../../foundation/platform/errors';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import { Denylist } from '../../identity/denylist/denylist';
import { EndedSessions, UnfinishedEnds } from '../../identity/denylist/ended-sessions';
import type { Caller } from '../../identity/tokens/caller';
import type { Beside, EndedPage, EndedRow, NewSession, PageStart, SessionOrigin } from './session.entity';
import { type BeforeCommit, SessionStore } from './session.store';
import { NoSession } from './sessions.errors';
import { type SessionEndReason, SessionEnded } from './sessions.events';

/**
 * Time limit in milliseconds for one request that ends pages of sessions. Each page is committed. A request that exceeds
 * the limit is answered 503; a repeated request continues with the remaining sessions.
 */
const ENDING_MS = 10_000;

/** How often a last step is tried again: with the pauses, for half a second. */
const LAST_REPETITIONS = 3;

/** The id of a session's row. A co-issuer's session id that is not a UUID has no row. */
export const rowId = (familyId: string | null): string | undefined =>
  familyId !== null && isUuid(familyId) ? canonicalId(familyId) : undefined;

const rowIds = (familyIds: readonly (string | null)[]): string[] => familyIds.flatMap((id) => rowId(id) ?? []);

/** Denies the access tokens of sessions, before the commit of their end. @param ended those of them that were live here */
type Deny = BeforeCommit;

/** The pages of an end of sessions that are tried again while a store is unavailable. With them the end has no time limit. */
export type RetriedPages = 'none' | 'later' | 'all';

/** The sign-ins that have begun, of a user or, without a user, of the guard. */
export interface BegunSignIns {
  readonly userId?: string;
  /** Whether the sessions must not end if the end cannot be recorded. */
  readonly mustRecord: boolean;
}

/** Why a session ended; `discarded`: its tokens were sent to no client. */
export type SessionEnding = SessionEndReason | 'discarded';

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The reasons of the feature for an end of sessions after which other credentials of the user stay. Without it they end, too. */
    readonly keepsCredentials?: readonly SessionEndReason[];
  }
  interface HookPoints {
    /** What a feature stores together with a session, in one statement. */
    readonly sessionStart?: (services: GuardServices, session: NewSession) => Beside;
    /** Runs in each transaction that ends sessions, or deletes their rows while they are live. An error keeps the sessions. */
    readonly sessionEnd?: (
      services: GuardServices,
      sql: Sql,
      ended: readonly EndedRow[],
      reason: SessionEnding,
    ) => Promise<void>;
    /**
     * Runs before all sessions of a user or of the guard end: ends challenges, mailed codes and the trust in devices, so that a
     * sign-in that has begun before starts no session afterwards.
     *
     * @returns an error that is thrown after the sessions have ended, if the end must not be recorded
     */
    readonly endAll?: (services: GuardServices, begun: BegunSignIns) => Promise<unknown>;
    /**
     * Ends credentials that are no sessions, of a user or, without a user, of the guard. Runs before the sessions end, so that a
     * request that fails can be repeated, and once more after it, because a session may have added a credential until then.
     */
    readonly endCredentials?: (services: GuardServices, reason: SessionEndReason, userId?: string) => Promise<void>;
  }
}

/** Ends the realm's sessions. `NewSessions` starts them. */
@Injectable()
export class Sessions {
  constructor(
    private readonly store: SessionStore,
    private readonly denylist: Denylist,
    private readonly unfinishedEnds: UnfinishedEnds,
    endedSessions: EndedSessions,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
    private readonly scope: RealmScope,
  ) {
    endedSessions.onFinished(realm.guard, {
      beforeCommit: (sql, ended) => this.noteEnds(sql, ended, 'revoked'),
      report: (session) => this.emitEnded(session, 'revoked'),
    });
  }

  /** Ends the sessions of the user that exceed `sessions.maxPerUser`. @param own the new session, which stays */
  endSurplus(userId: string, own: string): Promise<void> {
    return this.ending('cap', async (deny) => {
      const ended = await this.store.endOverCap(userId, own, deny);
      return { result: undefined, ended };
    });
  }

  /**
   * Ends one session. A co-issuer's session, which has no row, is denied too.
   *
   * @param reason `idle` and `expired` end only a session that is over
   * @returns whether this call ended it; of several concurrent calls, one returns true
   */
  async end(familyId: string, reason: SessionEndReason): Promise<boolean> {
    return this.ending(reason, async (deny) => {
      const row = await this.store.end(canonicalId(familyId), deny, reason === 'idle' || reason === 'expired');
      return { result: row !== null, ended: row && row !== 'foreign' ? [row] : [] };
    });
  }

  /**
   * Ends the session of a caller. A co-issuer's token without a session is denied itself, by its id.
   *
   * @throws NoSession for a token with neither a session nor an id that can be denied
   */
  async logOut({ familyId, claims }: Pick<Caller, 'familyId' | 'claims'>): Promise<void> {
    if (familyId !== null) await this.end(familyId, 'logout');
    else if (!(await this.denylist.denyToken(claims.jti))) throw new NoSession();
  }

  /**
   * Ends every session of the user on this guard, in committed pages, the newest first.
   *
   * @param own the session of the request, which ends last, so that the client can repeat a request that was answered 503
   * @throws StoreUnavailable; the sessions that were ended before the error stay ended
   */
  async endAll(userId: string, reason: SessionEndReason, own: string | null = null): Promise<void> {
    const throwUnrecorded = await this.endBegun(reason, userId);
    const last = rowId(own);
    let isEnded = false;
    await this.inPages(reason, async (start, deny) => {
      const page = await this.store.endPage({ userId, own: last }, start, deny);
      isEnded ||= page.ended.some(({ id }) => id === last);
      return page;
    });
    // The session of a co-issuer has no row here.
    if (!isEnded && own !== null) await this.end(own, reason);
    await this.endAddedCredentials(reason, userId);
    throwUnrecorded();
  }

  /**
   * Ends every session of a caller. A co-issuer's token without a session is also denied itself, by its id, if it has one.
   *
   * @throws StoreUnavailable as {@link endAll} does
   */
  async revokeAll({ userId, familyId, claims }: Pick<Caller, 'userId' | 'familyId' | 'claims'>): Promise<void> {
    await this.endAll(userId, 'revoked', familyId);
    // Last, so that the client can repeat a request that was answered 503.
    if (familyId === null) await this.denylist.denyToken(claims.jti);
  }

  /**
   * Ends every session of the user on this guard except some.
   *
   * @param familyIds null for a co-issuer's token without a session: no session is the caller's, so all of them end
   * @param moment only sessions that began before it: see `SessionStore.startBefore`
   * @throws StoreUnavailable as {@link endAll} does
   */
  async endOthers(
    userId: string,
    familyIds: readonly (string | null)[],
    reason: SessionEndReason = 'others',
    moment?: number,
  ): Promise<void> {
    const throwUnrecorded = await this.endBegun(reason, userId);
    await this.endExcept(userId, familyIds, reason, moment);
    await this.endAddedCredentials(reason, userId);
    throwUnrecorded();
  }

  /**
   * Ends every session of the user on this guard that began before a moment, except one. For a change of the password that is
   * completed after its answer: the user may have signed in with the new password since. Sign-ins that have begun do not end: they
   * are bound to the hash of the former password.
   *
   * @param moment see `SessionStore.startBefore`
   * @throws StoreUnavailable as {@link endAll} does
   */
  async endEarlier(
    userId: string,
    moment: number,
    reason: SessionEndReason,
    familyId: string | null = null,
  ): Promise<void> {
    await this.endCredentials(reason, userId);
    await this.endExcept(userId, [familyId], reason, moment);
    await this.endAddedCredentials(reason, userId);
  }

  private async endExcept(
    userId: string,
    familyIds: readonly (string | null)[],
    reason: SessionEndReason,
    moment?: number,
  ): Promise<void> {
    const except = rowIds(familyIds);
    const first = moment === undefined ? null : await this.store.startBefore(userId, moment);
    await this.inPages(reason, (start, deny) => this.store.endPage({ userId, except }, start ?? first, deny));
  }

  /** Ends the sessions that a credential has started, except one, in pages. Can be repeated. @throws StoreUnavailable */
  async endOfCredential(
    { userId, familyId }: Pick<Caller, 'userId' | 'familyId'>,
    credentialId: string,
    reason: SessionEndReason,
  ): Promise<void> {
    const except = rowIds([familyId]);
    await this.inPages(reason, (start, deny) => this.store.endPage({ userId, except, credentialId }, start, deny));
  }

  /**
   * Ends the sessions that an account elsewhere has started, except one, in pages; with {@link SessionOrigin.session}, those of
   * that session, and those whose session there is not known. Can be repeated. Sign-ins that have begun do not end: `PurposeTokens.endChallenges` ends them first.
   *
   * @throws StoreUnavailable
   */
  async endOfOrigin(
    { userId, familyId }: Pick<Caller, 'userId' | 'familyId'>,
    origin: SessionOrigin,
    reason: SessionEndReason,
  ): Promise<void> {
    const except = rowIds([familyId]);
    await this.inPages(reason, (start, deny) => this.store.endPage({ userId, except, origin }, start, deny));
  }

  /**
   * Ends what could start a session after the end of all sessions of a user or, without a user, of the guard: see
   * {@link BegunSignIns}. Before the sessions end.
   *
   * With the denylist off, an unreachable security store does not keep the sessions alive. The repeated request then
   * records the end, and ends the sessions that a challenge has started in between.
   *
   * @returns a function to call after the end of the sessions: it throws the error of a store that could not record the end
   * @throws StoreUnavailable with the denylist on, and before a deletion, which a client cannot repeat without its session
   */
  async endBegun(reason: SessionEndReason, userId?: string): Promise<() => void> {
    // It is not undone by a rollback: the whole end is made again after the commit of the host's transaction.
    if (outerTransaction()) return () => undefined;
    const mustRecord = this.denylist.lifetime > 0 || reason === 'erased';
    const errors: unknown[] = [];
    for (const end of this.scope.hooks('endAll')) errors.push(await end(this.scope, { userId, mustRecord }));
    await this.endCredentials(reason, userId);
    const unrecorded = errors.find(Boolean);
    return () => {
      if (unrecorded) throw unrecorded;
    };
  }

  /**
   * Ends every session of the guard, in committed pages and without a time limit. Returns the number of ended sessions. A
   * page after the first one is tried again while a store is unavailable.
   */
  async endEverything(reason: SessionEndReason): Promise<number> {
    const throwUnrecorded = await this.endBegun(reason);
    const count = await this.inPages(reason, (start, deny) => this.store.endPageOfGuard(start, deny), 'later');
    await this.endAddedCredentials(reason);
    throwUnrecorded();
    return count;
  }

  private async endCredentials(reason: SessionEndReason, userId?: string): Promise<void> {
    if (outerTransaction()) return;
    for (const end of this.scope.hooks('endCredentials')) await end(this.scope, reason, userId);
  }

  /** After the sessions have ended, perhaps also that of the request, which then cannot be repeated. @throws StoreUnavailable */
  private async endAddedCredentials(reason: SessionEndReason, userId?: string): Promise<void> {
    if (this.scope.hooks('endCredentials').length)
      await repeatWhileUnavailable(() => this.endCredentials(reason, userId), LAST_REPETITIONS);
  }

  /**
   * Whether a session has not ended, also by its idle time. True for a token without a session, or whose session has no row.
   *
   * @param locks whether an end of the session waits for the transaction
   */
  async isAlive(familyId: string | null, sql?: Sql, locks = true): Promise<boolean> {
    return familyId === null || !(await this.store.hasEnded(familyId, sql, locks));
  }

  /** Called before a session changes its account, after waits. @throws Unauthenticated when the session has ended */
  async requireAlive(
    { userId, familyId }: Pick<Caller, 'userId' | 'familyId'>,
    sql?: Sql,
    locks = true,
  ): Promise<void> {
    if (!(await this.isAlive(familyId, sql, locks)))
      throw new Unauthenticated(true).withReason('revoked_token', userId);
  }

  /**
   * Ends or erases sessions in committed pages.
   *
   * @param retried the pages that are tried again while a store is unavailable
   * @returns the number of ended sessions
   */
  async inPages(
    reason: SessionEndReason,
    page: (start: PageStart | null, deny: Deny) => Promise<EndedPage>,
    retried: RetriedPages = 'none',
  ): Promise<number> {
    const end = performance.now() + (retried === 'none' ? ENDING_MS : Infinity);
    const repetitions = retried === 'none' ? 0 : REPETITIONS;
    let count = 0;
    let start: PageStart | null = null;
    do {
      if (performance.now() > end) throw new StoreUnavailable('PostgreSQL');
      const from: PageStart | null = start;
      const ending = (): Promise<PageStart | null> =>
        this.ending(reason, async (deny) => {
          const { ended, next } = await page(from, deny);
          count += ended.length;
          return { result: next, ended };
        });
      // The first page uses the deadline of the request; each further page has its own store timeout.
      const isFirst: boolean = from === null && retried !== 'all';
      start = await (isFirst || outerTransaction() ? ending() : repeatWhileUnavailable(ending, repetitions));
    } while (start !== null);
    return count;
  }

  /**
   * Runs work that ends sessions. Access tokens are denied before the commit, so that none is accepted afterwards. After the
   * commit, the events are emitted, and the denials are written again: a store may have lost them in between. If the commit
   * does not happen, the sessions are denied all the same, and their end is finished: see {@link UnfinishedEnds}.
   */
  private async ending<T>(
    reason: SessionEndReason,
    work: (deny: Deny) => Promise<{ result: T; ended: readonly EndedRow[] }>,
  ): Promise<T> {
    const outer = outerTransaction();
    const denied = new Set<string>();
    if (outer) {
      const rows: EndedRow[] = [];
      // A rollback keeps the sessions, so it must keep their tokens, too.
      await outer.after('denying ended sessions', async () => denied.size && this.denylist.keep([...denied]));
      await outer.after('the events of ended sessions', async () => {
        for (const row of rows) this.emitEnded(row, reason);
      });
      const { result } = await work(async (familyIds, ended, sql) => {
        await this.noteEnds(sql, ended, reason);
        for (const id of familyIds) denied.add(id);
        rows.push(...ended);
      });
      return result;
    }
    const deny: Deny = async (familyIds, rows, sql) => {
      if (!familyIds.length) return;
      await this.noteEnds(sql, rows, reason);
      // Before the call, which may deny without an answer. A conflict repeats the work, perhaps for other sessions.
      for (const id of familyIds) denied.add(id);
      await this.denylist.deny(familyIds);
    };
    const { result, ended } = await work(deny).catch((error: unknown) => {
      if (denied.size)
        void bestEffort('finishing the end of sessions', () => this.unfinishedEnds.finishDenied([...denied]));
      throw error;
    });
    for (const row of ended) this.emitEnded(row, reason);
    if (denied.size) await bestEffort('keeping the denials of ended sessions', () => this.denylist.keep([...denied]));
    return result;
  }

  /** Lets features store, in its transaction, that sessions end. */
  async noteEnds(sql: Sql, rows: readonly EndedRow[], reason: SessionEnding): Promise<void> {
    if (rows.length) for (const store of this.scope.hooks('sessionEnd')) await store(this.scope, sql, rows, reason);
  }

  /** Emits {@link SessionEnded}. */
  emitEnded({ id, userId, ip, userAgent, amr }: EndedRow, reason: SessionEndReason): void {
    this.events.emit(new SessionEnded(this.realm.guard, userId, id, { ip, userAgent }, amr, reason));
  }
}
