import { Injectable } from '@nestjs/common';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AccountMails } from './mail.feature';
import { MailQueue } from './mail-queue';

/** Seconds between two mails to one account, so that requests from many clients cannot flood a mailbox. */
const PAUSE_SECONDS = 60;

/**
 * Mails the owner of an account when a registration or a change of email contained its email. The mail never has a link that
 * verifies the email, also where it is not verified: the account may have the password of another person, which the link would
 * make usable. A reset of the password verifies the email, too.
 */
@Injectable()
export class ExistingAccountMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
  ) {}

  send(user: object): void {
    const id = this.users.idOf(user);
    this.queue.add('existingAccount', () => this.mailFor(id));
  }

  /** Reads the user again, because the account may be deleted while the mail waits in the queue. */
  private async mailFor(id: string): Promise<Mail | null> {
    const user = await this.users.findById(id);
    const to = user && this.users.emailOf(user);
    if (!user || !to) return null;
    const isFirst = await this.store.add(`svc:existing-account:${this.realm.guard}:${id}`, 'true', PAUSE_SECONDS);
    return isFirst ? this.mails.write('existingAccount', { user, to }) : null;
  }
}
