import { Injectable } from '@nestjs/common';
import type { LockKey } from './lock-key';

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
