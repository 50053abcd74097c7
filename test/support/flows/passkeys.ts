import type { AuthModuleOptions } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type Tokens, TestApp } from '../hosts/app';
import { CONFIRMATION_HEADER, stepUpForFile, confirmationTokenOf, startStepUp } from './step-up';
import { type Change, type Sent, SoftAuthenticator } from '@svc/auth/testing';

export const ORIGIN = 'https://app.example.com';

export const PASSKEYS: Partial<AuthModuleOptions> = {
  features: { passkeys: true, lockout: true },
  passkeys: { rpId: 'example.com', rpName: 'Example', origins: [ORIGIN, 'https://example.com'] },
};

export const NOT_VERIFIED = {
  message: 'The passkey could not be verified.',
  errors: { credential: ['The passkey could not be verified.'] },
};
export const UNKNOWN_PASSKEY = {
  message: 'No account has this passkey.',
  errors: { credential: ['No account has this passkey.'] },
  reason: 'unknown_passkey',
};
export const NOT_REGISTERED = {
  message: 'The passkey could not be registered.',
  errors: { credential: ['The passkey could not be registered.'] },
};

const withPasskeys = (options: Partial<AuthModuleOptions>): Partial<AuthModuleOptions> => ({
  ...options,
  features: { ...PASSKEYS.features, ...options.features },
  passkeys: { ...PASSKEYS.passkeys, ...options.passkeys },
});

/** A signed-in user who has just confirmed the password. */
export interface Confirmed extends Tokens {
  proof: string;
}

/** A host with passkeys, and helpers for their requests. */
export class PasskeyApp {
  constructor(readonly t: TestApp) {}

  /** Users and operator are those of `startStepUp`. */
  static async start(options: Partial<AuthModuleOptions> = {}): Promise<PasskeyApp> {
    // Redis stores ceremonies by user id, and every application of a file has the same ids.
    return new PasskeyApp(await startStepUp({ keyPrefix: `${randomUUID()}:`, ...withPasskeys(options) }));
  }

  /** The same host for a whole file, or for a `describe` block: see {@link TestApp.forFile}. */
  static forFile(options: Partial<AuthModuleOptions> = {}): PasskeyApp {
    return new PasskeyApp(stepUpForFile(withPasskeys(options)));
  }

  stop(): Promise<void> {
    return this.t.stop();
  }

  /** Marks the emails of all users as verified. For users of the entity `VerifiablePerson`. */
  verifyEmails(): Promise<unknown> {
    return this.t.database.query('UPDATE people SET email_verified_at = now()');
  }

  async confirmed(email?: string): Promise<Confirmed> {
    const session = await this.t.session(email);
    return { ...session, proof: await confirmationTokenOf(this.t, session.access_token) };
  }

  call(method: 'get' | 'post' | 'delete' | 'patch', path: string, { access_token, proof }: Confirmed) {
    return this.t.http[method](`/auth/${path}`)
      .set('Authorization', `Bearer ${access_token}`)
      .set(CONFIRMATION_HEADER, proof);
  }

  async creationOptions(user: Confirmed) {
    return (await this.call('post', 'passkeys/registration-options', user).expect(200)).body;
  }

  register(user: Confirmed, credential: unknown, name?: unknown) {
    return this.call('post', 'passkeys', user).send({ credential, name });
  }

  /** Registers a passkey and returns its id. */
  async enrol(user: Confirmed, authenticator: SoftAuthenticator, change?: Change, name?: string): Promise<string> {
    const credential = authenticator.create(await this.creationOptions(user), change);
    await this.register(user, credential, name).expect(204);
    return credential.id;
  }

  async requestOptions() {
    return (await this.t.http.post('/auth/passkeys/login-options').expect(200)).body;
  }

  login(ceremonyId: unknown, credential: unknown) {
    return this.t.http.post('/auth/passkeys/login').send({ ceremony_id: ceremonyId, credential });
  }

  /** The authenticator's response to a new ceremony. */
  async answer(authenticator: SoftAuthenticator, change?: Change): Promise<{ ceremony_id: string; credential: Sent }> {
    const { ceremony_id, options } = await this.requestOptions();
    return { ceremony_id, credential: authenticator.get(options, change) };
  }

  /** Signs in with the authenticator's last passkey. `spoil` changes the response after its signature. */
  async attempt(authenticator: SoftAuthenticator, change?: Change, spoil: (sent: Sent) => unknown = (sent) => sent) {
    const { ceremony_id, credential } = await this.answer(authenticator, change);
    return this.login(ceremony_id, spoil(credential));
  }

  /** Signs in as {@link attempt} does, requires success and returns the tokens. */
  async signIn(authenticator: SoftAuthenticator, change?: Change): Promise<Tokens> {
    const { status, body } = await this.attempt(authenticator, change);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  }

  /** The stored passkeys, as rows. */
  rows(): Promise<Record<string, unknown>[]> {
    return this.t.database.query('SELECT * FROM svc_passkeys ORDER BY created_at');
  }

  async setCount(count: number): Promise<void> {
    await this.t.database.query('UPDATE svc_passkeys SET sign_count = $1', [count]);
  }

  async sessions(): Promise<number> {
    return (await this.t.database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;
  }
}

/** Stores a passkey for any user and guard without the library. No user can sign in with it. */
export async function storePasskey(
  t: TestApp,
  id: string,
  userId: string,
  guard: string | null = 'api',
): Promise<void> {
  await t.database.query(
    `INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
     VALUES ($1, $2, $3, 'KEY', gen_random_uuid(), true, true, now(), now())`,
    [id, userId, guard],
  );
}
