import { type AuthModuleOptions, UserProvider } from '@svc/auth';
import { Realms } from '../../libs/auth/src/realm/realm';
import type { TestApp } from './app';
import { ADA } from './confirming';
import { type Mailbox, linkIn, member, startMembers } from './members';
import { PASSKEYS, ORIGIN, PasskeyApp } from './passkeys';
import type { Member } from './people';
import { SoftAuthenticator } from './soft-authenticator';
import { enrol } from './two-factor';

export const NEXT = 'another horse entirely';

/** What is stored of a member's second factor once it is gone and the address proved. */
export const CLEARED = { secret: null, codes: null, confirmedAt: null, verified: true };

/** A host with all that outlives a password, and an account whose address was registered by whoever. */
export class UnprovedAccount {
  readonly authenticator = new SoftAuthenticator(ORIGIN);

  private constructor(
    readonly t: TestApp,
    readonly app: PasskeyApp,
    readonly userId: string,
    private readonly mailbox: Mailbox,
  ) {}

  static async start(options: Partial<AuthModuleOptions> = {}, more: Partial<Member> = {}): Promise<UnprovedAccount> {
    const features = { ...PASSKEYS.features, twoFactor: true, ...options.features };
    const { t, mailbox } = await startMembers({ ...options, passkeys: PASSKEYS.passkeys, features });
    return new UnprovedAccount(t, new PasskeyApp(t), await member(t, ADA, more), mailbox);
  }

  own<T>(type: abstract new (...args: never[]) => T): T {
    return this.t.app.get(Realms).default.get(type);
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
