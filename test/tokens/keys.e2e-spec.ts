import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { sign } from 'jsonwebtoken';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApp, claimsOf } from '../support/hosts/app';
import { forge } from '../support/clients/forge';
import { SECRET } from '../support/hosts/host.module';

const keyPair = (type: 'rsa' | 'ec') =>
  generateKeyPairSync(
    type as 'rsa',
    {
      modulusLength: 2048,
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    } as never,
  ) as unknown as { publicKey: string; privateKey: string };

/** Two key pairs of each type. */
const PAIRS = { rsa: [keyPair('rsa'), keyPair('rsa')], ec: [keyPair('ec'), keyPair('ec')] } as const;

const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());

describe.each([
  ['RS256', 'rsa'],
  ['ES256', 'ec'],
] as const)('under %s', (algorithm, type) => {
  const [active, former] = PAIRS[type];
  const [other] = PAIRS[type === 'rsa' ? 'ec' : 'rsa'];
  let t: TestApp;

  beforeAll(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'svc-key-')), 'former.pem');
    writeFileSync(file, former.publicKey);
    t = await TestApp.start({
      options: {
        secret: undefined,
        algorithm,
        keys: {
          active: 'k2',
          private: active.privateKey.replaceAll('\n', '\\n'),
          public: {
            k1: file,
            k2: active.publicKey,
            blank: '',
            gone: '/nowhere.pem',
            junk: 'junk',
            other: other.publicKey,
          },
        },
      },
    });
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('tokens name their key, and the published JWK Set verifies them', async () => {
    const { access_token: token } = await t.session();
    expect(headerOf(token)).toEqual({ alg: algorithm, typ: 'at+jwt', kid: 'k2' });
    const { body, headers } = await t.get('/auth/jwks').expect(200);
    expect(headers['cache-control']).toBe('max-age=3600, public');
    expect(body.keys.map(({ kid }: { kid: string }) => kid)).toEqual(['k1', 'k2']);
    const jwk = body.keys[1];
    expect(Object.keys(jwk).toSorted()).toEqual(
      (type === 'rsa'
        ? ['alg', 'e', 'kid', 'kty', 'n', 'use']
        : ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']
      ).toSorted(),
    );
    const [head, payload, signature] = token.split('.');
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const };
    expect(verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature!, 'base64url'))).toBe(true);
  });

  it('tokens of the former key are accepted while it is published', async () => {
    const { access_token: token } = await t.session();
    const claims = claimsOf(token);
    const old = sign(claims, former.privateKey, { algorithm, header: { typ: 'at+jwt', alg: algorithm, kid: 'k1' } });
    await t.get('/private', old).expect(200);
    await t.get('/passport', old).expect(200);
  });

  it.each([
    ['an unknown key', 'k9'],
    ['the other key', 'k1'],
    ['no key', undefined],
    ['a prototype', '__proto__'],
    ['a key of another kind', 'other'],
  ])('a token that names %s is refused', async (_, kid) => {
    const { access_token: token } = await t.session();
    const claims = claimsOf(token);
    const forged = sign(claims, active.privateKey, { algorithm, header: { typ: 'at+jwt', alg: algorithm, kid } });
    await t.get('/private', forged).expect(401);
    await t.get('/passport', forged).expect(401);
  });

  it('a malformed token is refused with 401', async () => {
    const header = Buffer.from(JSON.stringify({ typ: 'JWT', alg: algorithm, kid: 'k2' })).toString('base64url');
    for (const body of ['bm90IGpzb24', '', '____', 'W10']) {
      for (const path of ['/private', '/passport']) await t.get(path, `${header}.${body}.c2ln`).expect(401);
    }
  });

  it('a token signed with the public key as an HMAC secret is refused', async () => {
    for (const header of [{ kid: 'k2' }, {}])
      await t.get('/private', forge({ secret: active.publicKey, header })).expect(401);
  });

  it('both guards share the keys, and each refuses the other`s tokens', async () => {
    await t.person('root@example.com', 'admin');
    const { access_token: token } = await t.session('root@example.com', 'admin');
    await t.get('/staff', token).expect(200);
    await t.get('/private', token).expect(401);
  });
});

describe('under HS256', () => {
  it('the JWK Set is empty, because the key is secret', async () => {
    const t = await TestApp.start();
    const { body } = await t.get('/auth/jwks').expect(200);
    expect(body).toEqual({ keys: [] });
    await t.stop();
  });

  it('former secrets verify, and only the newest secret signs', async () => {
    const newest = 'the-newest-secret-of-all-0123456789abcdef';
    const t = await TestApp.start({ options: { secret: newest, previousSecrets: [SECRET] } });
    await t.person('ada@example.com');
    await t.get('/private', forge({ secret: SECRET })).expect(200);
    await t.get('/passport', forge({ secret: SECRET })).expect(200);
    await t.get('/private', forge({ secret: newest })).expect(200);
    const { access_token: token } = await t.session();
    await t.stop();

    const after = await TestApp.start({ options: { secret: newest } });
    await after.person('ada@example.com');
    await after.get('/private', token).expect(200);
    await after.get('/private', forge({ secret: SECRET })).expect(401);
    await after.stop();
  });
});

describe('a guard with separate keys', () => {
  const ring = (pair: { publicKey: string; privateKey: string }, kid: string) => ({
    algorithm: 'ES256' as const,
    keys: { active: kid, private: pair.privateKey, public: { [kid]: pair.publicKey } },
  });
  const exp = Math.floor(Date.now() / 1000) + 600;
  const staffClaims = { iss: 'https://api.example.com', aud: 'https://admin.example.com', sub: '1', exp };

  it('accepts no key of the default guard', async () => {
    const [own, staff] = PAIRS.ec;
    const t = await TestApp.start({ options: { ...ring(own, 'api1'), guards: { admin: ring(staff, 'adm1') } } });
    await t.person('root@example.com', 'admin');
    const { body } = await t.get('/admin/auth/jwks').expect(200);
    expect(body.keys.map(({ kid }: { kid: string }) => kid)).toEqual(['adm1']);
    const header = (kid: string) => ({ typ: 'at+jwt', alg: 'ES256', kid });
    await t
      .get('/staff', sign(staffClaims, own.privateKey, { algorithm: 'ES256', header: header('api1') }))
      .expect(401);
    await t
      .get('/staff', sign(staffClaims, staff.privateKey, { algorithm: 'ES256', header: header('adm1') }))
      .expect(200);
    await t.stop();
  });

  it('accepts no former secret of the default guard', async () => {
    const retired = 'a-retired-secret-of-the-default-guard!!';
    const own = 'the-own-secret-of-the-admin-guard-0123456';
    const t = await TestApp.start({ options: { previousSecrets: [retired], guards: { admin: { secret: own } } } });
    await t.person('root@example.com', 'admin');
    await t.get('/staff', forge({ secret: retired, claims: { aud: staffClaims.aud } })).expect(401);
    await t.get('/staff', forge({ claims: { aud: staffClaims.aud } })).expect(401);
    await t.get('/staff', forge({ secret: own, claims: { aud: staffClaims.aud } })).expect(200);
    await t.stop();
  });
});
