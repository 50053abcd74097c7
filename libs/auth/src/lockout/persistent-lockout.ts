import { Injectable, Logger } from '@nestjs/common';
import { AuthEvents } from '../kernel/auth-events';
import { isMissingTable } from '../kernel/database';
import { isUndecided } from '../kernel/unavailable';
import { Realm } from '../realm/realm';
import { AccountIsLocked } from './account-is-locked.exception';
import { AccountLocked } from './account-locked.event';
import { AccountLockout } from './account-lockout';
import { AccountReleased } from './account-released.event';
import type { LockKey } from './lock-key';
import { secondsHeld } from './lockout.policy';
import { type Reserved, LockoutStore } from './lockout.store';

/** Counts in the database. Without its table, before the migration ran, it locks nobody. */
@Injectable()
export class PersistentLockout extends AccountLockout {
  private readonly logger = new Logger('Auth');
  private reported = false;

  constructor(
    private readonly store: LockoutStore,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {
    super();
  }

  async refuseLocked(key: LockKey, field: string): Promise<void> {
    if (!key.subject) return;
    const lock = await this.unlessMissing(this.store.find(key), null);
    const seconds = lock ? secondsHeld(lock, this.realm.options.lockout.releaseAfter) : 0;
    if (seconds > 0) throw new AccountIsLocked(field, seconds);
  }

  async attempt<T>(key: LockKey, field: string, verify: () => Promise<T | null>): Promise<T | null> {
    if (!key.subject) return verify();
    await this.reserve(key, field);
    try {
      return await verify();
    } catch (error) {
      if (isUndecided(error)) await this.giveBack(key);
      throw error;
    }
  }

  async release(keys: readonly LockKey[]): Promise<LockKey[]> {
    const counted = keys.filter(({ subject }) => subject);
    const released = await this.unlessMissing(this.store.remove(counted), []);
    for (const { purpose, subject } of released) {
      this.events.emit(new AccountReleased(purpose, subject, this.realm.guard));
    }
    return released;
  }

  private async reserve(key: LockKey, field: string): Promise<void> {
    const reserved = await this.unlessMissing<Reserved | null>(this.store.reserve(key), UNCOUNTED);
    if (reserved?.locks) this.events.emit(new AccountLocked(key.purpose, key.subject, this.realm.guard));
    if (reserved && reserved.attempts <= this.realm.options.lockout.maxAttempts) return;
    await this.refuseLocked(key, field);
    // Released between the two statements: the attempt counts in the new run.
    await this.reserve(key, field);
  }

  private async giveBack(key: LockKey): Promise<void> {
    try {
      await this.store.giveBack(key);
    } catch (error) {
      this.logger.warn(`an attempt that was not verified stays counted: ${(error as Error).message}`);
    }
  }

  private async unlessMissing<T>(answer: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!isMissingTable(error)) throw error;
      if (!this.reported) {
        this.logger.error('features.lockout is on, but its table is missing: nobody is locked. Run the migrations.');
      }
      this.reported = true;
      return otherwise;
    }
  }
}

const UNCOUNTED: Reserved = { attempts: 0, locks: false };
