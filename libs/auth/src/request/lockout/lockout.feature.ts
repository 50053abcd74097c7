import { AttemptGuard, FailureLimiter, FailureLimits } from './attempt-guard';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { defineFeature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { LOCKOUT_EVENTS, AccountLockout, NoLockout, PersistentLockout } from './lockout';
import { LockoutPruning, LockoutStore, LoginLocks } from './lockout.store';
import { LockRelease } from './lock-release';
import { LOCKOUT_OPTIONS } from './lockout.options';

// Also when the feature is off: rows from the time when it was on are still pruned, and another guard may have the same users.
const ALWAYS = [
  AttemptGuard,
  FailureLimiter,
  FailureLimits,
  LockoutStore,
  LockoutPruning,
  LockRelease,
  LoginLocks,
  {
    provide: AccountLockout,
    inject: [LockoutStore, AuthEvents, Realm],
    useFactory: (store: LockoutStore, events: AuthEvents, realm: Realm) =>
      store.isUsed ? new PersistentLockout(store, events, realm) : new NoLockout(),
  },
];

/** Lockout of accounts after consecutive failures, stored in the database. */
export const lockout = defineFeature('lockout', {
  flags: ['lockout'],
  options: LOCKOUT_OPTIONS,
  events: LOCKOUT_EVENTS,
  providers: ALWAYS,
  whenOff: ALWAYS,
});
