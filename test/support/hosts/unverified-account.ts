import type { Type } from '@nestjs/common';
import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import type { TestApp } from './app';
import { ADA } from '../flows/step-up';
import { type Mailbox, member, membersForFile, startMembers } from './members';
import { PASSKEYS, ORIGIN, PasskeyApp } from '../flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';
import { enrol } from '../flows/two-factor';

export const NEW_PASSWORD = 'another horse entirely';

/** The columns of a member whose second factor was removed and whose email was verified. */
export const SECOND_FACTOR_REMOVED = { secret: null, codes: null, confirmedAt: null, verified: true };

const everything = (options: Partial<AuthModuleOptions>): Partial<AuthModuleOptions> => ({
  ...options,
  passkeys: PASSKEYS.passkeys,
  features: { ...PASSKEYS.features, twoFactor: true, ...options.features },
});

/** A host with second factors and an account with an unverified email address. */
export class UnverifiedAccount {
  authenticator!: SoftAuthenticator;
  userId!: string;
  readonly t: TestApp;
  readonly app: PasskeyApp;
  readonly mailbox: Mailbox;

  private constructor({ t, mailbox }: { t: TestApp; mailbox: Mailbox }) {
    [this.t, this.app, this.mailbox] = [t, new PasskeyApp(t), mailbox];
  }

  static async start(options: Partial<AuthModuleOptions> = {}): Promise<UnverifiedAccount> {
    const account = new UnverifiedAccount(await startMembers(everything(options)));
    await account.register();
    return account;
  }

  /** One host for a whole file, or for a `describe` block. Each test has a new account. */
  static forFile(options: Partial<AuthModuleOptions> = {}): UnverifiedAccount {
    const account = new UnverifiedAccount(membersForFile(everything(options)));
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

  get users(): Required<UserProvider> {
    return this.own(UserProvider) as Required<UserProvider>;
  }

  /** Adds a passkey and TOTP. Both survive a password change. */
  async addSecondFactors() {
    const credentialId = await this.app.enrol(await this.app.confirmed(), this.authenticator);
    return { credentialId, ...(await enrol(this.t)) };
  }

  /** A token that was mailed to the address. */
  async mailed(email = ADA): Promise<string> {
    const before = this.mailbox.mails.length;
    await this.t.http.post('/auth/forgot-password').send({ email }).expect(200);
    return (await this.mailbox.linkAfter(before)).searchParams.get('token')!;
  }

  post(token: string, email = ADA, password = NEW_PASSWORD) {
    const body = { token, email, password, password_confirmation: password };
    return this.t.http.post('/auth/reset-password').send(body);
  }

  async reset(): Promise<void> {
    await this.post(await this.mailed()).expect(200);
  }

  living(): Promise<object[]> {
    return this.t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
  }

  async factor(): Promise<typeof SECOND_FACTOR_REMOVED> {
    const [stored] = await this.t.database.query(
      `SELECT two_factor_secret AS secret, two_factor_recovery_codes AS codes, two_factor_confirmed_at AS "confirmedAt",
              email_verified_at IS NOT NULL AS verified FROM members`,
    );
    return stored;
  }
}
