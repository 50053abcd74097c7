import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { newSecret, sha256 } from '../../foundation/platform/crypto';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { ResetLinks } from '../password-reset/password-reset';
import { ResetCleanup } from '../password-reset/reset-cleanup';
import { ResetTokenStore } from '../password-reset/reset-token.store';
import { Sessions } from '../sessions/sessions';
import { EmailChangeFailed, EmailReplacements, LINK_ATTEMPTS } from './email-change';
import { EmailChangeUndone } from './email-change.events';
import { linkVerdict } from './email-change.policy';
import { EmailChangeStore, type StoredEmailChange } from './email-change.store';

/** The former email belongs to another account now: 409. Nothing has changed. The support of the host has to decide. */
export class FormerEmailTaken extends AuthException {
  constructor() {
    super('former_email_taken', { status: 409, text: { key: 'auth.former_email_taken' } });
  }
}

/**
 * Restores the former email with the token that was mailed to it (`POST /email/change/undo`), whatever the user has changed
 * since. The account may be in the hands of a thief, who knows its password. So the undo ends all access: the sessions, the
 * password, and the passkeys and the second factor that were added since the request for the change. The owner chooses a new
 * password with a reset link, which is mailed to the restored address.
 */
@Injectable()
export class EmailChangeUndo {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly changes: EmailChangeStore,
    private readonly replacements: EmailReplacements,
    private readonly hasher: PasswordHasher,
    private readonly sessions: Sessions,
    private readonly resetCleanup: ResetCleanup,
    private readonly resetTokens: ResetTokenStore,
    private readonly resetLinks: ResetLinks,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * A link that is opened again succeeds without a further effect.
   *
   * @throws EmailChangeFailed for an invalid link; FormerEmailTaken; HasherBusy; StoreUnavailable: the request can be repeated
   */
  async undo(token: string): Promise<void> {
    const hash = sha256(token);
    let digest: string | undefined;
    for (let attempt = 0; attempt < LINK_ATTEMPTS; attempt++) {
      const found = await this.changes.find('undo', hash);
      const verdict = linkVerdict('undo', found && { ...found, isRevoked: false });
      if (!found || verdict === 'refuse') break;
      if (verdict === 'done') return;
      // Before the first change: a full hash queue changes nothing.
      digest ??= await this.hasher.hash(newSecret());
      if (verdict === 'resume') return this.endAccess(found, digest);
      // Then the change is judged again, also if another request was faster.
      await this.restore(found);
    }
    throw new EmailChangeFailed();
  }

  /** @throws FormerEmailTaken */
  private async restore(found: StoredEmailChange): Promise<void> {
    const { userId, from: former } = found;
    const user = await this.users.findById(userId);
    // Without a former email, no link was mailed.
    if (!user || former === null) return;
    const change = { from: this.users.emailOf(user), to: former };
    const result = await this.replacements.replace(userId, change, (sql) => this.changes.undo(sql, found));
    if (result === 'taken') throw new FormerEmailTaken();
  }

  /** Can be repeated after a failure. The password is first: a session that starts later is refused by its check of the hash. */
  private async endAccess({ id, userId, from, to, requestedAt }: StoredEmailChange, digest: string): Promise<void> {
    const endSessions = (): Promise<unknown> => this.sessions.endAll(userId, 'email_undo');
    // A hash of a random text that is not stored. A user without a password gets none.
    const hasPassword = (await this.users.passwordHashOf(userId)) !== null;
    if (hasPassword) await this.users.savePasswordHash(userId, digest);
    await endSessions();
    // A session may have set a first password until it ended.
    if (!hasPassword && (await this.users.passwordHashOf(userId)) !== null) {
      await this.users.savePasswordHash(userId, digest);
      await endSessions();
    }
    await this.resetCleanup.removeFactors(userId, endSessions, requestedAt);
    await this.resetTokens.removeAll(userId);
    if (await this.changes.advance('close', id))
      this.events.emit(new EmailChangeUndone(userId, this.realm.guard, to, from!));
    await this.resetLinks.request(from!);
  }
}
