import type { LockPurpose } from './lock-key';

/**
 * A run of failures reached `lockout.maxAttempts`. Emitted once per lock, when the last attempt of the run
 * is reserved, and not at all if the database answers that too late; should that one succeed, {@link AccountReleased} follows.
 *
 * The owner gets no other signal, so this is the place to write to them. `subject` is a counter's key and
 * may name no account at all: resolve it before addressing anyone.
 *
 * @publicApi
 */
export class AccountLocked {
  constructor(
    readonly purpose: LockPurpose,
    /** `id:{user id}` or `idn:{identifier}` for logins, the user's id otherwise. */
    readonly subject: string,
    readonly guard: string,
  ) {}
}

/**
 * A counter of failures was cleared: by success, by a change of password, or by an operator. Every
 * successful login emits it, since each one was counted before it was verified.
 *
 * @publicApi
 */
export class AccountReleased {
  constructor(
    readonly purpose: LockPurpose,
    readonly subject: string,
    readonly guard: string,
  ) {}
}
