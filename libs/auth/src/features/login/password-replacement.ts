import { Injectable } from '@nestjs/common';
import { RequestScope, bestEffort, isInconclusive, repeatWhileUnavailable } from '../../foundation/platform/deadline';
import { newSecret } from '../../foundation/platform/crypto';
import { AccountLockout } from '../../request/lockout/lockout';
import { mailLock, userLock, LoginLocks } from '../../request/lockout/lockout.store';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { RealmScope } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { Accounts } from '../sessions/accounts';
import type { SessionEndReason } from '../sessions/sessions.events';
import { ProvedEmails } from '../../identity/users/proved-emails';
import { type MailedAccount, TimedUserProvider } from '../../identity/users/timed-user-provider';

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

/** The links that stay when others end: those that are bound to a password hash, of one address or of all. */
export interface KeptLinks {
  readonly digest: string | null;
  readonly email?: string;
}

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** Mails the owner of an account a link with which a password is set. The request contained a secret that was mailed to the address. */
    readonly passwordLink?: (services: RealmScope, address: string) => Promise<void>;
    /** Removes what was bound to another email of a user. */
    readonly emailReplaced?: (services: GuardServices, userId: string, kept?: KeptLinks) => Promise<void>;
    /** Removes what was bound to the former password, and is invalid. May run after the response. */
    readonly passwordReplaced?: (services: GuardServices, password: ReplacedPassword) => Promise<void>;
  }
}

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The password was reset with a mailed link, or a mailed code took over an account whose address was not verified. */
    password_reset: true;
  }
}

/**
 * A user reset a forgotten password with a mailed link. All sessions of the user have ended, unless
 * `passwordReset.revokeSessions` is off. A good reason to mail the account's owner.
 *
 * Also emitted when a sign-in with a mailed code replaced the password of an account whose address was not verified.
 *
 * @publicApi
 */
export class PasswordReset {
  constructor(
    readonly user: object,
    readonly guard: string,
  ) {}
}

/**
 * Ends all access to an account that was possible before its owner has read a mail, at every guard with the same users.
 *
 * Anyone can register an account with the address of another person, and enrol factors that survive a change of password: a
 * passkey that can still sign in, or a second factor that locks the owner out. So the first proof of a person removes them,
 * and forgets the known devices, also if a program that opens links in mails has verified the address. Later they belong to
 * the owner and remain.
 */
@Injectable()
export class AccountRecovery {
  constructor(
    private readonly provedEmails: ProvedEmails,
    private readonly accounts: Accounts,
  ) {}

  /**
   * Ends the sessions and removes the factors of the account. Can be repeated after a failure.
   *
   * @param endsSessions whether the sessions end
   * @param moment as for `Replacement.endSessions`
   */
  async endAccess({ user, userId }: MailedAccount, endsSessions: boolean, moment?: number): Promise<void> {
    // All sessions of an account of another person: a factor may have started one after the moment, and be removed since.
    const bound = moment !== undefined && (await this.provedEmails.isProved(user)) ? moment : undefined;
    if (endsSessions) await this.accounts.endAll(userId, 'password_reset', bound);
    if (await this.provedEmails.isProved(user)) return;
    const endAgain = (): Promise<void> => this.accounts.endAll(userId, 'password_reset');
    await this.accounts.takeOver({ userId }, endsSessions ? endAgain : null);
  }

  /**
   * Records that a person has proved the address, because the mail was read. Last, so that a repeated recovery removes the
   * factors again.
   */
  async recordPerson({ user, email }: MailedAccount): Promise<void> {
    if (!(await this.provedEmails.isProved(user))) await this.provedEmails.recordPerson(user, email);
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
    private readonly hasher: PasswordHasher,
    private readonly lockout: AccountLockout,
    private readonly locks: LoginLocks,
    private readonly accounts: Accounts,
    private readonly scope: RealmScope,
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

  /**
   * Makes the password unusable: replaces it by a random one that is not kept, ends the sessions, and mails the owner a link to choose
   * a new one. False for a user without a password or without a link, and if the password has just changed.
   *
   * @throws StoreUnavailable, HasherBusy
   */
  async requireNew(userId: string, reason: SessionEndReason): Promise<boolean> {
    const account = await this.users.mailedUser(userId);
    const replacing = await this.users.passwordHashOf(userId);
    if (!account || replacing === null || !this.scope.realm.options.facts.mailsPasswordLinks) return false;
    const digest = await this.hasher.hash(newSecret());
    const isReplaced = await this.replace({
      userId,
      digest,
      replacing,
      endSessions: (moment) => this.accounts.endAll(userId, reason, moment),
      undo: () => this.users.savePasswordHash(userId, replacing, digest),
    });
    if (!isReplaced) return false;
    await this.forgetFormer({ userId, digest });
    await this.mailLink(account.email);
    return true;
  }

  /** Mails the owner of an account a link with which a password is set, if a feature does. @throws StoreUnavailable */
  async mailLink(address: string): Promise<void> {
    for (const mail of this.scope.hooks('passwordLink')) await mail(this.scope, address);
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
