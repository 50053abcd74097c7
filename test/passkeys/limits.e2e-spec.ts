import { randomUUID } from 'node:crypto';
import { HEADER, confirm } from '../support/confirming';
import { UNLIMITED } from '../support/host.module';
import { type Confirmed, ORIGIN, PasskeyApp } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';

const THREE = { maxAttempts: 3, decaySeconds: 60 };

describe('the limit of passkeys', () => {
  let app: PasskeyApp;
  afterEach(() => app.stop());

  const start = (rateLimits: object): Promise<PasskeyApp> =>
    PasskeyApp.start({ keyPrefix: randomUUID(), rateLimits: { ...UNLIMITED, ...rateLimits } });

  it('is one for options and sign-in together, whatever their outcome, and comes before the body', async () => {
    app = await start({ passkeys: THREE });
    const { headers } = await app.t.http.post('/auth/passkeys/login-options').expect(200);
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    await app.login('x', {}).expect(422);
    await app.login(7, 7).expect(422);
    const refused = await app.login(7, 7).expect(429);
    expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    await app.t.http.post('/auth/passkeys/login-options').expect(429);
    // It is no limit of the password's.
    await app.t.session();
  });

  it('of a confirmation is that of the password too, and comes before the body', async () => {
    app = await start({ confirm: THREE });
    const ada: Confirmed = { ...(await app.t.session()), proof: '' };
    const attempt = (body: object) => app.call('post', 'confirm-passkey', ada).set(HEADER, '').send(body);
    await attempt({ ceremony_id: 'x', credential: {} }).expect(422);
    await attempt({}).expect(422);
    await confirm(app.t, ada.access_token).expect(200);
    await attempt({}).expect(429);
    await confirm(app.t, ada.access_token).expect(429);
    await app.requestOptions();
  });

  it('never locks a passkey out, however many fail', async () => {
    app = await PasskeyApp.start({ lockout: { maxAttempts: 2 } });
    const ada = await app.confirmed();
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
    const attempt = async (credential: object, ceremony_id: unknown) =>
      (await app.call('post', 'confirm-passkey', ada).send({ ceremony_id, credential })).status;
    for (let i = 0; i < 5; i++) expect(await attempt({}, 'x')).toBe(422);
    for (let i = 0; i < 2; i++) await confirm(app.t, ada.access_token, { password: 'wrong' }).expect(422);
    await confirm(app.t, ada.access_token).expect(423);
    const { ceremony_id, options } = await app.requestOptions();
    expect(await attempt(authenticator.get(options), ceremony_id)).toBe(200);
    await confirm(app.t, ada.access_token).expect(200);
  });
});
