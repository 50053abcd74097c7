import { AttemptGuard, FailureLimiter, FailureLimits } from './attempt-guard';
import type { Feature } from '../../foundation/realm/feature';
import { AccountLockout, NoLockout, PersistentLockout } from './lockout';
import { LockoutPruning, LockoutStore } from './lockout.store';
import { LockRelease } from './lock-release';

// On or off: rows from before the switch was turned off are still pruned.
const ALWAYS = [AttemptGuard, FailureLimiter, FailureLimits, LockoutStore, LockoutPruning, LockRelease];

/** Persistent lockout after consecutive failures. */
export const lockout: Feature = {
  flags: ['lockout'],
  providers: [...ALWAYS, { provide: AccountLockout, useClass: PersistentLockout }],
  whenOff: [...ALWAYS, { provide: AccountLockout, useClass: NoLockout }],
};
