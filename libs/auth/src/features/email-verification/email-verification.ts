import { Injectable } from '@nestjs/common';
import { errors, identity } from '../../kit';
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
