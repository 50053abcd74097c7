import { AttemptGuard, FailureLimiter, FailureLimits } from './attempt-guard';
import type { Feature } from '../../foundation/realm/feature';
import { AccountLockout, NoLockout, PersistentLockout } from './lockout';
import { LockoutPruning, LockoutStore, LoginLocks } from './lockout.store';
import { LockRelease } from './lock-release';

// Also when the feature is off: rows from the time when it was on are still pruned.
const ALWAYS = [AttemptGuard, FailureLimiter, FailureLimits, LockoutStore, LockoutPruning, LockRelease, LoginLocks];

/** Lockout of accounts after consecutive failures, stored in the database. */
export const lockout: Feature = {
  flags: ['lockout'],
  providers: [...ALWAYS, { provide: AccountLockout, useClass: PersistentLockout }],
  whenOff: [...ALWAYS, { provide: AccountLockout, useClass: NoLockout }],
};
