import type { AuthModuleOptions } from '@svc/auth';
import type { TestApp, TestAppOptions } from './app';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../flows/step-up';
import { knownDeviceOptions } from '../flows/known-devices';
import { type Mailbox, member, membersForFile, startMembers } from './members';
import { tablesContaining } from '../views/find-texts';
import { ORIGIN, PASSKEYS, PasskeyApp, storePasskey } from '../flows/passkeys';
import { SoftAuthenticator } from '@svc/auth/testing';
import { enrol } from '../flows/two-factor';

const TABLES = [
  'members',
  'svc_access_keys',
  'svc_device_keys',
  'svc_email_changes',
  'svc_email_deliveries',
  'svc_known_devices',
  'svc_lockouts',
  'svc_passkeys',
  'svc_password_resets',
  'svc_sessions',
  'svc_trusted_devices',
];

/** The deletion of an account keeps its session rows, with an empty `user_id`. */
const OF_ACCOUNTS: Record<string, string> = { svc_sessions: "WHERE user_id <> ''" };

const everything = (options: Partial<AuthModuleOptions>): Partial<AuthModuleOptions> => ({
  ...knownDeviceOptions({ knownDevices: { mail: false } }),
  passkeys: PASSKEYS.passkeys,
  ...options,
  features: { knownDevices: true, lockout: true, twoFactor: true, passkeys: true, ...options.features },
});

/** A signed-in member of a host with all features. */
export class FullAccount {
  readonly email = ADA;
  id!: string;
  token!: string;
  readonly t: TestApp;
  private readonly mailbox: Mailbox;

  private constructor({ t, mailbox }: { t: TestApp; mailbox: Mailbox }) {
    [this.t, this.mailbox] = [t, mailbox];
  }

  static async start(options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): Promise<FullAccount> {
    const account = new FullAccount(await startMembers(everything(options), more));
    await account.begin();
    return account;
  }

  /** One host for a whole file, or for a `describe` block. Each test has a new account. */
  static forFile(options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): FullAccount {
    const account = new FullAccount(membersForFile(everything(options), more));
    beforeEach(() => account.begin());
    return account;
  }

  /** Creates the account and signs in. */
  async begin(): Promise<void> {
    this.id = await member(this.t, ADA);
    this.token = (await this.t.session()).access_token;
  }

  /** Adds rows to every table of the library, and to some tables also rows for the same id of the other guard. */
  async fillTables(): Promise<void> {
    const { t, id, token } = this;
    await t.session();
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    await this.mailbox.nth(1);
    await t.login(ADA, 'wrong').expect(422);
    await t.call('post', '/auth/confirm-password', token).send({ password: 'wrong' }).expect(422);
    await t.database.query(
      `INSERT INTO svc_lockouts SELECT substr(md5(s || p || g), 1, 26), p, s, g, 1, NULL, now(), now()
         FROM unnest($1::text[]) s, unnest('{login,two_factor,confirm}'::text[]) p, unnest('{api,admin}'::text[]) g
       ON CONFLICT DO NOTHING`,
      [[id, `id:${id}`, `idn:${ADA}`]],
    );
    await t.database.query(
      `INSERT INTO svc_email_changes SELECT gen_random_uuid(), g, $1, 's', $2, true, $2, 'requested', g, NULL, 'x', now(), NULL,
              NULL, now() + interval '1 day' FROM unnest('{api,admin}'::text[]) g`,
      [id, ADA],
    );
    await t.database.query(
      `INSERT INTO svc_email_deliveries SELECT gen_random_uuid(), g, $1, 'x', now() FROM unnest('{api,admin}'::text[]) g`,
      [id],
    );
    const passkeys = new PasskeyApp(t);
    await passkeys.enrol(await passkeys.confirmed(ADA), new SoftAuthenticator(ORIGIN));
    await storePasskey(t, 'staff', id, 'admin');
    await t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       VALUES (gen_random_uuid(), 'admin', $1, 'x', gen_random_uuid(), now(), now())`,
      [id],
    );
    await t.database.query(
      `INSERT INTO svc_identities (id, guard, user_id, provider, issuer, subject, linked_at)
       SELECT gen_random_uuid(), g, $1, 'acme', 'https://id.example.test', 's', now() FROM unnest('{api,admin}'::text[]) g`,
      [id],
    );
    await t.database.query(
      `INSERT INTO svc_access_keys
       SELECT gen_random_uuid(), g, $1, null, 'l', '', '', 'x', now(), null, null, '', null FROM unnest('{api,admin}'::text[]) g`,
      [id],
    );
    await t.database.query(
      `INSERT INTO svc_device_keys SELECT gen_random_uuid(), g, $1, '{}', now() FROM unnest('{api,admin}'::text[]) g`,
      [id],
    );
    await enrol(t, ADA);
    await t.database.query(
      `INSERT INTO svc_trusted_devices SELECT g, $1, gen_random_uuid(), 'x', 'x', 'agent', now(), now() + interval '1 h'
         FROM unnest('{api,admin}'::text[]) g`,
      [id],
    );
  }

  /** Deletes the rows of the same id of the other guard. */
  async deleteOtherGuardRows(): Promise<void> {
    for (const table of [
      'svc_access_keys',
      'svc_device_keys',
      'svc_known_devices',
      'svc_identities',
      'svc_lockouts',
      'svc_passkeys',
      'svc_email_changes',
      'svc_email_deliveries',
      'svc_trusted_devices',
    ])
      await this.t.database.query(`DELETE FROM ${table} WHERE guard = 'admin'`);
  }

  prove(): Promise<string> {
    return confirmationTokenOf(this.t, this.token);
  }

  async erase(proof?: string) {
    return this.t.call('delete', '/auth/account', this.token).set(CONFIRMATION_HEADER, proof ?? (await this.prove()));
  }

  /** The number of rows of accounts by table. The remains of deleted sessions do not count. */
  async rows(): Promise<Record<string, number>> {
    const count = async (table: string): Promise<[string, number]> => {
      const [{ n }] = await this.t.database.query(
        `SELECT count(*)::int AS n FROM ${table} ${OF_ACCOUNTS[table] ?? ''}`,
      );
      return [table, n];
    };
    return Object.fromEntries(await Promise.all(TABLES.map(count)));
  }

  /** The tables with a row that mentions the account. */
  mentions(): Promise<string[]> {
    return tablesContaining(this.t, [this.id, ADA]);
  }
}
