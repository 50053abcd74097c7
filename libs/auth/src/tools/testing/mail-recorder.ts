import { setTimeout as sleep } from 'node:timers/promises';
import { type Mail, Mailer } from '../../foundation/ports/mail';

const TIMEOUT_MS = 5000;

/**
 * Records mails instead of sending them: `mail: { mailer: new MailRecorder() }`.
 *
 * @publicApi
 */
export class MailRecorder extends Mailer {
  readonly mails: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.mails.push(mail);
  }

  /** Waits for the mail with this number, counted from 1. Mails are sent after the response. */
  nth(number: number): Promise<Mail> {
    return this.waitFor(() => this.mails[number - 1]);
  }

  /** Waits for the first mail to this address. */
  to(address: string): Promise<Mail> {
    return this.waitFor(() => this.mails.find(({ to }) => to === address));
  }

  private async waitFor(find: () => Mail | undefined): Promise<Mail> {
    for (let waited = 0; waited < TIMEOUT_MS; waited += 10) {
      const mail = find();
      if (mail) return mail;
      await sleep(10);
    }
    throw new Error(`the mail did not arrive; ${this.mails.length} mails were recorded`);
  }
}

/** The first link in a mail. @publicApi */
export const linkIn = ({ text }: Mail): URL => new URL(/https?:\S+/.exec(text)![0]);
