import { AttemptGuard, FailureLimiter, FailureLimits } from './attempt-guard';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import type { ChangeSource } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { LOCKOUT_EVENTS, AccountLockout, NoLockout, PersistentLockout } from './lockout';
import { LockoutPruning, LockoutStore, LoginLocks, lockedUserId } from './lockout.store';
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

/** A concurrent success may have released the lock when the mail is prepared. */
const informOnLock: ChangeSource = ({ get }, send) => {
  const [lockout, locks] = [get(AccountLockout), get(LoginLocks)];
  lockout.onLock((key) => {
    const owner = lockedUserId(key) ?? (locks.areBySpelling && (() => locks.ownerOf(key)));
    if (owner) send(owner, async () => (await lockout.secondsLocked(key)) > 0);
  });
};

/** Lockout of accounts after consecutive failures, stored in the database. */
export const lockout = defineFeature('lockout', {
  flags: ['lockout'],
  languages: () => (require('./lockout.languages') as typeof import('./lockout.languages')).lockoutLanguages,
  options: LOCKOUT_OPTIONS,
  mails: { accountLocked: { ...CHANGE_MAIL, onceIn: 'hour' } },
  informs: { accountLocked: [informOnLock] },
  events: LOCKOUT_EVENTS,
  providers: ALWAYS,
  whenOff: ALWAYS,
});
