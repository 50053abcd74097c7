import { type Mail, Mailer } from '@svc/auth';

const MAX_MAILS = 50;

/** Keeps mails in memory instead of sending them. */
export class Mailbox extends Mailer {
  private readonly kept: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.kept.unshift(mail);
    this.kept.splice(MAX_MAILS);
  }

  /** The mails, newest first. */
  get mails(): readonly Mail[] {
    return this.kept;
  }
}
