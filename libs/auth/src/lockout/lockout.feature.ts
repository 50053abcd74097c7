import type { Feature } from '../realm/feature';
import { AccountLockout, NoLockout } from './account-lockout';
import { LapsedCounters } from './lapsed-counters';
import { LockoutStore } from './lockout.store';
import { Releases } from './releases';
import { PersistentLockout } from './persistent-lockout';

// On or off: rows from before the switch was turned off are still pruned.
const ALWAYS = [LockoutStore, LapsedCounters, Releases];

/** Persistent lockout after consecutive failures. */
export const lockout: Feature = {
  flags: ['lockout'],
  providers: [...ALWAYS, { provide: AccountLockout, useClass: PersistentLockout }],
  whenOff: [...ALWAYS, { provide: AccountLockout, useClass: NoLockout }],
};
