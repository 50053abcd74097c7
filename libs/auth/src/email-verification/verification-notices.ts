import { Injectable } from '@nestjs/common';
import { AccountMails } from '../mail/account-mails';
import { MailQueue } from '../mail/mail-queue';
import { Realm } from '../realm/realm';
import { UserProvider } from '../users/user-provider';
import { VerificationLinks } from './verification-links';

/** Asks users to prove that their email address is theirs. */
export abstract class VerificationNotices {
  /** Mails a link, behind the answer; nothing to whoever is verified already. */
  abstract send(user: object): void;
}

/** Stands in when `features.emailVerification` is off. */
@Injectable()
export class NoVerificationNotices extends VerificationNotices {
  send(): void {}
}

@Injectable()
export class MailedNotices extends VerificationNotices {
  constructor(
    private readonly users: UserProvider,
    private readonly links: VerificationLinks,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly realm: Realm,
  ) {
    super();
  }

  send(user: object): void {
    const to = this.users.emailOf(user);
    if (to === null || this.users.isEmailVerified(user) !== false) return;
    this.queue.add('emailVerification', () => {
      const url = this.links.make(this.users.idOf(user), to);
      return this.mails.write('emailVerification', {
        user,
        to,
        url,
        minutes: this.realm.options.emailVerification.expire,
      });
    });
  }
}
