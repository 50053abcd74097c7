import { SoftAuthenticator, type Sent } from '@svc/auth/testing';
import { TestApp } from '../support/hosts/app';
import { type Confirmed, NOT_VERIFIED, ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { completeChallenge, startChallenge } from '../support/flows/two-factor';

/** The hash of the certificate of an Android application, as Android writes it. */
const HASH = 'pNiP5iKyQ8JwgGOaKA1zGPUPJIS0-0JxgbGTNUGX_Aw';
const RELATED = 'https://example.net';

/** A credential whose texts of bytes are written by `write`. */
const rewritten = (sent: Sent, write: (text: string) => string): Sent => ({
  ...sent,
  id: write(sent.id),
  rawId: write(sent.rawId),
  response: Object.fromEntries(
    Object.entries(sent.response).map(([name, value]) => [name, typeof value === 'string' ? write(value) : value]),
  ),
});
const bytesIn = (text: string): Buffer => Buffer.from(text, 'base64url');
const SPELLINGS: [string, (text: string) => string][] = [
  ['padded base64url', (text) => text + '='.repeat((4 - (text.length % 4)) % 4)],
  ['base64', (text) => bytesIn(text).toString('base64')],
  ['base64 without padding', (text) => bytesIn(text).toString('base64').replaceAll('=', '')],
];

describe('a passkey of a native application', () => {
  const app = PasskeyApp.forFile({
    passkeys: { required: true, origins: [ORIGIN, `android:apk-key-hash:${HASH}`], relatedOrigins: [RELATED] },
  });
  let ada: Confirmed;
  beforeEach(async () => void (ada = await app.confirmed()));

  it('is registered and signs in from the origin of the application, and from no other one', async () => {
    const device = new SoftAuthenticator(`android:apk-key-hash:${HASH}`);
    await app.enrol(ada, device);
    await app.signIn(device);
    const padded = `android:apk-key-hash:${Buffer.from(HASH, 'base64url').toString('base64')}`;
    await app.signIn(device, { clientData: { origin: padded } });
    for (const origin of [HASH, `android:apk-key-hash:${HASH.replace('p', 'q')}`, 'android:apk-key-hash:']) {
      expect(await app.attempt(device, { clientData: { origin } })).toMatchObject({ status: 422, body: NOT_VERIFIED });
    }
  });

  it.each(SPELLINGS)('is registered and signs in with bytes in %s, and is one passkey', async (_, write) => {
    const device = new SoftAuthenticator(ORIGIN);
    // Its text contains characters that differ in base64, and needs padding.
    const credential = device.create(await app.creationOptions(ada), {
      credentialId: Buffer.from('fbefbeffff', 'hex'),
    });
    await app.register(ada, rewritten(credential, write)).expect(204);
    expect(await app.rows()).toMatchObject([{ credential_id: credential.id }]);
    expect((await app.attempt(device, {}, (sent) => rewritten(sent, write))).status).toBe(200);
    await app
      .register(ada, device.create(await app.creationOptions(ada), { credentialId: bytesIn(credential.id) }))
      .expect(422);
  });

  it.each<[string, unknown]>([
    ['no', undefined],
    ['a null', null],
    ['an empty', ''],
  ])('signs in, confirms and is a second step with %s user handle', async (_, userHandle) => {
    const device = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, device);
    const answer = async () => {
      const { ceremony_id, credential } = await app.answer(device);
      return { ceremony_id, credential: { ...credential, response: { ...credential.response, userHandle } } };
    };
    const { ceremony_id, credential } = await answer();
    await app.login(ceremony_id, credential).expect(200);
    await app
      .call('post', 'confirm-passkey', ada)
      .send(await answer())
      .expect(200);
    await completeChallenge(app.t, { challenge_token: await startChallenge(app.t), ...(await answer()) }).expect(200);
    const bob = await app.t.session('bob@example.com');
    await app.t
      .call('post', '/auth/confirm-passkey', bob.access_token)
      .send(await answer())
      .expect(422);
  });

  it('is registered and signs in from a related origin', async () => {
    const device = new SoftAuthenticator(RELATED);
    await app.enrol(ada, device);
    await app.signIn(device);
    for (const origin of ['https://www.example.net', 'http://example.net'])
      expect(await app.attempt(device, { clientData: { origin } })).toMatchObject({ status: 422 });
  });
});

describe.each([false, true])('the list of related origins (on Fastify: %s)', (fastify) => {
  const relatedOrigins = [RELATED, 'https://shop.example.org'];
  const start = (passkeys: object, more: object = {}) =>
    TestApp.start({
      fastify,
      options: { ...PASSKEYS, passkeys: { ...PASSKEYS.passkeys, ...passkeys }, ...more },
      prepare: (app) => app.setGlobalPrefix('v1'),
    });

  it('is served at the root of the host, outside every prefix, whatever the domain of the library', async () => {
    const t = await start({ relatedOrigins }, { domain: 'api.example.com' });
    const { body, headers } = await t.http.get('/.well-known/webauthn').expect(200);
    expect(body).toEqual({ origins: relatedOrigins });
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'cache-control': 'max-age=3600, public',
      'x-content-type-options': 'nosniff',
    });
    await t.http.get('/v1/.well-known/webauthn').expect(404);
    await t.stop();
  });

  it('is not served without related origins, and not without routes', async () => {
    for (const [passkeys, more] of [
      [{}, {}],
      [{ relatedOrigins }, { routes: false }],
    ] as const) {
      const t = await start(passkeys, more);
      await t.http.get('/.well-known/webauthn').expect(404);
      await t.stop();
    }
  });
});
