import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { AuthConfigError } from '../kernel/auth.exception';
import { AuthEvents } from '../kernel/auth-events';
import { cleanUp } from '../kernel/clean-up';
import { Database } from '../kernel/database';
import { unitOfWork } from '../kernel/unit-of-work';
import { Realm } from '../realm/realm';
import { Sessions } from '../sessions/sessions';
import type { Caller } from '../tokens/caller';
import { UserProvider } from '../users/user-provider';
import { AccountDeleted } from './account-deleted.event';
import { AccountDeleting } from './account-deleting.event';
import { AccountRowsStore } from './account-rows.store';

/** Milliseconds an erasure may take: the host may have years of rows to remove. */
const PATIENCE_MS = 30_000;

/**
 * `DELETE /account`. The sessions end first, and stay ended whatever follows; then everything is deleted in one
 * transaction, so that an account is there as a whole or not at all.
 */
@Injectable()
export class Erasure {
  constructor(
    private readonly users: UserProvider,
    private readonly sessions: Sessions,
    private readonly rows: AccountRowsStore,
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

  /** @throws whatever a listener of `AccountDeleting` or `hooks.deleteUser` throws; the account stays then */
  async erase({ user, userId }: Caller): Promise<void> {
    const { guard } = this.realm;
    const identifier = this.users.identifierOf(user);
    await this.sessions.revokeAll(userId);
    const erased = await unitOfWork(this.database.source, PATIENCE_MS, async (manager) => {
      await this.events.announce(new AccountDeleting(user, guard));
      await this.rows.erase((text, params) => manager.query(text, params), userId, identifier);
      return this.dispose(user, userId, manager);
    });
    if (!erased) return;
    this.events.emit(new AccountDeleted(userId, identifier, guard));
    // What was begun before the commit saw the account still, and was not seen by the transaction.
    await cleanUp('erasing what came late', this.rows.erase(this.database.query, userId, identifier));
  }

  /** Whether there was someone left to remove: of two requests at once, one has. */
  private async dispose(user: object, userId: string, manager: EntityManager): Promise<boolean> {
    const { guard, options } = this.realm;
    if (!options.hooks.deleteUser) return this.users.delete(userId, manager);
    await options.hooks.deleteUser(user, { guard, manager });
    return true;
  }
}
