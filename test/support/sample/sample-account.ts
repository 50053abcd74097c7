import { randomBytes } from 'node:crypto';
import { eventually } from '../runtime/eventually';
import { send } from '../hosts/processes';
import type { SampleVisit, Tab } from './sample-page';
import { codeAt, secretIn } from '../flows/totp';

const PASSWORD = 'seven green bottles';

const now = (time = Date.now()): number => Math.floor(time / 30_000);

/** A customer of the sample with a confirmed address, who was created without the page. */
export class SampleAccount {
  readonly password = PASSWORD;
  /** The recovery codes that were not used. */
  recoveryCodes: string[] = [];
  private secret = '';
  private lastStep = 0;

  private constructor(
    private readonly visit: SampleVisit,
    readonly email: string,
  ) {}

  static async of(visit: SampleVisit): Promise<SampleAccount> {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    const fields = { name: 'Ada', email, password: PASSWORD, password_confirmation: PASSWORD };
    const { status, body } = await visit.sample.call('POST', '/auth/register', fields);
    expect(status).toBe(200);
    await visit.sample.call('POST', '/auth/logout', undefined, body.access_token);
    await visit.sql(`UPDATE users SET email_verified_at = now() WHERE email = '${email}'`);
    return new SampleAccount(visit, email);
  }

  /** Sets up an authenticator app, in a session that ends with it. */
  async addAuthenticator(): Promise<void> {
    const call = this.visit.sample.call.bind(this.visit.sample);
    const { access_token: token } = (await call('POST', '/auth/login', this.credentials)).body;
    const confirmed = await call('POST', '/auth/confirm-password', { password: PASSWORD }, token);
    const headers = { 'X-Svc-Confirmation': confirmed.body.confirmation_token };
    const answer = await send(`${this.visit.sample.url}/auth/two-factor`, 'POST', undefined, token, headers);
    const { otpauth_uri: uri, recovery_codes: codes } = answer.body as unknown as {
      otpauth_uri: string;
      recovery_codes: string[];
    };
    this.secret = secretIn(uri);
    this.recoveryCodes = codes;
    this.lastStep = now() - 2;
    const code = await this.code();
    const confirmation = await send(
      `${this.visit.sample.url}/auth/two-factor/confirm`,
      'POST',
      { code },
      token,
      headers,
    );
    expect(confirmation.status).toBe(204);
    await call('POST', '/auth/logout', undefined, token);
  }

  get credentials(): { email: string; password: string } {
    return { email: this.email, password: PASSWORD };
  }

  /**
   * A code of the authenticator that was not used. The server accepts those of the previous, this and the next 30 seconds. One
   * that ends within 10 seconds could end before the server reads it.
   */
  async code(): Promise<string> {
    const step = Math.max(this.lastStep + 1, now(Date.now() + 10_000) - 1);
    await eventually(async () => step <= now() + 1);
    this.lastStep = step;
    return codeAt(this.secret, step);
  }

  /** Signs in with the form of the page. */
  signsIn(tab: Tab): Promise<void> {
    return tab.signsIn(this.email, PASSWORD);
  }

  /** Signs in with the form of the page, and with a code. */
  async signsInWithCode(tab: Tab): Promise<void> {
    await this.signsIn(tab);
    await tab.sees('One more step');
    await tab.fills({ 'Code from your authenticator app': await this.code() });
    await tab.presses('Continue');
    await tab.sees('Overview');
  }
}
