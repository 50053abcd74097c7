import type { LockPurpose } from './lock-key';

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
