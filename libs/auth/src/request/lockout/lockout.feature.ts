import { AccountLocks, AttemptGuard, FailureLimiter, FailureLimits } from './attempt-guard';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import type { ChangeSource } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { AccountLockout, LOCKOUT_EVENTS, LockRelease } from './lockout';
import { CreateSvcLockouts1763800000000, LockoutCounter } from './lockout.entity';
import { LOCKS_COMMAND } from './lockout.command';
import { LockoutStore, LoginLocks, erasedSubjects, lockedUserId } from './lockout.store';
import { LOCKOUT_OPTIONS } from './lockout.options';

/** A concurrent success may have released the lock when the mail is prepared. */
const informOnLock: ChangeSource = ({ get }, send) => {
  const [lockout, locks] = [get(AccountLockout), get(LoginLocks)];
  lockout.onLock((key) => {
    const owner = lockedUserId(key) ?? (locks.areBySpelling && (() => locks.ownerOf(key)));
    if (owner) send(owner, async () => (await lockout.secondsLocked(key)) > 0);
  });
};

/**
 * Lockout of accounts after consecutive failures, stored in the database. Without flags: another guard with the same users may
 * count failures, and the limits on failures are part of it.
 */
export const lockout = defineFeature('lockout', {
  languages: () => (require('./lockout.languages') as typeof import('./lockout.languages')).lockoutLanguages,
  options: LOCKOUT_OPTIONS,
  mails: { accountLocked: { ...CHANGE_MAIL, onceIn: 'hour' } },
  informs: { accountLocked: [informOnLock] },
  events: LOCKOUT_EVENTS,
  commands: { locks: LOCKS_COMMAND },
  providers: [
    AttemptGuard,
    FailureLimiter,
    FailureLimits,
    LockoutStore,
    LockRelease,
    LoginLocks,
    AccountLockout,
    AccountLocks,
  ],
  data: {
    entities: [{ entity: LockoutCounter, migration: CreateSvcLockouts1763800000000 }],
    erase: [{ entity: LockoutCounter, column: 'subject', values: erasedSubjects }],
    prune: {
      lockoutCounters: { title: 'lockout counters', run: (services, days) => services.get(LockoutStore).prune(days) },
    },
  },
});
