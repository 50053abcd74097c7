import { Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { VerifiedEmails } from './verified-emails';
import { type PresentedLink, VerificationLinks } from './verification-links';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Verifies the email address of an opened link (`GET /email/verify/…`). */
@Injectable()
export class EmailVerification {
  constructor(
    private readonly links: VerificationLinks,
    private readonly users: TimedUserProvider,
    private readonly verifiedEmails: VerifiedEmails,
  ) {}

  /** A link that is opened again succeeds without a further effect. @throws InvalidLink, OutdatedLink */
  async verify(link: PresentedLink): Promise<void> {
    if (!this.links.isGenuine(link)) throw new InvalidLink();
    const { user, email } = await this.addresseeOf(link);
    if (await this.verifiedEmails.record(user, email)) return;
    // Nothing was changed: the address was verified earlier, or the user has changed it in the meantime.
    const current = await this.addresseeOf(link);
    if (this.users.isEmailVerified(current.user) !== true) throw new OutdatedLink();
  }

  /** Reads the user of the link. @throws OutdatedLink unless the link was mailed to the current address of the user */
  private async addresseeOf(link: PresentedLink): Promise<{ user: object; email: string }> {
    const user = await this.users.findById(link.id);
    const email = user && this.users.emailOf(user);
    if (!user || email === null || !this.links.isFor(link, email)) throw new OutdatedLink();
    return { user, email };
  }
}

/** The link has no valid signature or has expired: 403. */
export class InvalidLink extends AuthException {
  constructor() {
    super('bad_link', { status: 403, text: { key: 'auth.bad_link' } });
  }
}

/** The link has a valid signature, but its user does not exist any more or has another address: 403. */
export class OutdatedLink extends AuthException {
  constructor() {
    super('outdated_link', { status: 403, text: { key: 'auth.outdated_link' } });
  }
}
