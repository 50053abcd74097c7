import { Injectable, Logger } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { isMissingTable } from '../../foundation/platform/database';
import { isInconclusive } from '../../foundation/platform/deadline';
import { AuthException } from '../../foundation/platform/errors';
import type { Text } from '../../foundation/platform/messages';
import { Realm } from '../../foundation/realm/realm';
import { secondsHeld } from './lockout.policy';
import { type LockKey, type LockPurpose, LockoutStore, type Reserved } from './lockout.store';

/**
 * Locks an account after too many failures in a row. Every attempt is reserved before it is verified, so
 * however many run at once, no more than `lockout.maxAttempts` are ever verified.
 */
export abstract class AccountLockout {
  /** Refuses what is locked. Writes nothing. @throws AccountIsLocked under `field` */
  abstract refuseLocked(key: LockKey, field: string): Promise<void>;

  /**
   * Reserves an attempt, then runs `verify`, which resolves to null for a wrong secret. A success releases
   * nothing by itself: see {@link release}. @throws AccountIsLocked under `field`, without verifying
   */
  abstract attempt<T>(key: LockKey, field: string, verify: () => Promise<T | null>): Promise<T | null>;

  /** Clears counters, and resolves to those that existed. */
  abstract release(keys: readonly LockKey[]): Promise<LockKey[]>;
}

/** Stands in when `features.lockout` is off. */
@Injectable()
export class NoLockout extends AccountLockout {
  async refuseLocked(): Promise<void> {}

  attempt<T>(_key: LockKey, _field: string, verify: () => Promise<T | null>): Promise<T | null> {
    return verify();
  }

  async release(): Promise<LockKey[]> {
    return [];
  }
}

/** Too many failures in a row: 423 under the field of the endpoint, the same for an account that does not exist. */
export class AccountIsLocked extends AuthException {
  /**
   * @param field the request field that is refused
   * @param seconds how long the lock still holds; Infinity until someone releases it
   */
  constructor(field: string, seconds: number) {
    const text: Text = Number.isFinite(seconds)
      ? { key: 'auth.locked_for', params: { seconds } }
      : { key: 'auth.locked' };
    super('account_locked', { status: 423, errors: { [field]: [text] } });
  }
}

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
      if (isInconclusive(error)) await this.giveBack(key);
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
      await this.store.returnAttempt(key);
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

/**
 * A run of failures reached `lockout.maxAttempts`. Emitted once per lock, when the last attempt of the run
 * is reserved, and not at all if the database answers that too late; should that one succeed, {@link AccountReleased} follows.
 *
 * The owner gets no other signal, so this is the place to write to them. `subject` is a counter's key and
 * may name no account at all: resolve it before addressing anyone.
 *
 * @publicApi
 */
export class AccountLocked {
  constructor(
    readonly purpose: LockPurpose,
    /** `id:{user id}` or `idn:{identifier}` for logins, the user's id otherwise. */
    readonly subject: string,
    readonly guard: string,
  ) {}
}

/**
 * A counter of failures was cleared: by success, by a change of password, or by an operator. Every
 * successful login emits it, since each one was counted before it was verified.
 *
 * @publicApi
 */
export class AccountReleased {
  constructor(
    readonly purpose: LockPurpose,
    readonly subject: string,
    readonly guard: string,
  ) {}
}
