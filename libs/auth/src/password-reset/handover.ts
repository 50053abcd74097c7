import { Injectable } from '@nestjs/common';
import { AddressProofs } from '../email-verification/address-proofs';
import { Realm } from '../realm/realm';
import { CodeFactor } from '../second-step/code-factor';
import { PasskeyFactor } from '../second-step/passkey-factor';
import { AccountTurns } from '../sessions/account-turns';
import { Sessions } from '../sessions/sessions';
import type { ResetAccount } from './reset-tokens';

/**
 * Hands an account to the reader of its mailbox.
 *
 * Until an address is proved, anybody may have registered it, and have enrolled what outlives a password: a passkey
 * that goes on signing in, a second factor that keeps the owner out. So these go with the first password that comes
 * by mail. Of an account whose address was proved they are its owner's, and stay.
 */
@Injectable()
export class Handover {
  constructor(
    private readonly proofs: AddressProofs,
    private readonly turns: AccountTurns,
    private readonly sessions: Sessions,
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly realm: Realm,
  ) {}

  /** Ends what is to end with the former password. Done again, it does what is left. */
  async make({ user, userId }: ResetAccount): Promise<void> {
    const { revokeSessions } = this.realm.options.passwordReset;
    if (!this.proofs.isMissing(user)) return revokeSessions ? this.sessions.revokeAll(userId) : undefined;
    const { tell } = await this.turns.alone(userId, async (sql) => {
      // First: who signs in with one of them meanwhile stores the session, and looks for the passkey then.
      const removed = await this.passkeys.removeAll(sql, userId);
      if (revokeSessions) await this.sessions.revokeAll(userId, sql);
      return removed;
    });
    tell();
    // Once the sessions have ended: who enrols meanwhile stores the factor, and looks at the session then.
    await this.codes.remove(userId);
  }

  /** The mail arrived, as one that verifies. Comes last, so that a reset that has to be tried again is made whole. */
  async prove({ user, email }: ResetAccount): Promise<void> {
    if (this.proofs.isMissing(user)) await this.proofs.note(user, email);
  }
}
