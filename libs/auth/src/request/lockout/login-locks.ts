import { Injectable } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { type LockKey, loginLock, spellingIn } from './lockout.store';

/**
 * Names the counters of failed logins, for the lock and for the limits.
 *
 * With `registration.concealExisting` every identifier is counted by its spelling, whether or not it has an account. Otherwise
 * the counter would move when an account is created, verified or deleted, and the next answer would show it: 422 where
 * 429 or 423 was due.
 */
@Injectable()
export class LoginLocks {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {}

  /**
   * The counter of a login with an identifier.
   *
   * @param userId the account that the identifier names; null for none
   */
  of(identifier: string, userId: string | null): LockKey {
    return loginLock(this.areBySpelling ? null : userId, this.users.spellingOf(identifier));
  }

  /** The counters of a user, which a success clears: by its id, and by its identifier where that is counted. */
  ofUser(user: object): LockKey[] {
    const byId = loginLock(this.users.idOf(user), '');
    return this.areBySpelling ? [byId, this.of(this.users.identifierOf(user) ?? '', null)] : [byId];
  }

  /** The counters of the user with an id. @throws StoreUnavailable */
  async ofUserId(userId: string): Promise<LockKey[]> {
    const user = this.areBySpelling ? await this.users.findById(userId) : null;
    return user ? this.ofUser(user) : [loginLock(userId, '')];
  }

  /**
   * The account with the identifier of a counter; null for none, and for one whose email is not verified. An identifier of more
   * than 190 bytes is stored as a hash, from which no account is found.
   *
   * @throws StoreUnavailable
   */
  async ownerOf(key: LockKey): Promise<string | null> {
    const found = await this.users.findByIdentifier(spellingIn(key));
    return found && this.users.isEmailVerified(found.user) === true ? this.users.idOf(found.user) : null;
  }

  /**
   * The spelling of a user's identifier whose counter ends with the account. Empty where identifiers are counted whether or not
   * they have an account: the end of the counter would show the deletion.
   */
  async erasedSpellingOf(userId: string): Promise<string> {
    const user = this.areBySpelling ? null : await this.users.findById(userId);
    return user ? this.users.spellingOf(this.users.identifierOf(user) ?? '') : '';
  }

  /** Whether counters belong to identifiers, and not to accounts. At all guards with the same users, which count together. */
  get areBySpelling(): boolean {
    return this.realm.source.guards.some(({ registration }) => registration.concealExisting);
  }
}
