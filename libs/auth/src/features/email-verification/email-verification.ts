import { Injectable } from '@nestjs/common';
import { errors, identity, Realm, mailing } from '../../kit';
import { type LinkState, type PresentedLink, VerificationLinks } from './verification-links';
import { emailVerificationText } from './email-verification.texts';

/** Verifies the email address of an opened link (`GET` and `POST /email/verify/…`). */
@Injectable()
export class EmailVerification {
  constructor(
    private readonly links: VerificationLinks,
    private readonly users: identity.TimedUserProvider,
    private readonly provedEmails: identity.ProvedEmails,
  ) {}

  /**
   * A link that is opened again succeeds without a further effect.
   *
   * @param sessionOf the user whose session the request carries; null for none
   * @returns whether a person has proved the address
   * @throws InvalidLink, OutdatedLink
   */
  async verify(link: PresentedLink, sessionOf: () => Promise<string | null>): Promise<boolean> {
    const state = this.links.stateOf(link);
    if (state !== 'genuine') throw new InvalidLink(state);
    const { user, email } = await this.addresseeOf(link);
    const isPerson = (await sessionOf()) === this.users.idOf(user);
    if (isPerson) await this.provedEmails.recordPerson(user, email);
    else if (await this.provedEmails.recordDelivery(user, email)) return false;
    // The address was verified earlier or by this request, or the user has changed it in the meantime.
    const current = await this.addresseeOf(link);
    if (this.users.isEmailVerified(current.user) !== true) throw new OutdatedLink();
    return this.provedEmails.isProved(current.user);
  }

  /** Verifies with a session. @throws InvalidLink; OutdatedLink also for the session of another user */
  async verifyAs({ userId }: Pick<identity.Caller, 'userId'>, link: PresentedLink): Promise<void> {
    if (this.links.stateOf(link) === 'genuine' && link.id !== userId) throw new OutdatedLink();
    await this.verify(link, async () => userId);
  }

  /** Reads the user of the link. @throws OutdatedLink unless the link was mailed to the current address of the user */
  private async addresseeOf(link: PresentedLink): Promise<identity.MailedAccount> {
    const account = await this.users.mailedUser(link.id);
    if (!account || !this.links.isFor(link, account.email)) throw new OutdatedLink();
    return account;
  }
}

/** The link has no valid signature or has expired: 403. `verification` is the reason for the page of a browser. */
export class InvalidLink extends errors.AuthException {
  constructor(readonly verification: Exclude<LinkState, 'genuine'> = 'invalid') {
    super('bad_link', { status: 403, text: emailVerificationText('auth.bad_link') });
  }
}

/** The link has a valid signature, but its user does not exist any more or has another address: 403. */
export class OutdatedLink extends errors.AuthException {
  readonly verification = 'outdated';

  constructor() {
    super('outdated_link', { status: 403, text: emailVerificationText('auth.outdated_link') });
  }
}

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
