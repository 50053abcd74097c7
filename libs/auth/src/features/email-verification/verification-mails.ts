import { Injectable } from '@nestjs/common';
import { Realm, identity, mailing } from '../../kit';
import { VerificationLinks } from './verification-links';

/** Sends mails with a link that verifies the email address of a user. */
@Injectable()
export class VerificationMails {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly links: VerificationLinks,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly realm: Realm,
  ) {}

  /** Queues a mail with a link. Nothing is mailed to an address that a person has proved. */
  send(user: object): void {
    if (this.users.emailOf(user) === null) return;
    const id = this.users.idOf(user);
    // The job reads the user again, because the account may be deleted while the mail waits in the queue.
    this.queue.add('emailVerification', () => this.draftFor(id));
  }

  /** Returns the mail for the current state of the user; null for a user that does not exist or needs no verification. */
  async draftFor(userId: string): Promise<mailing.Draft<'emailVerification'> | null> {
    const account = await this.users.mailedUser(userId);
    // A user whose link was opened without a session can open another one with it.
    if (!account || (await this.provedEmails.isProved(account.user))) return null;
    const { user, email: to } = account;
    const minutes = this.realm.options.emailVerification.expire;
    const url = this.links.make(userId, to);
    return { to, write: () => this.mails.write('emailVerification', { user, to, url, minutes }) };
  }
}
