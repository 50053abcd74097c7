import type { AuthModuleOptions } from './auth-options';
import { keySetRefusals } from './guard-isolation.policy';
import { resolveOptions } from './resolve-options';

class People {}
const URL_OF_KEYS = 'https://api.example.com/auth/jwks';
const PEM = '-----BEGIN';

const service = (keys: object, more: object = {}): AuthModuleOptions =>
  ({ routes: false, algorithm: 'ES256', users: { entity: People }, keys, ...more }) as AuthModuleOptions;

const refused = (options: AuthModuleOptions, production: boolean): string[] =>
  keySetRefusals(resolveOptions(options), production);

describe('keys that are read from elsewhere', () => {
  it.each<[string, AuthModuleOptions, boolean?]>([
    ['none', service({ public: { k1: PEM } })],
    ['none of an issuer', { algorithm: 'HS256', routes: true }],
    ['https', service({ jwks: URL_OF_KEYS })],
    ['https under RS256', service({ jwks: URL_OF_KEYS }, { algorithm: 'RS256' })],
    ['a function', service({ jwks: async () => ({ keys: [] }) })],
    ['http to this machine', service({ jwks: 'http://localhost:3000/auth/jwks' })],
    ['http to a name of this machine', service({ jwks: 'http://api.localhost/auth/jwks' })],
    ['http to 127.0.0.1', service({ jwks: 'http://127.0.0.1:3000/auth/jwks' })],
    ['http to ::1', service({ jwks: 'http://[::1]:3000/auth/jwks' })],
    ['http outside production', service({ jwks: 'http://api:3000/auth/jwks' }), false],
    [
      'a guard that inherits the source, and one with a secret of its own',
      service(
        { jwks: URL_OF_KEYS },
        { guards: { staff: { users: {} }, admin: { users: {}, algorithm: 'HS256', secret: 'own' } } },
      ),
    ],
    [
      'a guard with a source of its own beside one with keys',
      service({ public: { k1: PEM } }, { guards: { admin: { users: {}, keys: { jwks: URL_OF_KEYS } } } }),
    ],
    [
      'a guard with keys of its own beside one with a source',
      service({ jwks: URL_OF_KEYS }, { guards: { admin: { users: {}, keys: { public: { k1: PEM } } } } }),
    ],
  ])('%s: accepted', (_, options, production = true) => expect(refused(options, production)).toEqual([]));

  it.each<[string, AuthModuleOptions, RegExp, boolean?]>([
    [
      'an empty URL',
      service({ jwks: '' }),
      /^keys\.jwks \(SVC_JWKS_URL\) is neither an http\(s\) URL nor a function\. Set/,
    ],
    ['a path', service({ jwks: '/auth/jwks' }), /is neither an http\(s\) URL/],
    ['a file', service({ jwks: 'file:///etc/keys.json' }), /is neither an http\(s\) URL/],
    ['a key set itself', service({ jwks: { keys: [] } }), /is neither an http\(s\) URL nor a function/],
    ['http in production', service({ jwks: 'http://api.example.com/auth/jwks' }), /production requires https/],
    ['a name that begins like this machine', service({ jwks: 'http://localhost.example.com/' }), /requires https/],
    ['an address that begins like this machine', service({ jwks: 'http://127.0.0.1.example.com/' }), /requires https/],
    ['a user name', service({ jwks: 'https://me@api.example.com/' }), /has a user name or a password/],
    ['a password', service({ jwks: 'https://:hidden@api.example.com/' }), /has a user name or a password/, false],
    ['HS256', service({ jwks: URL_OF_KEYS }, { algorithm: 'HS256' }), /needs an algorithm.*SVC_ALGORITHM.*ES256/],
    ['a private key', service({ jwks: URL_OF_KEYS, private: PEM }), /cannot be combined with keys\.private/],
    ['a public key', service({ jwks: URL_OF_KEYS, public: { k1: PEM } }), /cannot be combined.*keys\.public.*Remove/],
    ['routes', service({ jwks: URL_OF_KEYS }, { routes: true }), /only verify.*Set routes to false/],
    [
      'a bad source of an extra guard',
      service({ public: { k1: PEM } }, { guards: { admin: { users: {}, keys: { jwks: 'nowhere' } } } }),
      /^guards\.admin\.keys\.jwks/,
    ],
  ])('%s: refused', (_, options, text, production = true) => {
    const [first, ...more] = refused(options, production);
    expect(first).toMatch(text);
    expect(first).not.toContain('hidden');
    expect(more).toEqual([]);
  });
});
