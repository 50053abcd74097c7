import { type Mail, Mailer, nodemailerMailer } from '@svc/auth';
import type { Environment } from '../environment';

const MOST = 50;

/** Keeps the mails that would have been sent: for development, where there is no mail server. */
export class Mailbox extends Mailer {
  private readonly kept: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.kept.unshift(mail);
    this.kept.splice(MOST);
  }

  /** The newest first. */
  get mails(): readonly Mail[] {
    return this.kept;
  }
}

/** A mail server where one is configured; in development a mailbox to look into; else none. */
export function mailerFor({ smtpUrl, mailFrom, isDevelopment }: Environment): Mailer | undefined {
  if (smtpUrl) return nodemailerMailer(smtpUrl, mailFrom);
  return isDevelopment ? new Mailbox() : undefined;
}
