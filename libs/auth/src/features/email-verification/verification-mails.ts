import { Injectable } from '@nestjs/common';
import { AccountMails } from '../mail/account-mails';
import { MailQueue } from '../mail/mail-queue';
import type { Draft } from '../mail/mail-gate';
import { Realm } from '../../foundation/realm/realm';
import { VerificationLinks } from './verification-links';
import { ProvedEmails } from '../../identity/users/proved-emails';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Sends mails with a link that verifies the email address of a user. */
@Injectable()
export class VerificationMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly links: VerificationLinks,
    private readonly provedEmails: ProvedEmails,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
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
  async draftFor(userId: string): Promise<Draft<'emailVerification'> | null> {
    const user = await this.users.findById(userId);
    const to = user && this.users.emailOf(user);
    // A user whose link was opened without a session can open another one with it.
    if (!user || !to || (await this.provedEmails.isProved(user))) return null;
    const minutes = this.realm.options.emailVerification.expire;
    const url = this.links.make(userId, to);
    return { to, write: () => this.mails.write('emailVerification', { user, to, url, minutes }) };
  }
}
