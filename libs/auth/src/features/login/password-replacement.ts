import { Injectable } from '@nestjs/common';
import { bestEffort, isInconclusive } from '../../foundation/platform/deadline';
import { AccountLockout } from '../../request/lockout/lockout';
import { loginLock, userLock } from '../../request/lockout/lockout.store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** One password in the place of another. */
export interface Replacement {
  readonly userId: string;
  /** What the hasher made of the new password. */
  readonly digest: string;
  /** The hash in whose place it is stored, and of no other; left out, of whichever is there. */
  readonly replacing?: string;
  /** Ends the sessions that are to end with the former password. */
  readonly endSessions: () => Promise<void>;
  /** What is done last of all, once the password is known to be stored. */
  readonly finish?: () => Promise<unknown>;
  /** After a failure: makes it possible to try again. */
  readonly undo: () => Promise<unknown>;
}

/**
 * Puts a new password in the place of a former one, ends the sessions of that one, and lifts the locks that guesses
 * at it have set. In this order: a session of the former password that starts until it is replaced is swept away, one
 * that starts later looks at what is stored.
 */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly lockout: AccountLockout,
  ) {}

  /** Whether the password was stored: false where the user is gone, or the hash to replace. */
  async replace(replacement: Replacement): Promise<boolean> {
    const { userId, digest, replacing, endSessions, finish, undo } = replacement;
    let isSaved: boolean | undefined;
    try {
      isSaved = await this.users.savePasswordHash(userId, digest, replacing);
      if (!isSaved) return false;
      await endSessions();
      // The login, too: whoever made a stranger's guesses pointless is not to stay locked out by them.
      await this.lockout.release([userLock('confirm', userId), loginLock(userId, '')]);
      await finish?.();
      return true;
    } catch (error) {
      // What was not answered may have been stored all the same, or yet be.
      const isUnknown = isSaved === undefined && isInconclusive(error);
      await bestEffort('undoing a change of password', Promise.all([undo(), isUnknown && endSessions()]));
      throw error;
    }
  }
}
