import type { Feature } from '../../foundation/realm/feature';
import { AccountLockout, NoLockout } from './lockout';
import { LapsedCounters } from './lockout.store';
import { LockoutStore } from './lockout.store';
import { Releases } from './lock-release';
import { PersistentLockout } from './lockout';

// On or off: rows from before the switch was turned off are still pruned.
const ALWAYS = [LockoutStore, LapsedCounters, Releases];

/** Persistent lockout after consecutive failures. */
export const lockout: Feature = {
  flags: ['lockout'],
  providers: [...ALWAYS, { provide: AccountLockout, useClass: PersistentLockout }],
  whenOff: [...ALWAYS, { provide: AccountLockout, useClass: NoLockout }],
};
