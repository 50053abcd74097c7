import { type Mail, Mailer } from '@svc/auth';

const MAX_MAILS = 50;

/** A mail with its place in the order of all mails, and when it was sent. */
export interface KeptMail extends Mail {
  readonly number: number;
  readonly at: Date;
}

/** Keeps mails in memory instead of sending them. */
export class Mailbox extends Mailer {
  private readonly kept: KeptMail[] = [];
  private count = 0;

  async send(mail: Mail): Promise<void> {
    this.kept.unshift({ ...mail, number: ++this.count, at: new Date() });
    this.kept.splice(MAX_MAILS);
  }

  /** The mails, newest first. */
  get mails(): readonly KeptMail[] {
    return this.kept;
  }
}
