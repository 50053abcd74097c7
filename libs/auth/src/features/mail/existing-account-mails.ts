import { Injectable } from '@nestjs/common';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AccountMails } from './mail.feature';
import type { Draft } from './mail-gate';
import { MailQueue } from './mail-queue';

/**
 * Mails the owner of an account when a registration or a change of email contained its email. The mail never has a link that
 * verifies the email, also where it is not verified: the account may have the password of another person, which the link would
 * make usable. A reset of the password verifies the email, too.
 */
@Injectable()
export class ExistingAccountMails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
  ) {}

  send(user: object): void {
    const id = this.users.idOf(user);
    this.queue.add('existingAccount', () => this.draftFor(id));
  }

  /** Reads the user again, because the account may be deleted while the mail waits in the queue. */
  private async draftFor(id: string): Promise<Draft<'existingAccount'> | null> {
    const user = await this.users.findById(id);
    const to = user && this.users.emailOf(user);
    return user && to ? { to, write: () => this.mails.write('existingAccount', { user, to }) } : null;
  }
}
