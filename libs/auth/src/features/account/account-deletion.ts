import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { Realm, type data, deadline, errors, event, identity, locking, pg, session } from '../../kit';
import { AccountDataStore } from './account-data';
import { AccountDeleted, AccountDeleting } from './account.events';

const RETRY_AFTER_SECONDS = 5;

/**
 * Other accounts are being deleted, and a second was not enough; or another request for this account has failed. 503 with
 * `Retry-After`: the session of the request is live, so the client can repeat it.
 */
export class DeletionBusy extends errors.ServerBusy {
  constructor(seconds = RETRY_AFTER_SECONDS) {
    super('deletion_busy', seconds);
  }
}

/** Number of deletions that a process runs at the same time, and the longest wait for one of these places, or for another node. */
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

const placesOf = new WeakMap<DataSource, pg.Places>();

/**
 * The places for deletions on a data source, for all guards. A deletion has a connection for its transaction, and the
 * host's hook may need another one: one connection of the pool is not used for transactions of deletions.
 */
function placesFor(source: DataSource): pg.Places {
  const { max = POOL_SIZE } = (source.driver as { master?: { options?: { max?: number } } }).master?.options ?? {};
  const known =
    placesOf.get(source) ??
    new pg.Places(Math.max(1, Math.min(AT_ONCE, max - 1)), MAX_WAIT_MS, () => new DeletionBusy());
  placesOf.set(source, known);
  return known;
}

/** Runs one deletion of an account at a time in this process. Between processes, the transaction decides. */
@Injectable()
export class DeletionClaims {
  /** The running deletions by user. Other requests wait for them without a database connection. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly sessions: session.Sessions,
    private readonly database: pg.Database,
  ) {}

  /**
   * @param erase gets a function that runs work without a place
   * @throws for all concurrent requests except the first one: Unauthenticated if that one deletes the account, otherwise
   * DeletionBusy, because they can be repeated. DeletionBusy also if there is no place
   */
  async exclusive(caller: identity.Caller, erase: (withoutPlace: WithoutPlace) => Promise<void>): Promise<void> {
    const { userId } = caller;
    const first = this.running.get(userId);
    if (first) {
      const isDeleted = await first.then(
        () => true,
        () => false,
      );
      if (isDeleted) throw new errors.Unauthenticated(true);
      await this.sessions.requireAlive(caller);
      throw new DeletionBusy();
    }
    const run = this.inPlace(erase);
    this.running.set(userId, run);
    try {
      await run;
    } finally {
      this.running.delete(userId);
    }
  }

  private async inPlace(erase: (withoutPlace: WithoutPlace) => Promise<void>): Promise<void> {
    const places = placesFor(this.database.source);
    const noPlace = (): void => undefined;
    // Before any session ends: a request that finds no place has changed nothing.
    let giveBack = await places.take();
    try {
      await erase(async (work) => {
        const done = work();
        const isSlow = await Promise.race([done.then(() => false), sleep(MAX_LISTENER_MS, true, { ref: false })]);
        if (!isSlow) return;
        giveBack();
        giveBack = noPlace;
        await done;
        // Without a limit, because the other sessions have ended: the deletion must not be refused any more.
        giveBack = await places.takeAgain();
      });
    } finally {
      giveBack();
    }
  }
}

/** Sessions that were live until their account was deleted. */
interface EndedAtGuard {
  readonly erasure: session.SessionErasure;
  readonly rows: readonly session.EndedRow[];
}

/**
 * Deletes an account (`DELETE /account`), with its data at every guard of the source. The other sessions of this guard end first,
 * and stay ended even if the deletion fails. The session of the request, and those of the other guards, end in the transaction
 * that deletes all other data: the client can repeat a request that failed, and of two deletions at two guards one succeeds. The
 * rows of sessions keep only the id, the guard and the time of the end.
 */
@Injectable()
export class AccountDeletion {
  private readonly listeners: ((user: object) => void)[] = [];

  constructor(
    private readonly users: identity.UserProvider,
    private readonly timedUsers: identity.TimedUserProvider,
    private readonly claims: DeletionClaims,
    private readonly rows: AccountDataStore,
    private readonly accounts: session.Accounts,
    private readonly sessions: session.Sessions,
    private readonly erasure: session.SessionErasure,
    private readonly events: event.AuthEvents,
    private readonly database: pg.Database,
    private readonly realm: Realm,
  ) {}

  /**
   * Calls `listener` with the user as it was before, after the commit of its deletion. It is not in {@link AccountDeleted}, because
   * a listener of the host may keep an event.
   */
  onDeleted(listener: (user: object) => void): void {
    this.listeners.push(listener);
  }

  /**
   * @throws Unauthenticated when another request has deleted the account, or deletes it with another session
   * @throws DeletionBusy if the request can be repeated: there is no place, or another request has not deleted the account yet
   * @throws every error of a listener of `AccountDeleting` or of `hooks.deleteUser`; the account is not deleted then
   */
  delete(caller: identity.Caller): Promise<void> {
    const { userId, user } = caller;
    const identifier = this.users.identifierOf(user);
    return this.claims.exclusive(caller, async (withoutPlace) => {
      const { guard } = this.realm;
      const spellings = await Promise.all(
        this.accounts.services(locking.LoginLocks).map((locks) => locks.erasedSpellingOf(userId)),
      );
      const account = { userId, identifier, spellings, email: this.timedUsers.emailOf(user) };
      for (const sessions of this.accounts.services(session.Sessions)) await sessions.endBegun('erased', userId);
      // At this guard only. A session of another guard may delete the account at the same time, and the transaction decides.
      await this.erasure.endForDeletion(caller);
      // Before the transaction: listeners hold neither its locks nor its connection.
      const announce = () => this.events.announce(new AccountDeleting(caller.user, guard));
      await withoutPlace(() => deadline.callHost('a listener of AccountDeleting', announce));
      // Before the transaction and in pages, because a user may have any number of sessions.
      for (const erasure of this.accounts.services(session.SessionErasure)) await erasure.eraseEnded(account.userId);
      const { isDeleted, ended } = await deadline.RequestScope.detached(() => this.eraseRows(caller, account));
      await this.logged('services that only verify tokens may accept the last access token until it expires', () =>
        this.denyErased(caller, ended),
      );
      await this.logged('rows of concurrent requests may remain', () => this.sweepAgain(account));
      if (!isDeleted) return;
      this.events.emit(new AccountDeleted(account.userId, account.identifier, guard));
      for (const listener of this.listeners) listener(caller.user);
    });
  }

  private async eraseRows(
    caller: identity.Caller,
    account: data.DeletedAccount,
  ): Promise<{ isDeleted: boolean; ended: EndedAtGuard[] }> {
    const { callsHost } = this;
    let ended: EndedAtGuard[] = [];
    const attempt = (): Promise<boolean> =>
      this.inTransaction(account, async (sql, manager) => {
        // Another deletion, for which this transaction has waited, may have ended the session. The row is not locked: the code
        // of the host may end sessions.
        await this.sessions.requireAlive(caller, sql, false);
        // Code of the host may take long, and may use this lock.
        if (!callsHost) await this.accounts.lock(sql, account.userId);
        // The order of the locks is that of every transaction: the user, its sessions, its other rows. So a row that another
        // transaction inserts is deleted below.
        const isDeleted = await this.dispose(caller.user, account.userId, manager);
        ended = await this.eraseRest(caller, sql);
        await this.rows.erase(sql, account);
        return isDeleted;
      });
    try {
      // Code of the host must not run twice.
      return {
        isDeleted: await (callsHost ? attempt() : deadline.repeatOnConflict(deadline.HOST_TIMEOUT_MS, attempt)),
        ended,
      };
    } catch (error) {
      if (!(error instanceof errors.StoreUnavailable) || !(await this.isGone(account))) throw error;
      const more = await deadline.repeatWhileUnavailable(() =>
        this.inTransaction(account, async (sql) => {
          const rest = await this.eraseRest(caller, sql);
          await this.rows.erase(sql, account);
          return rest;
        }),
      );
      return { isDeleted: true, ended: [...ended, ...more] };
    }
  }

  /** Ends and erases the sessions at every guard, as part of the transaction. Returns those that were live. */
  private async eraseRest({ userId, familyId }: identity.Caller, sql: pg.Sql): Promise<EndedAtGuard[]> {
    const ended: EndedAtGuard[] = [];
    for (const erasure of this.accounts.services(session.SessionErasure)) {
      const own = erasure === this.erasure ? familyId : null;
      ended.push({ erasure, rows: await erasure.eraseRest({ userId, familyId: own }, sql) });
    }
    return ended;
  }

  private async denyErased({ familyId }: identity.Caller, ended: readonly EndedAtGuard[]): Promise<void> {
    for (const erasure of this.accounts.services(session.SessionErasure)) {
      const rows = ended.filter((one) => one.erasure === erasure).flatMap((one) => one.rows);
      const own = erasure === this.erasure ? familyId : null;
      await erasure.denyErased({ familyId: own }, [...new Map(rows.map((row) => [row.id, row])).values()]);
    }
  }

  /** Runs the transaction of a deletion. One at a time for an account. The host may have many rows to delete. */
  private inTransaction<T>(
    account: data.DeletedAccount,
    work: (sql: pg.Sql, manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    return pg.unitOfWork(this.database.source, deadline.HOST_TIMEOUT_MS, async (sql, manager) => {
      if (!(await this.rows.lock(sql, account, MAX_WAIT_MS))) throw new DeletionBusy();
      return work(sql, manager);
    });
  }

  /**
   * Whether a failed transaction has deleted the user: the answer to its commit was lost, or the users are in another
   * database. The client cannot repeat the request then.
   */
  private isGone(account: data.DeletedAccount): Promise<boolean> {
    return deadline.repeatWhileUnavailable(async () => {
      // Waits for the end of the failed transaction, whose connection may be lost.
      await this.inTransaction(account, async () => undefined);
      return (await this.timedUsers.findById(account.userId)) === null;
    });
  }

  /** Whether the transaction runs code of the host, which must not run twice. */
  private get callsHost(): boolean {
    const { hooks, users } = this.realm.options;
    return !!hooks.deleteUser || !!users?.provider || !users?.entity || this.database.callsHost(users.entity);
  }

  /** Deletes the user, and returns whether it existed. */
  private async dispose(user: object, userId: string, manager: EntityManager): Promise<boolean> {
    const { guard, options } = this.realm;
    if (!options.hooks.deleteUser) return this.users.delete!(userId, manager);
    await options.hooks.deleteUser(user, { guard, manager });
    return true;
  }

  /** Deletes rows that concurrent requests wrote after the first deletion: they could read the user until the commit. */
  private async sweepAgain(account: data.DeletedAccount): Promise<void> {
    for (const erasure of this.accounts.services(session.SessionErasure)) await erasure.eraseAll(account.userId);
    // Without a transaction: each statement has the whole time limit, and can be repeated.
    await deadline.repeatWhileUnavailable(() => this.rows.erase(this.database.query, account));
  }

  /** Runs work after the commit, if need be after the response. An error cannot undo the deletion, and is only logged. */
  private logged(consequence: string, work: () => Promise<void>): Promise<void> {
    // The work repeats itself while a store is unavailable.
    return deadline.bestEffort(`an account was deleted, but ${consequence}: the cleanup`, work, 0);
  }
}
