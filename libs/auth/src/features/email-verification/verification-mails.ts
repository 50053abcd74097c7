import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { withTimeout } from '../../foundation/platform/deadline';
import { AccountMails } from '../mail/mail.feature';
import { MailQueue } from '../mail/mail-queue';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { UserProvider } from '../../foundation/ports/user-provider';
import { VerificationLinks } from './verification-links';

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
    private readonly users: UserProvider,
    private readonly links: VerificationLinks,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
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
    const user = await withTimeout('The user store', this.config.storeTimeoutMs, this.users.findById(userId));
    const to = user && this.addressToProve(user);
    if (!user || to === null) return null;
    const minutes = this.realm.options.emailVerification.expire;
    return this.mails.write('emailVerification', { user, to, url: this.links.make(userId, to), minutes });
  }

  private addressToProve(user: object): string | null {
    return this.users.isEmailVerified(user) === false ? this.users.emailOf(user) : null;
  }
}
