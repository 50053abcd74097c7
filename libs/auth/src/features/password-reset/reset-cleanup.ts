import { Injectable } from '@nestjs/common';
import { VerifiedEmails } from '../email-verification/verified-emails';
import { Realm } from '../../foundation/realm/realm';
import { CodeFactor, PasskeyFactor } from '../login-challenge/second-factors';
import { AccountLock } from '../sessions/account-lock';
import { Sessions } from '../sessions/sessions';
import type { ResetAccount } from './reset-token.store';

/**
 * Hands an account to the reader of its mailbox.
 *
 * Until an address is proved, anybody may have registered it, and have enrolled what outlives a password: a passkey
 * that goes on signing in, a second factor that keeps the owner out. So these go with the first password that comes
 * by mail. Of an account whose address was proved they are its owner's, and stay.
 */
@Injectable()
export class ResetCleanup {
  constructor(
    private readonly verifiedEmails: VerifiedEmails,
    private readonly accountLock: AccountLock,
    private readonly sessions: Sessions,
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly realm: Realm,
  ) {}

  /** Ends what is to end with the former password. Done again, it does what is left. */
  async run({ user, userId }: ResetAccount): Promise<void> {
    const endSessions = (): Promise<unknown> => this.sessions.endAll(userId, 'password_reset');
    const { revokeSessions } = this.realm.options.passwordReset;
    if (revokeSessions) await endSessions();
    if (!this.verifiedEmails.isMissing(user)) return;
    // A session that lived until now may have added a passkey, and a passkey may have started a session. So both are
    // removed in turn, until there is no passkey left that could have started one.
    for (;;) {
      const removed = await this.removePasskeys(userId);
      if (!removed || !revokeSessions) break;
      await endSessions();
    }
    // Once the sessions have ended: who enrols meanwhile stores the factor, and looks at the session then.
    await this.codes.remove(userId);
  }

  private async removePasskeys(userId: string): Promise<number> {
    const { removed, tell } = await this.accountLock.exclusive(userId, (sql) => this.passkeys.removeAll(sql, userId));
    tell();
    return removed;
  }

  /** The mail arrived, as one that verifies. Comes last, so that a reset that has to be tried again is made whole. */
  async recordVerifiedEmail({ user, email }: ResetAccount): Promise<void> {
    if (this.verifiedEmails.isMissing(user)) await this.verifiedEmails.record(user, email);
  }
}
