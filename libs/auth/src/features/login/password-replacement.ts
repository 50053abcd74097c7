import { Injectable } from '@nestjs/common';
import { RequestScope, bestEffort, isInconclusive, repeatWhileUnavailable } from '../../foundation/platform/deadline';
import { AccountLockout } from '../../request/lockout/lockout';
import { mailLock, userLock, LoginLocks } from '../../request/lockout/lockout.store';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Accounts } from '../sessions/accounts';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Describes the replacement of a password. */
export interface Replacement {
  readonly userId: string;
  /** Hash of the new password. */
  readonly digest: string;
  /** The hash that must be stored now; null for none. */
  readonly replacing: string | null;
  /** The address whose mailbox the user can read, of a reset. */
  readonly email?: string;
  /**
   * Ends the sessions of the former password.
   *
   * @param moment of a change that is completed after its answer: only sessions that began before. See `Sessions.endEarlier`
   */
  readonly endSessions: (moment?: number) => Promise<void>;
  /** Whether the change may stay, judged while the sessions end: rejects if not. */
  readonly judge?: () => Promise<unknown>;
  /** The last step, after the sessions have ended. */
  readonly finish?: () => Promise<unknown>;
  /** Called once after a failure: restores the state, so that the request can be repeated. If it fails, the sessions end. */
  readonly undo: () => Promise<unknown>;
}

/** A password that has replaced another one. */
export interface ReplacedPassword {
  readonly userId: string;
  /** Hash of the new password. */
  readonly digest: string;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Removes what was bound to the former password, and is invalid. May run after the response. */
    readonly passwordReplaced?: (services: GuardServices, password: ReplacedPassword) => Promise<void>;
  }
}

/**
 * Replaces a password, ends the sessions of the former password, and releases the locks that guesses have set. The order
 * is fixed: a session of the former password that starts before the replacement is ended here, and one that starts later
 * is refused by its check of the stored hash. Confirmations and reset links end by the new hash, because they are bound to
 * the former one.
 */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly lockout: AccountLockout,
    private readonly locks: LoginLocks,
    private readonly accounts: Accounts,
  ) {}

  /** Returns whether the password was stored; false if the user does not exist or another hash is stored. */
  async replace(replacement: Replacement): Promise<boolean> {
    const { userId, digest, replacing, email, endSessions, judge, finish, undo } = replacement;
    let isSaved: boolean | undefined;
    let savedAt: number | undefined;
    try {
      isSaved = await this.users.savePasswordHash(userId, digest, replacing);
      if (!isSaved) return false;
      savedAt = performance.now();
      // The password is stored: what follows must not fail because earlier waits have used up the deadline of the request.
      await RequestScope.detached(async () => {
        await inParallel(endSessions(), this.releaseLocks(userId, email), judge?.());
        await finish?.();
      });
      return true;
    } catch (error) {
      // Without an answer of the user store, the new hash may still have been stored, so the sessions end as well.
      const isUnknown = isSaved === undefined && isInconclusive(error);
      const settle = async (): Promise<void> => {
        const isUndone = await undo().then(
          () => true,
          () => false,
        );
        // Forward, where the store does not answer: an undo that succeeds later would change the password after a client has seen
        // that the new one is valid.
        // A session that begins after the new hash was stored is one of the new password. Where that moment is not known, it is over
        // when the undo has ended: the user store has rolled back what it has not committed in time.
        const moment = savedAt ?? performance.now();
        if (isUnknown || !isUndone) await repeatWhileUnavailable(() => endSessions(moment));
      };
      await bestEffort('undoing a change of password', settle, 0);
      throw error;
    }
  }

  /** Removes what is invalid with the former password. An error is logged: it is no failure. */
  forgetFormer(password: ReplacedPassword): Promise<void> {
    return bestEffort('removing what is bound to a replaced password', async () => {
      for (const [remove, services] of this.accounts.hooks('passwordReplaced')) await remove(services, password);
    });
  }

  /** Also the lock of the login: the guesses that set it were at the former password. */
  private async releaseLocks(userId: string, email: string | undefined): Promise<void> {
    const ofMail = email === undefined ? [] : [mailLock(email)];
    const ofLogin = await this.locks.ofUserId(userId);
    await this.lockout.release([userLock('confirm', userId), ...ofLogin, ...ofMail]);
  }
}

/** Waits until all work has ended. @throws the first error, when none of it changes anything any more */
async function inParallel(...work: (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}
