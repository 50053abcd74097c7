import { Injectable } from '@nestjs/common';
import { foldedIdentifier } from '../../identity/users/identifiers';
import { AccountLockout } from './lockout';
import { type LockKey, type LockPurpose, type Released, mailLock, mailOf, userLock, LoginLocks } from './lockout.store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Releases locks for an operator, who specifies a login lock by the identifier of the account. */
@Injectable()
export class LockRelease {
  constructor(
    private readonly lockout: AccountLockout,
    private readonly users: TimedUserProvider,
    private readonly locks: LoginLocks,
  ) {}

  /**
   * Clears a counter, locked or not, and resolves to what was cleared.
   *
   * @param subject the identifier for `login`, otherwise the user's id, compared exactly
   */
  async release(purpose: LockPurpose, subject: string): Promise<Released[]> {
    return this.lockout.release(purpose === 'login' ? await this.ofLogin(subject) : [userLock(purpose, subject)]);
  }

  /**
   * Looks up the identifier as given first, and in lower case only if there is no such account. `mail:` and an address names
   * the counter of mailed codes, too.
   */
  private async ofLogin(subject: string): Promise<LockKey[]> {
    const given = subject.trim();
    const email = mailOf(given);
    const ofMail = email === null ? [] : [mailLock(email)];
    const found =
      (await this.users.findByIdentifier(given)) ?? (await this.users.findByIdentifier(foldedIdentifier(given)));
    return [...ofMail, ...(found ? this.locks.ofUser(found.user) : [this.locks.of(given, null)])];
  }
}
