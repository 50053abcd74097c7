import { type AuthModuleOptions, AuthConfigError } from '@svc/auth';
import { generateKeyPairSync } from 'node:crypto';
import { TestApp, claimsOf } from '../support/hosts/app';

const { publicKey, privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ISSUER = 'https://api.acme.test';
const PATH = '/.well-known/jwks.json';
const DOCUMENT = '/.well-known/openid-configuration';

const options = (keys: object, more: Partial<AuthModuleOptions> = {}): Partial<AuthModuleOptions> => ({
  algorithm: 'ES256',
  keys: { active: 'k1', private: privateKey, public: { k1: publicKey }, ...keys },
  issuer: ISSUER,
  ...more,
});

const start = (keys: object, more: Partial<AuthModuleOptions> = {}, fastify = false, exclude: string[] = []) =>
  TestApp.start({ fastify, options: options(keys, more), prepare: (app) => app.setGlobalPrefix('v1', { exclude }) });

describe('keys.discovery', () => {
  it.each([
    ['at the root', ISSUER, '', false],
    ['at the root, on Fastify', ISSUER, '', true],
    ['below the path of the issuer', 'https://acme.test/tenant', '/tenant', false],
    ['below an issuer that ends in a slash', 'https://acme.test/tenant/', '/tenant', true],
  ])(
    'publishes the issuer and its keys %s, outside the prefix of the application',
    async (_, issuer, below, fastify) => {
      const t = await start({ discovery: PATH }, { issuer }, fastify);
      const { accessToken: token } = await t.auth.startSession(await t.person('ada@example.com'));
      const { body, headers } = await t.http.get(below + DOCUMENT).expect(200);
      expect(body).toEqual({ issuer: claimsOf(token).iss, jwks_uri: new URL(below + PATH, issuer).href });
      expect(headers).toMatchObject({
        'content-type': expect.stringMatching(/^application\/json/),
        'cache-control': 'max-age=3600, public',
        'x-content-type-options': 'nosniff',
      });
      const keys = await t.http.get(below + PATH).expect(200);
      expect(keys.headers['cache-control']).toBe('max-age=3600, public');
      expect(keys.body).toEqual((await t.http.get('/v1/auth/jwks').expect(200)).body);
      expect(keys.body.keys).toEqual([expect.objectContaining({ kid: 'k1', alg: 'ES256', use: 'sig' })]);
      await t.http.get(`/v1${below}${DOCUMENT}`).expect(404);
      await t.stop();
    },
  );

  it.each<[string, string, string[], boolean]>([
    ['below the prefix', '/v1/auth/jwks', [], false],
    ['below the prefix, on Fastify', '/v1/auth/jwks', [], true],
    ['without the prefix, from which the host excludes it, on Fastify', '/auth/jwks', ['auth/jwks'], true],
    ['at another path than that of the excluded route', '/v1/auth/jwks', ['auth/jwks'], false],
  ])('can name the route of the library %s', async (_, discovery, exclude, fastify) => {
    const t = await start({ discovery }, {}, fastify, exclude);
    expect((await t.http.get(DOCUMENT).expect(200)).body.jwks_uri).toBe(ISSUER + discovery);
    expect((await t.http.get(discovery).expect(200)).body.keys).toHaveLength(1);
    await t.stop();
  });

  it('is off by default, and without routes', async () => {
    for (const [keys, more] of [
      [{}, {}],
      [{ discovery: PATH }, { routes: false }],
    ] as const) {
      const t = await start(keys, more);
      await t.http.get(DOCUMENT).expect(404);
      await t.http.get(PATH).expect(404);
      await t.stop();
    }
  });

  it.each<[string, object, Partial<AuthModuleOptions>, RegExp]>([
    [
      'HS256, whose key is secret',
      { discovery: PATH, private: undefined, public: {} },
      { algorithm: 'HS256' },
      /^keys\.discovery \(SVC_DISCOVERY\) needs an algorithm with public keys/,
    ],
    ['an issuer that is a name', { discovery: PATH }, { issuer: 'acme' }, /issuer \(SVC_ISSUER\) is no http\(s\) URL/],
    [
      'an issuer with a query',
      { discovery: PATH },
      { issuer: `${ISSUER}?a=b` },
      /issuer \(SVC_ISSUER\) is no http\(s\) URL/,
    ],
    ['an issuer with a password', { discovery: PATH }, { issuer: 'https://a:b@acme.test' }, /is no http\(s\) URL/],
    ['an issuer whose path is a pattern', { discovery: PATH }, { issuer: `${ISSUER}/:id` }, /with a plain path/],
    [
      'an issuer over http',
      { discovery: PATH },
      { issuer: 'http://api.acme.test' },
      /\(SVC_ISSUER\) is not an https URL/,
    ],
    [
      'a URL in the place of the path',
      { discovery: ISSUER + PATH },
      {},
      /is not a plain path for the keys\. Use one such as/,
    ],
    ['the path of the document', { discovery: DOCUMENT }, {}, /which is not a plain path for the keys/],
    ['a pattern in the place of the path', { discovery: '/:any' }, {}, /"\/:any", which is not a plain path/],
    [
      'another path at an extra guard',
      { discovery: PATH },
      { guards: { admin: { audience: 'https://admin.acme.test', keys: { discovery: '/admin.json' } } } },
      /^guards\.admin\.keys\.discovery has no effect/,
    ],
  ])('does not start with %s', async (_, keys, more, text) => {
    const refused: unknown = await TestApp.start({ options: options(keys, more) }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AuthConfigError);
    expect((refused as Error).message).toMatch(text);
  });
});
