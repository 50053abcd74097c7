import type { AuthModuleOptions } from './auth-options';
import { guardErrors, resolveOptions } from './options.testkit';

class People {}
class Operators {}

const valid: AuthModuleOptions = { users: { entity: People }, audience: 'https://api', secret: 's'.repeat(32) };
const admin = { users: { entity: Operators }, audience: 'https://admin', path: 'admin/auth' };

function refusalsOf(options: object): string[] {
  const given = { ...valid, ...options } as AuthModuleOptions;
  const config = resolveOptions(given);
  return guardErrors(config, [...Object.keys(given.guards ?? {}), config.guards.at(-1)!.guard], ['.code']);
}

describe('a configuration', () => {
  it('with one guard, or with guards that share nothing, is accepted', () => {
    expect(refusalsOf({})).toEqual([]);
    expect(refusalsOf({ guards: { admin } })).toEqual([]);
    expect(refusalsOf({ guards: { admin, staff: { ...admin, audience: 'https://staff', path: 'staff' } } })).toEqual(
      [],
    );
  });

  it.each<[string, object, RegExp]>([
    ['without users', { users: undefined }, /^users is missing.*users: \{ entity: YourUser \}/],
    ['with users that have neither an entity nor a provider', { users: {} }, /^users is missing/],
    [
      'with an extra guard without users',
      { guards: { admin: { ...admin, users: undefined } } },
      /^guards\.admin\.users is missing/,
    ],
    ['with an empty audience', { audience: ' ' }, /^audience \(SVC_AUDIENCE\) is empty/],
    [
      'with an empty audience of an extra guard',
      { guards: { admin: { ...admin, audience: [] } } },
      /^guards\.admin\.audience/,
    ],
    ['without a secret', { secret: undefined }, /^secret \(SVC_SECRET\) is missing.*svc-auth secret/],
    ['without a secret of an extra guard', { guards: { admin: { ...admin, secret: '' } } }, /^guards\.admin\.secret/],
    ['with an unknown algorithm', { algorithm: 'none' }, /^algorithm \(SVC_ALGORITHM\) is "none"\. Use HS256/],
    ['with an algorithm in lower case', { algorithm: 'hs256' }, /"hs256"/],
    ['with an empty cookie name', { cookie: { refreshName: '' } }, /^cookie\.refreshName is not a cookie name/],
    ['with a space in the cookie name', { cookie: { refreshName: 'a b' } }, /^cookie\.refreshName/],
    ['with a semicolon in the cookie name', { cookie: { refreshName: 'a;b' } }, /^cookie\.refreshName/],
    [
      'with an allowed origin that has a path',
      { cookie: { origins: ['https://app.example.com/'] } },
      /^cookie\.origins .*has/,
    ],
    [
      'with an allowed origin that has a wildcard inside its host',
      { cookie: { origins: ['https://app.*.example.com'] } },
      /^cookie\.origins/,
    ],
    ['with the opaque origin "null"', { cookie: { origins: ['null'] } }, /^cookie\.origins/],
    [
      'with an allowed origin without a scheme at an extra guard',
      { guards: { admin: { ...admin, cookie: { origins: ['app.example.com'] } } } },
      /^guards\.admin\.cookie\.origins/,
    ],
    ['with an empty username', { username: '' }, /^username \(SVC_USERNAME\) is empty/],
    ['with an empty guard name', { guard: '' }, /^The guard name "" must be/],
    ['with a space in a guard name', { guard: 'a b' }, /The guard name "a b" must be/],
    ['with a colon in a guard name', { guard: 'a:b' }, /The guard name "a:b" must be/],
    ['with a guard name of 65 letters', { guard: 'x'.repeat(65) }, /must be 1 to 64 letters/],
    [
      'with two-factor authentication and no encryption key',
      { features: { twoFactor: true } },
      /^features\.twoFactor needs encryption\.key \(SVC_ENCRYPTION_KEY\).*svc-auth secret/,
    ],
    [
      'with two-factor authentication of an extra guard and no encryption key',
      { guards: { admin: { ...admin, features: { twoFactor: true } } } },
      /^features\.twoFactor needs encryption\.key/,
    ],
    ['with passkeys and no encryption key', { features: { passkeys: true } }, /^features\.passkeys needs/],
    [
      'with a short encryption key',
      { encryption: { key: 'x'.repeat(31) } },
      /^encryption\.key .*shorter than 32 bytes/,
    ],
    [
      'with a short former encryption key',
      { encryption: { key: 'x'.repeat(32), previousKeys: ['y'.repeat(32), 'short'] } },
      /^encryption\.previousKeys/,
    ],
    [
      'with a key pair and no secret for refresh tokens',
      { algorithm: 'ES256', secret: undefined },
      /^The guard "api" has no secret from which refresh tokens can be derived\. Set encryption\.key \(SVC_ENCRYPTION_KEY\); npx svc-auth secret/,
    ],
    [
      'with a key pair of an extra guard and no secret for refresh tokens',
      { guards: { admin: { ...admin, algorithm: 'RS256', secret: '' } } },
      /^The guard "admin" has no secret from which refresh tokens can be derived\. Set encryption\.key/,
    ],
    [
      'with a key pair and an empty secret',
      { algorithm: 'RS256', secret: '' },
      /^The guard "api" has no secret from which refresh tokens can be derived/,
    ],
    [
      'with a key pair and a short secret from which refresh tokens are derived',
      { algorithm: 'RS256', secret: 'x'.repeat(31) },
      /^secret \(SVC_SECRET\) is shorter than 32 bytes.*derived from it\. Set encryption\.key/,
    ],
    [
      'with a key pair and a short secret of an extra guard',
      { guards: { admin: { ...admin, algorithm: 'ES256', secret: 'short' } } },
      /^guards\.admin\.secret \(SVC_SECRET\) is shorter than 32 bytes/,
    ],
    [
      'with a key pair and only former encryption keys',
      { algorithm: 'ES256', secret: undefined, encryption: { previousKeys: ['x'.repeat(32)] } },
      /^The guard "api" has no secret from which refresh tokens can be derived/,
    ],
    [
      'with an extra guard that has the name of the default guard',
      { guards: { api: admin } },
      /^guards\.api has the name of the default guard/,
    ],
    [
      'with the same audience for two guards',
      { guards: { admin: { ...admin, audience: 'https://api' } } },
      /"admin" and "api" share the audience https:\/\/api.*guards\.admin\.audience/,
    ],
    [
      'with one common audience among several',
      { audience: ['x', 'y'], guards: { admin: { ...admin, audience: ['z', 'y'] } } },
      /share the audience y/,
    ],
    [
      'with an extra guard that inherits the audience',
      { guards: { admin: { ...admin, audience: undefined } } },
      /share the audience/,
    ],
    [
      'with the same cookie for two guards',
      { cookie: { refreshName: 'a' }, guards: { admin: { ...admin, cookie: { refreshName: 'a' } } } },
      /share the cookie a,.*guards\.admin\.cookie\.refreshName/,
    ],
    [
      'with the refresh cookie of one guard as a cookie of a feature of another guard',
      { cookie: { refreshName: 'a' }, guards: { admin: { ...admin, cookie: { refreshName: 'a.code' } } } },
      /share the cookie a\.code, /,
    ],
    [
      'with the same path for two guards',
      { path: 'a', guards: { admin: { ...admin, path: '/a/' } } },
      /both mounted at "a".*guards\.admin\.path/,
    ],
    ...(
      [
        ['auth', 'AUTH', /both mounted at/],
        ['auth', 'auth/passkeys', /mounted at "auth\/passkeys" and "auth", where both can have the same route/],
        ['auth', 'auth/Passkeys', /mounted at "auth\/Passkeys" and "auth", where/],
        ['AUTH', 'auth/email/verify', /mounted at "auth\/email\/verify" and "AUTH", where/],
        ['auth/sessions', 'auth', /mounted at "auth" and "auth\/sessions", where/],
        ['', 'passkeys', /mounted at "passkeys" and "", where/],
      ] as const
    ).map(([path, own, text]): [string, object, RegExp] => [
      `with an extra guard at "${own}" beside "${path}"`,
      { path, guards: { admin: { ...admin, path: own } } },
      text,
    ]),
    ['with an unknown shape of ids', { tokenIds: 'ulid' }, /^tokenIds is "ulid"\. Use uuid or any/],
    [
      'with an unknown place of the refresh token at an extra guard',
      { guards: { admin: { ...admin, refreshTokenFrom: 'cookie' } } },
      /^guards\.admin\.refreshTokenFrom is "cookie"\. Use mode or both/,
    ],
    [
      'with the same path when only the extra guard has a domain',
      { guards: { admin: { ...admin, path: 'auth', domain: 'a.test' } } },
      /both mounted/,
    ],
    [
      'with the same path on the same domain',
      { domain: 'a.test', guards: { admin: { ...admin, path: 'auth' } } },
      /both mounted/,
    ],
  ])('%s is refused', (_, options, text) => {
    const [first, ...more] = refusalsOf(options);
    expect(first).toMatch(text);
    expect(more).toEqual([]);
  });

  it.each<[string, object]>([
    ['a guard name of 64 letters', { guard: 'x'.repeat(64) }],
    ['a guard name with dash, digit and underscore', { guard: 'Staff-2_b' }],
    ['a user provider of the host', { users: { provider: People } }],
    [
      'two-factor authentication and an encryption key',
      { features: { twoFactor: true }, encryption: { key: 'x'.repeat(32) } },
    ],
    ['a key pair and an encryption key', { algorithm: 'ES256', encryption: { key: 'x'.repeat(32) } }],
    ['a key pair and a secret of 32 bytes', { algorithm: 'RS256', secret: 'x'.repeat(32) }],
    ['a key pair and a secret of 32 bytes in 16 characters', { algorithm: 'RS256', secret: 'ä'.repeat(16) }],
    [
      'a key pair and no secret in a service that only verifies',
      { verifyOnly: true, algorithm: 'ES256', keys: { jwks: 'https://issuer.example/jwks' } },
    ],
    [
      'a key pair, a short secret and an encryption key',
      { algorithm: 'ES256', secret: 's', encryption: { key: 'x'.repeat(32) } },
    ],
    [
      'the same path on two domains',
      { domain: 'a.test', guards: { admin: { ...admin, path: 'auth', domain: 'b.test' } } },
    ],
    ...['auth/admin', 'auth/logout', 'auth/admin/sessions', 'authority', 'admin/auth/passkeys'].map(
      (path): [string, object] => [`a guard at ${path} beside one at auth`, { guards: { admin: { ...admin, path } } }],
    ),
    ['a guard at the root beside one below it', { path: '', guards: { admin } }],
    ['the same path when no routes are mounted', { routes: false, guards: { admin: { ...admin, path: 'auth' } } }],
  ])('with %s is accepted', (_, options) => expect(refusalsOf(options)).toEqual([]));

  it('with a shared audience is refused also when no routes are mounted', () => {
    expect(refusalsOf({ routes: false, guards: { admin: { ...admin, audience: 'https://api' } } })).toHaveLength(1);
  });

  it('is refused once for each value that two guards share', () => {
    const staff = { ...admin, audience: 'https://admin' };
    const texts = refusalsOf({ guards: { admin, staff } });
    expect(texts).toHaveLength(2);
    expect(texts.join()).toMatch(/"admin" and "staff" share.*"admin" and "staff" are both mounted/);
  });

  it('is refused with all reasons at once', () => {
    expect(refusalsOf({ users: undefined, audience: [], algorithm: 'none', username: '' })).toHaveLength(4);
    expect(refusalsOf({ secret: undefined, features: { twoFactor: true } })).toHaveLength(2);
  });
});
