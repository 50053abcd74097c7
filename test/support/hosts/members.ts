import { type AuthModuleOptions, type Mail, type Mailer, PasswordHasher } from '@svc/auth';
import { MailRecorder, linkIn } from '@svc/auth/testing';
import { TestApp, type TestAppOptions } from './app';
import { eventually } from '../runtime/eventually';
import { ENCRYPTION_KEY } from './host.module';
import { Member, PASSWORD } from './user-entities';

export { linkIn };

/** Records mails instead of sending them. Fails or hangs if a test requires it. */
export class Mailbox extends MailRecorder {
  deliver: (mail: Mail) => Promise<void> = async () => undefined;
  /** Releases the mails that {@link hangingMails} blocks. */
  release = (): void => undefined;

  /** Deletes the recorded mails and ends failures. */
  clear(): void {
    this.release();
    this.mails.length = 0;
    this.deliver = async () => undefined;
  }

  override async send(mail: Mail): Promise<void> {
    await this.deliver(mail);
    await super.send(mail);
  }

  /** Waits for longer than the recorder of the library: see {@link eventually}. */
  override async nth(number: number): Promise<Mail> {
    await eventually(async () => this.mails.length >= number);
    return super.nth(number);
  }

  override async to(address: string): Promise<Mail> {
    await eventually(async () => this.mails.some(({ to }) => to === address));
    return super.to(address);
  }

  /** Waits for a mail with a link that came after the first `before` mails, and returns the link. */
  async linkAfter(before: number, to?: string): Promise<URL> {
    return linkIn(await this.after(before, (mail) => /https?:/.test(mail.text) && mail.to === (to ?? mail.to)));
  }

  /**
   * Waits for a mail that came after the first `before` mails. `matches` excludes a notice of an earlier request,
   * which can arrive in between.
   */
  async after(before: number, matches: (mail: Mail) => boolean): Promise<Mail> {
    const find = (): Mail | undefined => this.mails.slice(before).find(matches);
    await eventually(async () => find() !== undefined);
    return find()!;
  }
}

export const API_URL = 'https://api.example.test';
export const RESET_URL = 'https://app.example.test/reset';
/** The pages of the links of a change of email. */
export const EMAIL_CHANGE = {
  confirmUrl: 'https://app.example.test/confirm-email',
  undoUrl: 'https://app.example.test/undo-email',
};

/** A host with members and every account feature. */
export async function startMembers(
  options: Partial<AuthModuleOptions> = {},
  more: TestAppOptions = {},
): Promise<{ t: TestApp; mailbox: Mailbox }> {
  const mailbox = new Mailbox();
  return { t: await TestApp.start({ options: memberOptions(mailbox, options), ...more }), mailbox };
}

/** The same host for a whole file: see {@link TestApp.forFile}. Its mailbox is emptied before each test. */
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
  emailChange: { ...EMAIL_CHANGE, ...options.emailChange },
  features: { registration: true, passwordReset: true, emailVerification: true, ...options.features },
});

/** Creates a member with the usual password. */
export async function member(t: TestApp, email: string, more: Partial<Member> = {}): Promise<string> {
  const passwordHash = await t.app.get(PasswordHasher).hash(PASSWORD);
  const { id } = await t.database.getRepository(Member).save({ name: 'Ada', email, passwordHash, ...more });
  return id;
}

/** The number of mails that the library sends concurrently. */
const AT_ONCE = 4;
export const WAITING = 'waiting@example.com';

/**
 * Makes the mail server hang with the maximum number of concurrent mails, all to {@link WAITING}. Every other mail
 * waits for `mailbox.release()`.
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
