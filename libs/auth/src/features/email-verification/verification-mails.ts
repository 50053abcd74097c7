import { Injectable } from '@nestjs/common';
import { AccountMails } from '../mail/mail.feature';
import { MailQueue } from '../mail/mail-queue';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { VerificationLinks } from './verification-links';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Asks users to prove that their email address is theirs. */
export abstract class VerificationMails {
  /** Mails a link, behind the answer; nothing to whoever is verified already. */
  abstract send(user: object): void;

  /** The mail with a link for the user as stored now; null for one who is gone, or has nothing to prove. */
  abstract mailFor(userId: string): Promise<Mail | null>;
}

/** Stands in when `features.emailVerification` is off. */
@Injectable()
export class NoVerificationMails extends VerificationMails {
  send(): void {}

  async mailFor(): Promise<null> {
    return null;
  }
}

@Injectable()
export class QueuedVerificationMails extends VerificationMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly links: VerificationLinks,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {
    super();
  }

  send(user: object): void {
    if (this.addressToProve(user) === null) return;
    const id = this.users.idOf(user);
    // Looked up once more then: where mails had to wait, the account may be gone by now.
    this.queue.add('emailVerification', () => this.mailFor(id));
  }

  async mailFor(userId: string): Promise<Mail | null> {
    const user = await this.users.findById(userId);
    const to = user && this.addressToProve(user);
    if (!user || to === null) return null;
    const minutes = this.realm.options.emailVerification.expire;
    return this.mails.write('emailVerification', { user, to, url: this.links.make(userId, to), minutes });
  }

  private addressToProve(user: object): string | null {
    return this.users.isEmailVerified(user) === false ? this.users.emailOf(user) : null;
  }
}
