import { Injectable } from '@nestjs/common';
import { Realm, crypto, errors, event, identity, session } from '../../kit';
import { EmailChangeFailed, EmailReplacements, LINK_ATTEMPTS } from './email-change';
import { EmailChangeUndone } from './email-change.events';
import { linkVerdict } from './email-change.policy';
import { EmailChangeStore, type StoredEmailChange } from './email-change.store';
import { emailChangeText } from './email-change.texts';

/** The former email belongs to another account now: 409. Nothing has changed. The support of the host has to decide. */
export class FormerEmailTaken extends errors.AuthException {
  constructor() {
    super('former_email_taken', { status: 409, text: emailChangeText('auth.former_email_taken') });
  }
}

/**
 * Restores the former email with the token that was mailed to it (`POST /email/change/undo`), whatever the user has changed
 * since. The account may be in the hands of a thief, who knows its password. So the undo ends the sessions, the
 * password, and the passkeys and the second factor that were added since the request for the change; older ones stay. The owner chooses a new
 * password with a reset link, which is mailed to the restored address.
 */
@Injectable()
export class EmailChangeUndo {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly changes: EmailChangeStore,
    private readonly replacements: EmailReplacements,
    private readonly hasher: identity.PasswordHasher,
    private readonly accounts: session.Accounts,
    private readonly passwords: session.PasswordReplacement,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * A link that is opened again succeeds without a further effect.
   *
   * @throws EmailChangeFailed for an invalid link; FormerEmailTaken; HasherBusy; StoreUnavailable: the request can be repeated
   */
  async undo(token: string): Promise<void> {
    const hash = crypto.sha256(token);
    let digest: string | undefined;
    for (let attempt = 0; attempt < LINK_ATTEMPTS; attempt++) {
      const found = await this.changes.find('undo', hash);
      const verdict = linkVerdict('undo', found && { ...found, isRevoked: false });
      if (!found || verdict === 'refuse') break;
      if (verdict === 'done') return;
      if (verdict === 'resume') {
        if (await this.endAccess(found)) return;
        continue;
      }
      // Before the first change: a full hash queue changes nothing.
      digest ??= await this.hasher.hash(crypto.newSecret());
      // Then the change is judged again, also if another request was faster.
      await this.restore(found, digest);
    }
    throw new EmailChangeFailed();
  }

  /** @throws FormerEmailTaken */
  private async restore(found: StoredEmailChange, digest: string): Promise<void> {
    const { userId, from: former } = found;
    const user = await this.users.findById(userId);
    // Without a former email, no link was mailed.
    if (!user || former === null) return;
    const change = { from: this.users.emailOf(user), to: former };
    const result = await this.replacements.replace(userId, change, (sql) => this.changes.undo(sql, found, digest));
    if (result === 'taken') throw new FormerEmailTaken();
  }

  /**
   * Can be repeated after a failure, and by a concurrent request: each of them stores the same hash, so the reset link that
   * one of them has mailed stays valid. Returns false, to judge the change again, if another password was stored meanwhile: by a
   * session of a thief, or by the owner, and then the change is closed.
   */
  private async endAccess(found: StoredEmailChange): Promise<boolean> {
    const { id, userId, from, to, requestedAt, unusableHash } = found;
    const endSessions = (): Promise<unknown> => this.accounts.endAll(userId, 'email_undo');
    // The password is first: a session that starts later is refused by its check of the hash.
    if (!(await this.replacePassword(found))) return false;
    await endSessions();
    const digest = await this.users.passwordHashOf(userId);
    // A user without a password gets none, but a session may have set a first one until it ended.
    if (digest !== null && digest !== unusableHash) return false;
    await this.accounts.takeOver({ userId, since: requestedAt }, endSessions);
    await this.replacements.endLinks(userId, { email: from!, digest });
    // Before the change is closed: after a failure, the same link mails it. A concurrent request finds the pause.
    await this.passwords.mailLink(from!);
    if (await this.changes.advance('close', id))
      this.events.emit(new EmailChangeUndone(userId, this.realm.guard, to, from!));
    return true;
  }

  /** Stores the hash of a random text that is not stored. Returns false if the change was closed, or the password replaced. */
  private async replacePassword({ id, userId, unusableHash }: StoredEmailChange): Promise<boolean> {
    const former = await this.users.passwordHashOf(userId);
    if (former === null || former === unusableHash) return true;
    // After the password was read: the password that the owner chooses after the change is closed is not replaced.
    if (!(await this.changes.isRestored(id))) return false;
    return this.users.savePasswordHash(userId, unusableHash!, former);
  }
}
