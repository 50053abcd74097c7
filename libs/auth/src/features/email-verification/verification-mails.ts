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

  /**
   * Only checks that the user store answers, and queues a mail for the owner of an address. The address is looked up after the
   * response. So neither the response nor its time shows whether an account exists, or is verified.
   *
   * @throws StoreUnavailable
   */
  async request(address: string): Promise<void> {
    await this.users.requireAnswer();
    this.queue.add('emailVerification', () => this.requestedDraft(address));
  }

  /** With the same statements for an address without an account, and for a verified one: their time would show in the next response. */
  private async requestedDraft(address: string): Promise<mailing.Draft<'emailVerification'>> {
    const account = await this.users.mailedAccount(address);
    const { userId, email: to } = account ?? { userId: '', email: address };
    const write = async (): Promise<mailing.Mail | null> => {
      const wasPerson = await this.provedEmails.wasProved(userId, to, true);
      if (!account || (wasPerson && this.users.isEmailVerified(account.user) === true)) return null;
      return this.write(account);
    };
    return { to, write };
  }

  /** Returns the mail for the current state of the user; null for a user that does not exist or needs no verification. */
  async draftFor(userId: string): Promise<mailing.Draft<'emailVerification'> | null> {
    const account = await this.users.mailedUser(userId);
    // A user whose link was opened without a session can open another one with it.
    if (!account || (await this.provedEmails.isProved(account.user))) return null;
    return { to: account.email, write: () => this.write(account) };
  }

  private write({ user, userId, email: to }: identity.MailedAccount): Promise<mailing.Mail> {
    const minutes = this.realm.options.emailVerification.expire;
    const url = this.links.make(userId, to);
    return this.mails.write('emailVerification', { user, to, url, minutes });
  }
}
