import { Injectable } from '@nestjs/common';
import { VerifiedEmails } from '../email-verification/verified-emails';
import { Realm, SourceGuards } from '../../foundation/realm/realm';
import { CodeFactor, PasskeyFactor, type RemovedPasskeys } from '../login-challenge/second-factors';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AccountLock } from '../sessions/account-lock';
import { SignInDevices } from '../sessions/sign-in';
import { UserSessions } from '../sessions/user-sessions';
import type { ResetAccount } from './reset-token.store';

/**
 * Ends all access to an account that was possible before a password reset, at every guard with the same users.
 *
 * Anyone can register an account with the address of another person, and enrol factors that survive a change of password: a
 * passkey that can still sign in, or a second factor that locks the owner out. So the first proof of a person removes them,
 * and forgets the known devices, also if a program that opens links in mails has verified the address. Later they belong to
 * the owner and remain.
 */
@Injectable()
export class ResetCleanup {
  constructor(
    private readonly verifiedEmails: VerifiedEmails,
    private readonly accountLock: AccountLock,
    private readonly sessions: UserSessions,
    private readonly guards: SourceGuards,
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {}

  /** Ends the sessions and removes the factors of the account. Can be repeated after a failure. */
  async run(
    { user, userId }: Pick<ResetAccount, 'user' | 'userId'>,
    { revokeSessions }: { revokeSessions: boolean } = this.realm.options.passwordReset,
  ): Promise<void> {
    const endSessions = (): Promise<unknown> => this.sessions.endAll(userId, 'password_reset');
    if (revokeSessions) await endSessions();
    if (await this.verifiedEmails.isProved(user)) return;
    await this.removeFactors(userId, revokeSessions ? endSessions : null);
  }

  /**
   * Removes the passkeys and the second factor of a user. Called after the sessions have ended. Can be repeated.
   *
   * @param endSessions ends the sessions again; null if they stay
   * @param since removes only what was added since this time; default: everything
   */
  async removeFactors(userId: string, endSessions: (() => Promise<unknown>) | null, since?: Date): Promise<void> {
    // A session may have added a passkey until it ended, and a passkey may have started a session until it was removed.
    // So passkeys are removed and sessions ended alternately until no passkey is left.
    for (;;) {
      const removed = await this.removePasskeys(userId, since);
      if (!removed || !endSessions) break;
      await endSessions();
    }
    // After the sessions have ended: a concurrent enrolment stores its factor first and then checks its session.
    if (!since || (await this.hasFactorSince(userId, since)))
      for (const codes of this.guards.all(CodeFactor)) await codes.remove(userId);
    // After the sessions have ended, too: no device is recorded for a session that has ended.
    for (const devices of this.guards.all(SignInDevices)) await devices.forgetAll(userId);
  }

  private async removePasskeys(userId: string, since?: Date): Promise<number> {
    const ofGuards = await this.accountLock.exclusive(userId, async (sql) => {
      const removed: RemovedPasskeys[] = [];
      for (const passkeys of this.guards.all(PasskeyFactor)) removed.push(await passkeys.removeAll(sql, userId, since));
      return removed;
    });
    for (const { emitEvents } of ofGuards) emitEvents();
    return ofGuards.reduce((sum, { removed }) => sum + removed, 0);
  }

  private async hasFactorSince(userId: string, since: Date): Promise<boolean> {
    const factor = this.users.storesSecondFactors() ? await this.users.secondFactorOf(userId) : null;
    return factor !== null && (factor.confirmedAt === null || factor.confirmedAt >= since);
  }

  /**
   * Records that a person has proved the address, because the mail was read. Last, so that a repeated reset removes the
   * factors again.
   */
  async recordPerson({ user, email }: ResetAccount): Promise<void> {
    if (!(await this.verifiedEmails.isProved(user))) await this.verifiedEmails.recordPerson(user, email);
  }
}
