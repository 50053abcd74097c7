import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { wholeNumber } from '../config/merge';
import { MOST_DAYS } from '../config/resolve-options';
import { LapsedCounters } from '../lockout/lapsed-counters';
import { OrphanedPasskeys } from '../passkeys/orphaned-passkeys';
import { ExpiredResets } from '../password-reset/expired-resets';
import { Realms } from '../realm/realm';
import { type ExpiredRows, ExpiredSessions } from '../sessions/expired-sessions';

/** What a sweep deleted. */
export interface Pruned extends ExpiredRows {
  lockoutCounters: number;
  passkeys: number;
  resetTokens: number;
}

/**
 * Sweeps rows that are of no more use: sessions past their deadline, lockout counters that count no more, passkeys
 * whose user is gone, and reset tokens that are too old. In small batches, so that any number of rows may be swept
 * beside running requests.
 *
 * @publicApi
 */
@Injectable()
export class Pruning {
  constructor(
    private readonly realms: Realms,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Runs one sweep over all guards.
   *
   * @param lockoutDays replaces `retention.lockoutDays`; at least 1
   */
  async run(lockoutDays = this.config.retention.lockoutDays): Promise<Pruned> {
    const expired = await this.realms.default.get(ExpiredSessions).prune();
    const resetTokens = await this.realms.default.get(ExpiredResets).prune();
    let [lockoutCounters, passkeys] = [0, 0];
    for (const realm of this.realms.all) {
      lockoutCounters += await realm
        .get(LapsedCounters)
        .prune(wholeNumber(lockoutDays, this.config.retention.lockoutDays, 1, MOST_DAYS));
      passkeys += await realm.get(OrphanedPasskeys).prune();
    }
    return { ...expired, lockoutCounters, passkeys, resetTokens };
  }
}
