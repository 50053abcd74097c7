import { Injectable } from '@nestjs/common';
import { isMissingTable } from '../kernel/database';
import { inBatches } from '../kernel/in-batches';
import { LockoutStore } from './lockout.store';

/** Sweeps the realm's lockout counters. */
@Injectable()
export class LapsedCounters {
  constructor(private readonly store: LockoutStore) {}

  /**
   * Deletes what counts no more, and resolves to how many rows that were; none without the table.
   *
   * @param days since the last failure after which an unlocked counter goes
   */
  async prune(days: number): Promise<number> {
    let [removed, after] = [0, ''];
    try {
      await inBatches(async () => {
        const swept = await this.store.prune(days, after);
        removed += swept.removed;
        after = swept.last ?? after;
        return swept.last !== null;
      });
    } catch (error) {
      if (!isMissingTable(error)) throw error;
    }
    return removed;
  }
}
