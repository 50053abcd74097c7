import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { wholeNumber } from '../../foundation/config/merge';
import { MOST_DAYS } from '../../foundation/config/option-table';
import { EmailChangeRows } from '../../features/email-change/email-change.store';
import { EmailDeliveries } from '../../features/email-verification/email-delivery.store';
import { LockoutPruning } from '../../request/lockout/lockout.store';
import { KnownDeviceStore } from '../../features/known-devices/known-device.store';
import { PasskeyPruning } from '../../features/passkeys/passkey-pruning';
import { ResetTokenPruning } from '../../features/password-reset/reset-token.store';
import { Realms } from '../../foundation/realm/realm';
import { TrustedDeviceStore } from '../../features/sessions/trusted-device.store';
import { SessionPruning } from '../../features/sessions/session-pruning';
import { Database } from '../../foundation/platform/database';
import { Session } from '../../identity/denylist/session.entity';
import { whileLocked } from './pruning-lock';

/** Numbers of deleted rows. */
export interface Pruned {
  sessions: number;
  lockoutCounters: number;
  passkeys: number;
  resetTokens: number;
  emailChanges: number;
  knownDevices: number;
  trustedDevices: number;
  emailDeliveries: number;
}

/**
 * Stages of a sweep failed, after the others have run. `errors` has an error for each of them, named in its message.
 *
 * @publicApi
 */
export class PruningFailed extends AggregateError {
  override readonly name = 'PruningFailed';

  /** @param pruned the numbers of the stages that passed for every guard */
  constructor(
    errors: readonly Error[],
    readonly pruned: Readonly<Partial<Pruned>>,
  ) {
    super(errors, errors.map(({ message }) => message).join('; '));
  }
}

/**
 * Deletes expired sessions, outdated lockout counters, passkeys and opened links of deleted users, expired reset tokens, changes of email and
 * trusted devices, and devices that are not known any more. Deletes in small batches, so that it can run beside requests with
 * any number of rows.
 *
 * @publicApi
 */
@Injectable()
export class Pruning {
  constructor(
    private readonly realms: Realms,
    private readonly database: Database,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Runs one sweep over all guards, unless another process is running one for the same tables and guards. The schedule
   * and `svc:prune` call it. @returns null if another process has the lock, an advisory lock of PostgreSQL
   *
   * @param lockoutDays as for {@link run}
   * @throws StoreUnavailable if the lock cannot be asked for; PruningFailed as {@link run} does
   */
  runUnlessActive(lockoutDays?: number): Promise<Pruned | null> {
    const guards = this.realms.all.map(({ realm }) => realm.guard).toSorted();
    const name = ['svc:prune', this.database.table(Session), ...guards].join(' ');
    return whileLocked(this.database.source, name, () => this.run(lockoutDays));
  }

  /**
   * Runs one sweep over all guards, without a lock. Concurrent runs are safe: they share the rows.
   *
   * If a stage fails, the other stages still run.
   *
   * @param lockoutDays replaces `retention.lockoutDays`; at least 1
   * @throws PruningFailed after the other stages have run
   */
  async run(lockoutDays = this.config.retention.lockoutDays): Promise<Pruned> {
    const pruned: Pruned = {
      sessions: 0,
      lockoutCounters: 0,
      passkeys: 0,
      resetTokens: 0,
      emailChanges: 0,
      knownDevices: 0,
      trustedDevices: 0,
      emailDeliveries: 0,
    };
    const errors: Error[] = [];
    const failed = new Set<keyof Pruned>();
    const stage = async (name: keyof Pruned, prune: () => Promise<number>): Promise<void> => {
      try {
        pruned[name] += await prune();
      } catch (error) {
        failed.add(name);
        errors.push(new Error(`${name}: ${(error as Error).message}`, { cause: error }));
      }
    };
    const days = wholeNumber(lockoutDays, this.config.retention.lockoutDays, 1, MOST_DAYS);
    await stage('sessions', () => this.realms.default.get(SessionPruning).prune());
    await stage('resetTokens', () => this.realms.default.get(ResetTokenPruning).prune());
    await stage('emailChanges', () => this.realms.default.get(EmailChangeRows).prune());
    for (const realm of this.realms.all) {
      await stage('lockoutCounters', () => realm.get(LockoutPruning).prune(days));
      await stage('passkeys', () => realm.get(PasskeyPruning).prune());
      await stage('knownDevices', () => realm.get(KnownDeviceStore).prune());
      await stage('trustedDevices', () => realm.get(TrustedDeviceStore).prune());
      await stage('emailDeliveries', () => realm.get(EmailDeliveries).prune());
    }
    for (const name of failed) delete (pruned as Partial<Pruned>)[name];
    if (errors.length) throw new PruningFailed(errors, pruned);
    return pruned;
  }
}
