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

/** A mail server where one is configured; a mailbox to look into at a developer's machine; else none. */
export function mailerFor({ smtpUrl, mailFrom, showsMails }: Environment): Mailer | undefined {
  if (smtpUrl) return nodemailerMailer(smtpUrl, mailFrom);
  return showsMails ? new Mailbox() : undefined;
}
