import type { Type } from '@nestjs/common';
import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import type { TestApp } from './app';
import { ADA } from './step-up';
import { type Mailbox, linkIn, member, membersForFile, startMembers } from './members';
import { PASSKEYS, ORIGIN, PasskeyApp } from './passkeys';
import { SoftAuthenticator } from './cose-key';
import { enrol } from './two-factor';

export const NEXT = 'another horse entirely';

/** What is stored of a member's second factor once it is gone and the address proved. */
export const CLEARED = { secret: null, codes: null, confirmedAt: null, verified: true };

const everything = (options: Partial<AuthModuleOptions>): Partial<AuthModuleOptions> => ({
  ...options,
  passkeys: PASSKEYS.passkeys,
  features: { ...PASSKEYS.features, twoFactor: true, ...options.features },
});

/** A host with all that outlives a password, and an account whose address was registered by whoever. */
export class UnprovedAccount {
  authenticator!: SoftAuthenticator;
  userId!: string;
  readonly t: TestApp;
  readonly app: PasskeyApp;
  private readonly mailbox: Mailbox;

  private constructor({ t, mailbox }: { t: TestApp; mailbox: Mailbox }) {
    [this.t, this.app, this.mailbox] = [t, new PasskeyApp(t), mailbox];
  }

  static async start(options: Partial<AuthModuleOptions> = {}): Promise<UnprovedAccount> {
    const account = new UnprovedAccount(await startMembers(everything(options)));
    await account.register();
    return account;
  }

  /** One host for a whole file, or for a `describe` block, with a new account before each test. */
  static forFile(options: Partial<AuthModuleOptions> = {}): UnprovedAccount {
    const account = new UnprovedAccount(membersForFile(everything(options)));
    beforeEach(() => account.register());
    return account;
  }

  private async register(): Promise<void> {
    this.userId = await member(this.t, ADA);
    this.authenticator = new SoftAuthenticator(ORIGIN);
  }

  /** A service of the default guard. */
  own<T>(type: abstract new (...args: never[]) => T): T {
    // The default guard is the last one that the module declares, and Nest returns the last one.
    return this.t.app.get<T>(type as Type<T>);
  }

  get users(): UserProvider {
    return this.own(UserProvider);
  }

  /** Both ways to stay in: a passkey, and a second factor. */
  async dugIn() {
    const credentialId = await this.app.enrol(await this.app.confirmed(), this.authenticator);
    return { credentialId, ...(await enrol(this.t)) };
  }

  /** A token that was mailed to the owner of the address. */
  async mailed(email = ADA): Promise<string> {
    const before = this.mailbox.mails.length;
    await this.t.http.post('/auth/forgot-password').send({ email }).expect(200);
    return linkIn(await this.mailbox.nth(before + 1)).searchParams.get('token')!;
  }

  post(token: string, email = ADA, password = NEXT) {
    const body = { token, email, password, password_confirmation: password };
    return this.t.http.post('/auth/reset-password').send(body);
  }

  async reset(): Promise<void> {
    await this.post(await this.mailed()).expect(200);
  }

  living(): Promise<object[]> {
    return this.t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
  }

  async factor(): Promise<typeof CLEARED> {
    const [stored] = await this.t.database.query(
      `SELECT two_factor_secret AS secret, two_factor_recovery_codes AS codes, two_factor_confirmed_at AS "confirmedAt",
              email_verified_at IS NOT NULL AS verified FROM members`,
    );
    return stored;
  }
}
