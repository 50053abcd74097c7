import type { AuthModuleOptions } from './auth-options';
import { keySetErrors } from './url-checks';
import { resolveOptions } from './options.testkit';

class People {}
const URL_OF_KEYS = 'https://api.example.com/auth/jwks';
const PEM = '-----BEGIN';

const service = (keys: object, more: object = {}): AuthModuleOptions =>
  ({ verifyOnly: true, algorithm: 'ES256', users: { entity: People }, keys, ...more }) as AuthModuleOptions;

const refusalsOf = (options: AuthModuleOptions, production: boolean): string[] =>
  keySetErrors(resolveOptions(options), production);

describe('keys.jwks', () => {
  it.each<[string, AuthModuleOptions, boolean?]>([
    ['not set', service({ public: { k1: PEM } })],
    ['not set, on an issuer', { algorithm: 'HS256', verifyOnly: false }],
    ['an https URL', service({ jwks: URL_OF_KEYS })],
    ['an https URL with RS256', service({ jwks: URL_OF_KEYS }, { algorithm: 'RS256' })],
    ['a function', service({ jwks: async () => ({ keys: [] }) })],
    ['an http URL of localhost', service({ jwks: 'http://localhost:3000/auth/jwks' })],
    ['an http URL of a name under localhost', service({ jwks: 'http://api.localhost/auth/jwks' })],
    ['an http URL of 127.0.0.1', service({ jwks: 'http://127.0.0.1:3000/auth/jwks' })],
    ['an http URL of ::1', service({ jwks: 'http://[::1]:3000/auth/jwks' })],
    ['an http URL outside production', service({ jwks: 'http://api:3000/auth/jwks' }), false],
    [
      'a URL that one extra guard inherits, while another one has its own secret',
      service(
        { jwks: URL_OF_KEYS },
        { guards: { staff: { users: {} }, admin: { users: {}, algorithm: 'HS256', secret: 'own' } } },
      ),
    ],
    [
      'a URL of an extra guard, while the default guard has keys',
      service({ public: { k1: PEM } }, { guards: { admin: { users: {}, keys: { jwks: URL_OF_KEYS } } } }),
    ],
    [
      'a URL of the default guard, while an extra guard has keys',
      service({ jwks: URL_OF_KEYS }, { guards: { admin: { users: {}, keys: { public: { k1: PEM } } } } }),
    ],
  ])('is accepted: %s', (_, options, production = true) => expect(refusalsOf(options, production)).toEqual([]));

  it.each<[string, AuthModuleOptions, RegExp, boolean?]>([
    [
      'an empty URL',
      service({ jwks: '' }),
      /^keys\.jwks \(SVC_JWKS_URL\) is neither an http\(s\) URL nor a function\. Set/,
    ],
    ['a path', service({ jwks: '/auth/jwks' }), /is neither an http\(s\) URL/],
    ['a file URL', service({ jwks: 'file:///etc/keys.json' }), /is neither an http\(s\) URL/],
    ['a key set instead of its source', service({ jwks: { keys: [] } }), /is neither an http\(s\) URL nor a function/],
    ['an http URL in production', service({ jwks: 'http://api.example.com/auth/jwks' }), /production requires https/],
    [
      'an http URL of a name that begins with localhost',
      service({ jwks: 'http://localhost.example.com/' }),
      /requires https/,
    ],
    [
      'an http URL of a name that begins with 127.0.0.1',
      service({ jwks: 'http://127.0.0.1.example.com/' }),
      /requires https/,
    ],
    ['a URL with a user name', service({ jwks: 'https://me@api.example.com/' }), /has a user name or a password/],
    [
      'a URL with a password',
      service({ jwks: 'https://:hidden@api.example.com/' }),
      /has a user name or a password/,
      false,
    ],
    [
      'a URL with HS256',
      service({ jwks: URL_OF_KEYS }, { algorithm: 'HS256' }),
      /needs an algorithm.*SVC_ALGORITHM.*ES256/,
    ],
    ['a URL and a private key', service({ jwks: URL_OF_KEYS, private: PEM }), /cannot be combined with keys\.private/],
    [
      'a URL and a public key',
      service({ jwks: URL_OF_KEYS, public: { k1: PEM } }),
      /cannot be combined.*keys\.public.*Remove/,
    ],
    [
      'a URL on an issuer',
      service({ jwks: URL_OF_KEYS }, { verifyOnly: false }),
      /only verify.*Set verifyOnly to true/,
    ],
    [
      'an invalid URL of an extra guard',
      service({ public: { k1: PEM } }, { guards: { admin: { users: {}, keys: { jwks: 'nowhere' } } } }),
      /^guards\.admin\.keys\.jwks/,
    ],
  ])('is refused: %s', (_, options, text, production = true) => {
    const [first, ...more] = refusalsOf(options, production);
    expect(first).toMatch(text);
    expect(first).not.toContain('hidden');
    expect(more).toEqual([]);
  });
});
