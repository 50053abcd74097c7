import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { wholeNumber } from '../../foundation/config/merge';
import { MOST_DAYS } from '../../foundation/config/resolve-options';
import { LockoutPruning } from '../../request/lockout/lockout.store';
import { PasskeyPruning } from '../../features/passkeys/passkey-pruning';
import { ResetTokenPruning } from '../../features/password-reset/reset-token.store';
import { Realms } from '../../foundation/realm/realm';
import { SessionPruning } from '../../features/sessions/session-pruning';

/** Numbers of deleted rows. */
export interface Pruned {
  sessions: number;
  lockoutCounters: number;
  passkeys: number;
  resetTokens: number;
}

/**
 * Deletes expired sessions, outdated lockout counters, passkeys of deleted users, and expired reset tokens. Deletes in
 * small batches, so that it can run beside requests with any number of rows.
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
   * If a stage fails, the other stages still run.
   *
   * @param lockoutDays replaces `retention.lockoutDays`; at least 1
   * @throws AggregateError with an error for each stage that failed, named in its message, after the others have run
   */
  async run(lockoutDays = this.config.retention.lockoutDays): Promise<Pruned> {
    const pruned: Pruned = { sessions: 0, lockoutCounters: 0, passkeys: 0, resetTokens: 0 };
    const errors: Error[] = [];
    const stage = async (name: keyof Pruned, prune: () => Promise<number>): Promise<void> => {
      try {
        pruned[name] += await prune();
      } catch (error) {
        errors.push(new Error(`${name}: ${(error as Error).message}`, { cause: error }));
      }
    };
    const days = wholeNumber(lockoutDays, this.config.retention.lockoutDays, 1, MOST_DAYS);
    await stage('sessions', () => this.realms.default.get(SessionPruning).prune());
    await stage('resetTokens', () => this.realms.default.get(ResetTokenPruning).prune());
    for (const realm of this.realms.all) {
      await stage('lockoutCounters', () => realm.get(LockoutPruning).prune(days));
      await stage('passkeys', () => realm.get(PasskeyPruning).prune());
    }
    if (errors.length) throw new AggregateError(errors, errors.map(({ message }) => message).join('; '));
    return pruned;
  }
}
