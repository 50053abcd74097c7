import type { Feature } from '../realm/feature';
import { AccountLockout, NoLockout } from './account-lockout';
import { LapsedCounters } from './lapsed-counters';
import { LockoutStore } from './lockout.store';
import { Releases } from './releases';
import { PersistentLockout } from './persistent-lockout';

/** Persistent lockout after consecutive failures. */
export const lockout: Feature = {
  flag: 'lockout',
  providers: [LockoutStore, LapsedCounters, Releases, { provide: AccountLockout, useClass: PersistentLockout }],
  // The store stays: rows from before the switch was turned off are still pruned.
  whenOff: [LockoutStore, LapsedCounters, Releases, { provide: AccountLockout, useClass: NoLockout }],
};
