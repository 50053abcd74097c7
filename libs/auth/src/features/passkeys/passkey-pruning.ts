import { Injectable } from '@nestjs/common';
import { isMissing } from '../../foundation/platform/database';
import { callHost } from '../../foundation/platform/deadline';
import { type SweptPage, sweep } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { PasskeyStore } from './passkey.store';

/** Number of passkeys that one step of the sweep reads. */
const PAGE = 250;

/** Deletes the realm's passkeys whose user does not exist any more. */
@Injectable()
export class PasskeyPruning {
  constructor(
    private readonly store: PasskeyStore,
    private readonly users: UserProvider,
  ) {}

  /**
   * Deletes them, and resolves to the number of deleted rows; 0 when a table is missing, or when
   * `UserProvider.existingIds` cannot report which users exist.
   *
   * @throws StoreUnavailable if `UserProvider.existingIds` does not settle in time
   */
  prune(): Promise<number> {
    return sweep('', (after) => this.page(after), isMissing);
  }

  private async page(after: string): Promise<SweptPage<string>> {
    const page = await this.store.page(after, PAGE);
    const ids = [...new Set(page.map(({ userId }) => userId))];
    // A provider that never settles must not hold the lock of the pruning.
    const existing = ids.length ? await callHost('UserProvider.existingIds', () => this.users.existingIds(ids)) : null;
    if (!existing) return { removed: 0, next: null };
    const orphans = page.filter(({ userId }) => !existing.has(userId));
    return { removed: await this.store.removeAll(orphans.map(({ id }) => id)), next: page.at(-1)!.id };
  }
}
