import { type AuthModuleOptions, type Mail, type Mailer, PasswordHasher } from '@svc/auth';
import { MailRecorder, linkIn } from '@svc/auth/testing';
import { TestApp, type TestAppOptions } from './app';
import { eventually } from './eventually';
import { ENCRYPTION_KEY } from './host.module';
import { Member, PASSWORD } from './user-entities';

export { linkIn };

/** Keeps what would be sent; fails or hangs where a test says so. */
export class Mailbox extends MailRecorder {
  deliver: (mail: Mail) => Promise<void> = async () => undefined;
  /** Ends what {@link hangingMails} began. */
  release = (): void => undefined;

  /** Forgets every mail, and delivers again. */
  clear(): void {
    this.release();
    this.mails.length = 0;
    this.deliver = async () => undefined;
  }

  override async send(mail: Mail): Promise<void> {
    await this.deliver(mail);
    await super.send(mail);
  }
}

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

/** The same host for a whole file: {@link TestApp.forFile}. Its mailbox is emptied before each test. */
export function membersForFile(
  options: Partial<AuthModuleOptions> = {},
  more: TestAppOptions | (() => TestAppOptions) = {},
): { t: TestApp; mailbox: Mailbox } {
  const mailbox = new Mailbox();
  const own = () => (typeof more === 'function' ? more() : more);
  const t = TestApp.forFile(() => ({ options: memberOptions(mailbox, options), ...own() }));
  beforeEach(() => mailbox.clear());
  return { t, mailbox };
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

/** As many mails as are sent at once. */
const AT_ONCE = 4;
export const WAITING = 'waiting@example.com';

/**
 * The mail server hangs with as many mails as are sent at once, all to {@link WAITING}: every other mail waits for
 * `mailbox.release()`.
 */
export async function hangingMails(t: TestApp, mailbox: Mailbox): Promise<void> {
  const { accessToken } = await t.auth.startSession(await member(t, WAITING));
  const hanging = new Promise<void>((resolve) => (mailbox.release = resolve));
  let begun = 0;
  mailbox.deliver = async () => {
    begun++;
    await hanging;
  };
  for (let i = 0; i < AT_ONCE; i++)
    await t.call('post', '/auth/email/verification-notification', accessToken).expect(202);
  await eventually(async () => begun === AT_ONCE);
}
