import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Database, repeatOnConflict } from '../../foundation/platform/database';
import { HOST_TIMEOUT_MS, callHost } from '../../foundation/platform/deadline';
import { ServerBusy, Unauthenticated } from '../../foundation/platform/errors';
import { unitOfWork } from '../../foundation/platform/host-transaction';
import { Places } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { Sessions } from '../sessions/sessions';
import { LoginLocks } from '../../request/lockout/lockout.store';
import { AccountDataStore, type DeletedAccount } from './account-rows.store';
import { AccountDeleted, AccountDeleting } from './account.events';

const RETRY_AFTER_SECONDS = 5;

/** Other accounts are being deleted, and a second was not enough: 503 with `Retry-After`. Nothing has ended. */
export class DeletionBusy extends ServerBusy {
  constructor(seconds = RETRY_AFTER_SECONDS) {
    super('deletion_busy', seconds);
  }
}

/** Number of deletions that a process runs at the same time, and the longest wait for one of these places. */
const [AT_ONCE, MAX_WAIT_MS] = [2, 1000];

/**
 * Milliseconds for which a deletion keeps its place while a listener runs, which needs no connection. Less than the wait
 * for a place: a listener that does not settle delays other deletions, and none of them fails.
 */
const MAX_LISTENER_MS = 250;

/** Runs code of the host that needs no place. */
type WithoutPlace = (work: () => Promise<void>) => Promise<void>;

/** Size of a connection pool for which the host has set none, in node-postgres. */
const POOL_SIZE = 10;

const placesOf = new WeakMap<DataSource, Places>();

/**
 * The places for deletions on a data source, for all guards. A deletion has a connection for its transaction, and the
 * host's hook may need another one: one connection of the pool is not used for transactions of deletions.
 */
function placesFor(source: DataSource): Places {
  const { max = POOL_SIZE } = (source.driver as { master?: { options?: { max?: number } } }).master?.options ?? {};
  const known =
    placesOf.get(source) ?? new Places(Math.max(1, Math.min(AT_ONCE, max - 1)), MAX_WAIT_MS, () => new DeletionBusy());
  placesOf.set(source, known);
  return known;
}

/**
 * Ends the sessions of an account before its deletion, and lets exactly one request continue: the one that ended its own
 * session. The database decides which request that is. All others are answered 401, because their session has ended.
 */
@Injectable()
export class DeletionClaims {
  /** The running deletions of this process by user. Other requests wait for the claim without a database connection. */
  private readonly claims = new Map<string, Promise<string | null>>();

  constructor(
    private readonly sessions: Sessions,
    private readonly database: Database,
  ) {}

  /**
   * @param erase gets the caller's session, which is null when it has no row in this database (a co-issuer's session), and
   * a function that runs work without a place
   * @throws Unauthenticated for all concurrent requests except one; DeletionBusy for all of them, if there is no place
   */
  async claimExclusive(
    caller: Caller,
    erase: (session: string | null, withoutPlace: WithoutPlace) => Promise<void>,
  ): Promise<void> {
    const first = this.claims.get(caller.userId);
    if (first) {
      await first;
      throw new Unauthenticated(true);
    }
    // Before the claim: a request that finds no place has ended no session, and can be repeated.
    const places = placesFor(this.database.source);
    const noPlace = (): void => undefined;
    let giveBack = noPlace;
    const claim = places.take().then((give) => {
      giveBack = give;
      return this.claim(caller);
    });
    this.claims.set(caller.userId, claim);
    try {
      await erase(await claim, async (work) => {
        const done = work();
        const isSlow = await Promise.race([done.then(() => false), sleep(MAX_LISTENER_MS, true, { ref: false })]);
        if (!isSlow) return;
        giveBack();
        giveBack = noPlace;
        await done;
        // Without a limit, because the sessions have ended: the deletion must not be refused any more.
        giveBack = await places.takeAgain();
      });
    } finally {
      this.claims.delete(caller.userId);
      giveBack();
    }
  }

  private async claim({ userId, familyId }: Caller): Promise<string | null> {
    const ended = await this.sessions.endAll(userId, 'erased', familyId);
    // Another request has ended the session. A token without a session is not concerned.
    if (ended === null && familyId !== null) throw new Unauthenticated(true);
    return ended === 'own' ? familyId : null;
  }
}

/**
 * Deletes an account (`DELETE /account`). The sessions end first, and stay ended even if the deletion fails. Their rows
 * keep only the id, the guard and the time of the end. Then all other data is deleted in one transaction.
 */
@Injectable()
export class AccountDeletion {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly users: UserProvider,
    private readonly timedUsers: TimedUserProvider,
    private readonly claims: DeletionClaims,
    private readonly rows: AccountDataStore,
    private readonly locks: LoginLocks,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
    private readonly database: Database,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws Unauthenticated when another request deletes the account
   * @throws DeletionBusy before any session has ended
   * @throws every error of a listener of `AccountDeleting` or of `hooks.deleteUser`; the account is not deleted then
   */
  delete(caller: Caller): Promise<void> {
    const identifier = this.users.identifierOf(caller.user);
    // Where an identifier is counted whether or not it has an account, its counter stays: its end would show the deletion.
    const spelling = this.locks.areBySpelling ? '' : this.timedUsers.spellingOf(identifier ?? '');
    const account = { userId: caller.userId, identifier, spelling, email: this.timedUsers.emailOf(caller.user) };
    return this.claims.claimExclusive(caller, async (session, withoutPlace) => {
      const { guard } = this.realm;
      // Before the transaction: listeners hold neither its locks nor its connection.
      const announce = () => this.events.announce(new AccountDeleting(caller.user, guard));
      await withoutPlace(() => callHost('a listener of AccountDeleting', announce));
      // Before the transaction and in pages, because a user may have any number of sessions.
      await this.sessions.eraseAll(account.userId, session);
      const erased = await this.eraseRows(caller.user, account, session);
      await this.sweepAgain(account);
      if (erased) this.events.emit(new AccountDeleted(account.userId, account.identifier, guard, caller.user));
    });
  }

  private eraseRows(user: object, account: DeletedAccount, session: string | null): Promise<boolean> {
    // The host may have many rows to delete.
    const inTransaction = (): Promise<boolean> =>
      unitOfWork(this.database.source, HOST_TIMEOUT_MS, async (manager) => {
        const sql = <Row>(text: string, params?: unknown[]): Promise<Row[]> => manager.query(text, params);
        const { userId } = account;
        if (!(await this.rows.take(sql, account))) throw new Unauthenticated(true);
        // If another process has erased the account in the meantime, it has erased this session too. Of two concurrent
        // deletions, the one whose session ended last has erased the session row of the other one.
        if (session !== null && !(await this.sessions.belongsTo(userId, session, sql))) throw new Unauthenticated(true);
        // First: a statement that inserts a row for the user locks the user before the row. The same order here avoids
        // deadlocks, and a row that was inserted before is deleted below.
        const isDisposed = await this.dispose(user, userId, manager);
        await this.rows.erase(sql, account);
        // Last: a concurrent request does not wait for these row locks; it is refused because its session has ended.
        await this.sessions.eraseEnded(userId, sql);
        return isDisposed;
      });
    // The client cannot repeat the request, because its session has ended.
    return this.callsHost ? inTransaction() : repeatOnConflict(HOST_TIMEOUT_MS, inTransaction);
  }

  /** Whether the transaction runs code of the host, which must not run twice. */
  private get callsHost(): boolean {
    const { hooks, users } = this.realm.options;
    return !!hooks.deleteUser || !!users?.provider || !users?.entity || this.database.callsHost(users.entity);
  }

  /** Deletes the user, and returns whether it existed. */
  private async dispose(user: object, userId: string, manager: EntityManager): Promise<boolean> {
    const { guard, options } = this.realm;
    if (!options.hooks.deleteUser) return this.users.delete(userId, manager);
    await options.hooks.deleteUser(user, { guard, manager });
    return true;
  }

  /** Deletes rows that concurrent requests wrote after the first deletion: they could read the user until the commit. */
  private async sweepAgain(account: DeletedAccount): Promise<void> {
    try {
      await this.sessions.eraseAll(account.userId);
      await this.database.transaction((sql) => this.rows.erase(sql, account));
    } catch (error) {
      this.logger.error('an account was deleted, but rows of concurrent requests may remain', (error as Error).stack);
    }
  }
}
