import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Database } from '../../foundation/platform/database';
import { withTimeout } from '../../foundation/platform/deadline';
import { Unauthenticated } from '../../foundation/platform/errors';
import { unitOfWork } from '../../foundation/platform/host-transaction';
import { SerialQueue } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { Sessions } from '../sessions/sessions';
import { AccountDataStore, type DeletedAccount } from './account-rows.store';
import { AccountDeleted, AccountDeleting } from './account.events';

/**
 * Ends the sessions of an account before its deletion, and lets exactly one request continue: the one that ended its own
 * session. The database decides which request that is. All others are answered 401, because their session has ended.
 */
@Injectable()
export class DeletionClaims {
  /** The running deletions of this process by user. Other requests wait for the claim without a database connection. */
  private readonly claims = new Map<string, Promise<string | null>>();

  constructor(private readonly sessions: Sessions) {}

  /**
   * @param erase gets the caller's session; null when it has no row in this database (a co-issuer's session)
   * @throws Unauthenticated for all concurrent requests except one
   */
  async claimExclusive(caller: Caller, erase: (session: string | null) => Promise<void>): Promise<void> {
    const first = this.claims.get(caller.userId);
    if (first) {
      await first;
      throw new Unauthenticated(true);
    }
    const claim = this.claim(caller);
    this.claims.set(caller.userId, claim);
    try {
      await erase(await claim);
    } finally {
      this.claims.delete(caller.userId);
    }
  }

  private async claim({ userId, familyId }: Caller): Promise<string | null> {
    const ended = await this.sessions.endAll(userId, 'erased', familyId);
    // Another request has ended the session. A token without a session is not concerned.
    if (ended === null && familyId !== null) throw new Unauthenticated(true);
    return ended === 'own' ? familyId : null;
  }
}

/** Time limit in milliseconds of the listeners, and of the transaction: the host may have many rows to delete. */
const TIMEOUT_MS = 30_000;

/**
 * Deletes an account (`DELETE /account`). The sessions end first, and stay ended even if the deletion fails. Their rows
 * keep only the id, the guard and the time of the end. Then all other data is deleted in one transaction.
 */
@Injectable()
export class AccountDeletion {
  private readonly logger = new Logger('Auth');
  // One transaction at a time: the host's hook may need a second connection, also in a pool of two.
  private readonly serialQueue = new SerialQueue();

  constructor(
    private readonly users: UserProvider,
    private readonly claims: DeletionClaims,
    private readonly rows: AccountDataStore,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
    private readonly database: Database,
    private readonly realm: Realm,
  ) {}

  /**
   * @throws Unauthenticated when another request deletes the account
   * @throws every error of a listener of `AccountDeleting` or of `hooks.deleteUser`; the account is not deleted then
   */
  delete(caller: Caller): Promise<void> {
    const account = { userId: caller.userId, identifier: this.users.identifierOf(caller.user) };
    return this.claims.claimExclusive(caller, async (session) => {
      const { guard } = this.realm;
      // Before the transaction: listeners hold neither its locks nor its connection.
      const announced = this.events.announce(new AccountDeleting(caller.user, guard));
      await withTimeout('A listener of AccountDeleting', TIMEOUT_MS, announced);
      // Before the transaction and in pages, because a user may have any number of sessions.
      await this.sessions.eraseAll(account.userId, session);
      const erased = await this.serialQueue.run(() => this.eraseRows(caller.user, account, session));
      await this.sweepAgain(account);
      if (erased) this.events.emit(new AccountDeleted(account.userId, account.identifier, guard));
    });
  }

  private eraseRows(user: object, account: DeletedAccount, session: string | null): Promise<boolean> {
    return unitOfWork(this.database.source, TIMEOUT_MS, async (manager) => {
      const sql = <Row>(text: string, params?: unknown[]): Promise<Row[]> => manager.query(text, params);
      const { userId } = account;
      if (!(await this.rows.take(sql, account))) throw new Unauthenticated(true);
      // If another process has erased the account in the meantime, it has erased this session too. Of two concurrent
      // deletions, the one whose session ended last has erased the session row of the other one.
      if (session !== null && !(await this.sessions.belongsTo(userId, session, sql))) throw new Unauthenticated(true);
      await this.rows.erase(sql, account);
      const isDisposed = await this.dispose(user, userId, manager);
      // Last: a concurrent request does not wait for these row locks; it is refused because its session has ended.
      await this.sessions.eraseEnded(userId, sql);
      return isDisposed;
    });
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
