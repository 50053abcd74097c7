import { Injectable } from '@nestjs/common';
import { deadline, identity, pg, session } from '../../kit';
import { NO_USER, PasskeyStore } from './passkey.store';

/** Number of passkeys that one step of the sweep reads. */
const PAGE = 250;

/**
 * Deletes the realm's passkeys whose user does not exist any more. With `registration.concealExisting`, a row that only occupies
 * an id is deleted after the same time as the passkey of a new account whose address was never proved, which cannot sign in.
 * Otherwise its absence would show that the address was taken.
 */
@Injectable()
export class PasskeyPruning {
  constructor(
    private readonly store: PasskeyStore,
    private readonly users: identity.UserProvider,
    private readonly unverified: session.UnverifiedBlock,
  ) {}

  /**
   * Deletes them, and resolves to the number of deleted rows; 0 when a table is missing. No passkey of a deleted user is deleted
   * when `UserProvider.existingIds` cannot report which users exist.
   *
   * @throws StoreUnavailable if `UserProvider.existingIds` does not settle in time
   */
  prune(): Promise<number> {
    return pg.sweep('', (after) => this.page(after), pg.isMissing);
  }

  private async page(after: string): Promise<pg.SweptPage<string>> {
    const page = await this.store.page(after, PAGE);
    const passkeys = page.filter(({ userId }) => userId !== NO_USER);
    const ids = [...new Set(passkeys.map(({ userId }) => userId))];
    // A provider that never settles must not hold the lock of the pruning.
    const existing = ids.length
      ? await deadline.callHost('UserProvider.existingIds', () => this.users.existingIds(ids))
      : null;
    const outdated: string[] = [];
    for (const { id, userId, isUnused } of page) {
      const isOrphan = userId !== NO_USER && existing !== null && !existing.has(userId);
      if (isOrphan || (isUnused && (userId === NO_USER || (await this.isConcealed(userId))))) outdated.push(id);
    }
    return { removed: await this.store.removeAll(outdated), next: page.at(-1)?.id ?? null };
  }

  private async isConcealed(userId: string): Promise<boolean> {
    const user = await deadline.callHost('UserProvider.findById', () => this.users.findById(userId));
    return user !== null && this.unverified.isConcealed(user);
  }
}
