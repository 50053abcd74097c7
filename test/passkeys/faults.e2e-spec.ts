import { PasskeyApp, type Confirmed, ORIGIN, PASSKEYS } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { Encryption } from '../../libs/auth/src/kernel/encryption';
import { loadWebauthn, webauthnOnDemand } from '../../libs/auth/src/passkeys/webauthn';
import { TestApp } from '../support/app';
import { ENCRYPTION_KEY } from '../support/host.module';
import { describeWithOwnRedis } from '../support/with-redis';
import { RedisServer } from '../support/redis';

describe('the stored key of a passkey', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  const authenticator = new SoftAuthenticator(ORIGIN);

  beforeEach(async () => {
    app = await PasskeyApp.start();
    ada = await app.confirmed();
    await app.enrol(ada, authenticator);
  });
  afterEach(() => app.stop());

  const tamper = (set: string): Promise<unknown> => app.t.database.query(`UPDATE passkeys SET ${set}`);

  it('is encrypted', async () => {
    const [{ public_key: sealed }] = (await app.rows()) as [{ public_key: string }];
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{130,}$/);
  });

  it.each([
    ['damaged', "public_key = left(public_key, -2) || 'AA'"],
    ['no ciphertext', "public_key = 'pQECAyYgASFYIA'"],
    ['under a key that is not known', "public_key = replace(public_key, split_part(public_key, '.', 2), '00000000')"],
  ])('that is %s is a fault of the server`s and no wrong passkey', async (_, set) => {
    const sessions = await app.sessions();
    await tamper(set);
    const { status, body } = await app.attempt(authenticator);
    expect({ status, body }).toEqual({ status: 500, body: { message: 'Something went wrong on our side.' } });
    expect(await app.sessions()).toBe(sessions);
  });

  it('is good for its own row only: an owner, or another passkey, cannot be given it', async () => {
    await tamper("user_id = '2'");
    const bob = Buffer.from('2').toString('base64url');
    expect((await app.attempt(authenticator, { userHandle: bob })).status).toBe(500);
    await tamper("user_id = '1'");
    const other = await app.enrol(ada, new SoftAuthenticator(ORIGIN));
    await app.t.database.query(
      'UPDATE passkeys SET public_key = (SELECT public_key FROM passkeys WHERE credential_id <> $1) WHERE credential_id = $1',
      [other],
    );
    const { ceremony_id, options } = await app.requestOptions();
    const forged = { ...authenticator.get(options), id: other, rawId: other };
    await app.login(ceremony_id, forged).expect(500);
  });

  it('is good for its own guard only', async () => {
    const [{ public_key: sealed, credential_id: id }] = (await app.rows()) as [Record<string, string>];
    const encryption = new Encryption([ENCRYPTION_KEY]);
    const context = (guard: string) => JSON.stringify(['passkey', guard, '1', id]);
    const key = encryption.decrypt(sealed!, context('api'));
    expect(key).not.toBeNull();
    await tamper(`public_key = '${encryption.encrypt(key!, context('admin'))}'`);
    expect((await app.attempt(authenticator)).status).toBe(500);
    await tamper(`public_key = '${encryption.encrypt(key!, context('api'))}'`);
    expect((await app.attempt(authenticator)).status).toBe(200);
  });

  it('that was encrypted under a former key still signs in', async () => {
    const next = await TestApp.start({
      databaseUrl: app.t.databaseUrl,
      options: {
        ...PASSKEYS,
        encryption: { key: 'the-next-key-of-encryption-at-rest-0123', previousKeys: [ENCRYPTION_KEY] },
      },
    });
    const { body } = await next.http.post('/auth/passkeys/login-options').expect(200);
    const answer = { ceremony_id: body.ceremony_id, credential: authenticator.get(body.options) };
    await next.http.post('/auth/passkeys/login').send(answer).expect(200);
    await next.stop();
  });
});

describe('without the table of passkeys', () => {
  it('the server is at fault, never the passkey', async () => {
    const app = await PasskeyApp.start();
    const ada = await app.confirmed();
    const authenticator = new SoftAuthenticator(ORIGIN);
    await app.enrol(ada, authenticator);
    const creation = await app.creationOptions(ada);
    await app.t.database.query('ALTER TABLE passkeys RENAME TO elsewhere');
    expect((await app.attempt(authenticator)).status).toBe(500);
    expect((await app.register(ada, new SoftAuthenticator(ORIGIN).create(creation))).status).toBe(500);
    await app.stop();
  });
});

describeWithOwnRedis('without an answer from Redis', () => {
  it('no ceremony starts or ends', async () => {
    const redis = await RedisServer.start();
    const t = await TestApp.start({ redisUrl: redis.url, options: PASSKEYS });
    const { body } = await t.http.post('/auth/passkeys/login-options').expect(200);
    redis.freeze();
    await t.http.post('/auth/passkeys/login-options').expect(503);
    await t.http.post('/auth/passkeys/login').send({ ceremony_id: body.ceremony_id, credential: {} }).expect(503);
    redis.thaw();
    await t.stop();
    await redis.stop();
  });
});

describe('without the package that verifies passkeys', () => {
  it('the module does not start, and says how to mend it', () => {
    const cure = 'features.passkeys needs the package @simplewebauthn/server. Run: npm install @simplewebauthn/server';
    expect(() => webauthnOnDemand(() => false)).toThrow(cure);
    expect(() => loadWebauthn(() => undefined)).toThrow(cure);
  });
});
