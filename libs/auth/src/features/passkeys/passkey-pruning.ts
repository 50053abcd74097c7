import { Injectable } from '@nestjs/common';
import { isMissing } from '../../foundation/platform/database';
import { inBatches } from '../../foundation/platform/sweep';
import { UserProvider } from '../../foundation/ports/user-provider';
import { PasskeyStore } from './passkey.store';

/** Passkeys that one step of the sweep looks at. */
const PAGE = 250;

/** Sweeps the realm's passkeys whose user is no longer there. */
@Injectable()
export class PasskeyPruning {
  constructor(
    private readonly store: PasskeyStore,
    private readonly users: UserProvider,
  ) {}

  /** Deletes them, and resolves to how many there were; none where a table is missing, or nobody can say who is there. */
  async prune(): Promise<number> {
    let [removed, after] = [0, ''];
    try {
      await inBatches(async () => {
        const page = await this.store.page(after, PAGE);
        const present = page.length ? await this.users.present([...new Set(page.map(({ userId }) => userId))]) : null;
        if (!present) return false;
        const orphans = page.filter(({ userId }) => !present.has(userId));
        removed += await this.store.removeAll(orphans.map(({ id }) => id));
        after = page.at(-1)!.id;
        return true;
      });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return removed;
  }
}
