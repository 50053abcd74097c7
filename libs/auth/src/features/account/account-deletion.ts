import { Inject, Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Database } from '../../foundation/platform/database';
import { withTimeout } from '../../foundation/platform/deadline';
import { AuthConfigError, Unauthenticated } from '../../foundation/platform/errors';
import { unitOfWork } from '../../foundation/platform/host-transaction';
import { SerialQueue } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { Sessions } from '../sessions/sessions';
import { AccountRowsStore, type DeletedAccount } from './account-rows.store';
import { AccountDeleted, AccountDeleting } from './account.events';

/**
 * Ends the sessions of an account that is to be erased, and lets the one request go on that has ended the session it
 * came with. The database decides who that is. To every other its token is dead, and it is told so.
 */
@Injectable()
export class DeletionClaims {
  /** Erasures of this process by user: the others wait for its first step, without a connection. */
  private readonly claims = new Map<string, Promise<string | null>>();

  constructor(private readonly sessions: Sessions) {}

  /**
   * @param erase is told the caller's session; null where it has no row here, as a co-issuer's
   * @throws Unauthenticated for all but one
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
    // Another request was faster, unless the token names no session.
    if (ended === null && familyId !== null) throw new Unauthenticated(true);
    return ended === 'own' ? familyId : null;
  }
}

/** Milliseconds that listeners may take, and the transaction: the host may have years of rows to remove. */
const PATIENCE_MS = 30_000;

/**
 * `DELETE /account`. The sessions end first, and stay ended whatever follows; of their rows no more is left than that
 * they ended. Then everything else is deleted in one transaction.
 */
@Injectable()
export class AccountDeletion {
  private readonly logger = new Logger('Auth');
  // One transaction at a time: what the host does beside it must find a connection, in a pool of two as well.
  private readonly serialQueue = new SerialQueue();

  constructor(
    private readonly users: UserProvider,
    private readonly claims: DeletionClaims,
    private readonly rows: AccountRowsStore,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
    private readonly database: Database,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) { routes }: AuthConfig,
  ) {
    if (!routes || !realm.options.isDefault || realm.options.hooks.deleteUser || users.deletesAccounts()) return;
    throw new AuthConfigError(
      `features.accountDeletion is on, but the users of the guard "${realm.guard}" cannot be deleted. Implement ` +
        'deletesAccounts and delete in your UserProvider, set hooks.deleteUser, or switch the feature off.',
    );
  }

  /**
   * @throws Unauthenticated where another request erases the account
   * @throws whatever a listener of `AccountDeleting` or `hooks.deleteUser` throws; the account stays then
   */
  delete(caller: Caller): Promise<void> {
    const account = { userId: caller.userId, identifier: this.users.identifierOf(caller.user) };
    return this.claims.claimExclusive(caller, async (session) => {
      const { guard } = this.realm;
      // Before the transaction: listeners hold neither its locks nor its connection.
      const announced = this.events.announce(new AccountDeleting(caller.user, guard));
      await withTimeout('A listener of AccountDeleting', PATIENCE_MS, announced);
      // In pages, and so before the transaction: there may be any number of sessions.
      await this.sessions.eraseAll(account.userId, session);
      const erased = await this.serialQueue.run(() => this.eraseRows(caller.user, account, session));
      await this.sweepAgain(account);
      if (erased) this.events.emit(new AccountDeleted(account.userId, account.identifier, guard));
    });
  }

  private eraseRows(user: object, account: DeletedAccount, session: string | null): Promise<boolean> {
    return unitOfWork(this.database.source, PATIENCE_MS, async (manager) => {
      const sql = <Row>(text: string, params?: unknown[]): Promise<Row[]> => manager.query(text, params);
      const { userId } = account;
      if (!(await this.rows.take(sql, account))) throw new Unauthenticated(true);
      // Another process that has erased the account since has erased this session with it. Of two at work, the one whose
      // session ended last leaves no trace of the other's.
      if (session !== null && !(await this.sessions.belongsTo(userId, session, sql))) throw new Unauthenticated(true);
      await this.rows.erase(sql, account);
      const isDisposed = await this.dispose(user, userId, manager);
      // Last: who comes second waits for no row, and is told that its session is dead.
      await this.sessions.eraseEnded(userId, sql);
      return isDisposed;
    });
  }

  /** Whether there was someone left to remove. */
  private async dispose(user: object, userId: string, manager: EntityManager): Promise<boolean> {
    const { guard, options } = this.realm;
    if (!options.hooks.deleteUser) return this.users.delete(userId, manager);
    await options.hooks.deleteUser(user, { guard, manager });
    return true;
  }

  /** A request that was under way has found the user until the commit, and may have written of it after the first sweep. */
  private async sweepAgain(account: DeletedAccount): Promise<void> {
    try {
      await this.sessions.eraseAll(account.userId);
      await this.database.transaction((sql) => this.rows.erase(sql, account));
    } catch (error) {
      this.logger.error('an account is erased, but rows written meanwhile may be left', (error as Error).stack);
    }
  }
}
