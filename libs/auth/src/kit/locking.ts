/** Attempts with a secret: their failures are counted, and lock the account. */
export {
  AccountLocks,
  AttemptGuard,
  FailureLimiter,
  FailureLimits,
  type GuardedAttempt,
  type ShownLimit,
  type ShownLock,
  afterProof,
} from '../request/lockout/attempt-guard';
export { type LockKey, LoginLocks, lockedUserId, mailLock, userLock } from '../request/lockout/lockout.store';
export { AccountLockout } from '../request/lockout/lockout';
