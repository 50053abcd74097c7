/** Attempts with a secret: their failures are counted, and lock the account. */
export {
  AttemptGuard,
  FailureLimiter,
  FailureLimits,
  type GuardedAttempt,
  afterProof,
} from '../request/lockout/attempt-guard';
export {
  type LockKey,
  LoginLocks,
  USER_PURPOSES,
  lockedUserId,
  mailLock,
  userLock,
} from '../request/lockout/lockout.store';
export { AccountLockout } from '../request/lockout/lockout';
