import { Injectable } from '@nestjs/common';
import { normalizedIdentifier } from '../../identity/users/identifiers';
import { AccountLockout } from './lockout';
import { type LockKey, type LockPurpose, loginLock, userLock } from './lockout.store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Releases locks for an operator, who knows an account by its identifier. */
@Injectable()
export class LockRelease {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly users: TimedUserProvider,
  ) {}

  /**
   * Clears a counter, and resolves to what was cleared.
   *
   * @param subject for `login` the identifier; the user's id to the letter otherwise
   */
  async release(purpose: LockPurpose, subject: string): Promise<LockKey[]> {
    return this.lockout.release([purpose === 'login' ? await this.ofLogin(subject) : userLock(purpose, subject)]);
  }

  /** The identifier as it was given names an account before its normalized form does. */
  private async ofLogin(subject: string): Promise<LockKey> {
    const given = subject.trim();
    const found =
      (await this.users.findByIdentifier(given)) ?? (await this.users.findByIdentifier(normalizedIdentifier(given)));
    return loginLock(found && this.users.idOf(found.user), given);
  }
}
