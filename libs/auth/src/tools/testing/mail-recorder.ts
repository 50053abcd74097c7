import { setTimeout as sleep } from 'node:timers/promises';
import { type Mail, Mailer } from '../../foundation/ports/mail';

const PATIENCE_MS = 5000;

/**
 * Keeps the mails that would be sent: `mail: { mailer: new MailRecorder() }`.
 *
 * @publicApi
 */
export class MailRecorder extends Mailer {
  readonly mails: Mail[] = [];

  async send(mail: Mail): Promise<void> {
    this.mails.push(mail);
  }

  /** The mail with this number, counted from 1, once it is there: mails are sent behind the answer. */
  nth(number: number): Promise<Mail> {
    return this.waitFor(() => this.mails[number - 1]);
  }

  /** The first mail to this address, once it is there. */
  to(address: string): Promise<Mail> {
    return this.waitFor(() => this.mails.find(({ to }) => to === address));
  }

  private async waitFor(wanted: () => Mail | undefined): Promise<Mail> {
    for (let waited = 0; waited < PATIENCE_MS; waited += 10) {
      const mail = wanted();
      if (mail) return mail;
      await sleep(10);
    }
    throw new Error(`it did not come; there are ${this.mails.length} mails`);
  }
}

/** The first link in a mail. @publicApi */
export const linkIn = ({ text }: Mail): URL => new URL(/https?:\S+/.exec(text)![0]);
