import { type AuthModuleOptions, type Mail, Mailer, PasswordHasher } from '@svc/auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp, type TestAppOptions } from './app';
import { ENCRYPTION_KEY } from './host.module';
import { Member, PASSWORD } from './people';

/** Keeps what would be sent; fails or hangs where a test says so. */
export class Mailbox extends Mailer {
  readonly mails: Mail[] = [];
  deliver: (mail: Mail) => Promise<void> = async () => undefined;

  async send(mail: Mail): Promise<void> {
    await this.deliver(mail);
    this.mails.push(mail);
  }

  /** The mail with this number, counted from 1, once it is there. */
  nth(number: number): Promise<Mail> {
    return this.waitFor(() => this.mails[number - 1]);
  }

  /** The first mail to this address, once it is there. */
  to(address: string): Promise<Mail> {
    return this.waitFor(() => this.mails.find(({ to }) => to === address));
  }

  private async waitFor(wanted: () => Mail | undefined): Promise<Mail> {
    for (let waited = 0; waited < 5000; waited += 10) {
      const mail = wanted();
      if (mail) return mail;
      await sleep(10);
    }
    throw new Error(`it did not come; there are ${this.mails.length} mails`);
  }
}

export const linkIn = ({ text }: Mail): URL => new URL(/https?:\S+/.exec(text)![0]);

export const API_URL = 'https://api.example.test';
export const RESET_URL = 'https://app.example.test/reset';

/** A host with members, and every capability of an account's life. */
export async function startMembers(
  options: Partial<AuthModuleOptions> = {},
  more: TestAppOptions = {},
): Promise<{ t: TestApp; mailbox: Mailbox }> {
  const mailbox = new Mailbox();
  return { t: await TestApp.start({ options: memberOptions(mailbox, options), ...more }), mailbox };
}

export const memberOptions = (mailer: Mailer, options: Partial<AuthModuleOptions>): Partial<AuthModuleOptions> => ({
  users: { entity: Member },
  encryption: { key: ENCRYPTION_KEY },
  mail: { mailer },
  ...options,
  passwordReset: { frontendUrl: RESET_URL, ...options.passwordReset },
  emailVerification: { apiUrl: API_URL, ...options.emailVerification },
  features: { registration: true, passwordReset: true, emailVerification: true, ...options.features },
});

/** Creates a member with the usual password. */
export async function member(t: TestApp, email: string, more: Partial<Member> = {}): Promise<string> {
  const passwordHash = await t.app.get(PasswordHasher).hash(PASSWORD);
  const { id } = await t.database.getRepository(Member).save({ name: 'Ada', email, passwordHash, ...more });
  return id;
}
