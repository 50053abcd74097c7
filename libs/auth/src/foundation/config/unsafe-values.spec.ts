import { randomBytes } from 'node:crypto';
import type { AuthModuleOptions } from './auth-options';
import { unsafeValueErrors } from './unsafe-values';
import { resolveOptions } from './options.testkit';

class People {}

const [SECRET, KEY] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
const SAFE: AuthModuleOptions = {
  secret: SECRET,
  encryption: { key: KEY },
  issuer: 'https://api.acme.test',
  audience: 'https://api.acme.test',
  users: { entity: People },
};

const errors = (options: AuthModuleOptions, production = true): string[] =>
  unsafeValueErrors(resolveOptions({ ...SAFE, ...options }), production);

describe('values that are valid and not safe', () => {
  it('are not among random secrets and own addresses', () => {
    expect(errors({})).toEqual([]);
    expect(errors({ guards: { admin: { audience: 'https://admin.acme.test' } } })).toEqual([]);
  });

  it.each<[string, AuthModuleOptions, RegExp]>([
    [
      'the example issuer',
      { issuer: undefined },
      /^issuer \(SVC_ISSUER\) is the example https:\/\/api\.example\.com\./,
    ],
    ['the example audience', { audience: undefined }, /^audience \(SVC_AUDIENCE\) has the example/],
    [
      'the example audience beside another one',
      { audience: ['https://a.test', 'https://api.example.com'] },
      /^audience \(SVC_AUDIENCE\) has the example/,
    ],
    ['a cookie without TLS', { cookie: { secure: false } }, /^cookie\.secure \(SVC_COOKIE_SECURE\) is false\./],
    [
      'a cookie without TLS of one guard',
      { guards: { admin: { audience: 'https://admin.test', cookie: { secure: false } } } },
      /^guards\.admin\.cookie\.secure \(SVC_COOKIE_SECURE\) is false\./,
    ],
  ])('are refused in production only: %s', (_, options, message) => {
    expect(errors(options)).toEqual([expect.stringMatching(message)]);
    expect(errors(options, false)).toEqual([]);
  });

  const withOrigin = (origin: string): AuthModuleOptions => ({ cookie: { origins: [origin] } });

  it.each(['https://*.preview.example.com', 'https://*.example.com', 'https://*.team.vercel.app', 'https://*.a.co.uk'])(
    'are refused in production only: the wildcard %s',
    (origin) => {
      expect(errors(withOrigin(origin))).toEqual([
        expect.stringMatching(
          /^cookie\.origins \(SVC_COOKIE_ORIGINS\) has the wildcard.*In production, list each origin/,
        ),
      ]);
      expect(errors(withOrigin(origin), false)).toEqual([]);
    },
  );

  it.each([
    'https://*.vercel.app',
    'https://*.github.io',
    'https://*.pages.dev',
    'https://*.co.uk',
    'https://*.com',
    'https://*.kawasaki.jp',
    'https://*.unknown-suffix',
    'https://*.localhost',
  ])('are refused: the wildcard %s, below which anyone can register a name', (origin) => {
    expect(errors(withOrigin(origin), false)).toEqual([
      expect.stringMatching(
        /^cookie\.origins .* and anyone can register a name below .*Use a wildcard below your own domain/,
      ),
    ]);
  });

  const weak = 'secret'.repeat(8);
  it.each<[string, AuthModuleOptions, RegExp]>([
    ['a secret', { secret: weak }, /^secret \(SVC_SECRET\) repeats a pattern/],
    ['a former secret', { previousSecrets: [SECRET, weak] }, /^previousSecrets \(SVC_PREVIOUS_SECRETS\) repeats/],
    [
      'the secret of a guard',
      { guards: { admin: { secret: weak, audience: 'https://x.test' } } },
      /^guards\.admin\.secret/,
    ],
    ['an encryption key', { encryption: { key: weak } }, /^encryption\.key \(SVC_ENCRYPTION_KEY\) repeats/],
    [
      'a former encryption key',
      { encryption: { key: KEY, previousKeys: [weak] } },
      /^encryption\.previousKeys \(SVC_PREVIOUS_ENCRYPTION_KEYS\) repeats/,
    ],
    [
      'one value as secret and encryption key',
      { encryption: { key: SECRET } },
      /^encryption\.key .* has the value of secret/,
    ],
    [
      'a former secret as encryption key',
      { previousSecrets: [KEY] },
      /^encryption\.key .* has the value of secret \(SVC_SECRET\) or of previousSecrets/,
    ],
    [
      'the secret as a former encryption key, as after an exchange of both',
      { encryption: { key: KEY, previousKeys: [SECRET] } },
      /^encryption\.previousKeys \(SVC_PREVIOUS_ENCRYPTION_KEYS\) has the value of secret/,
    ],
    [
      'the secret of a guard as encryption key',
      { guards: { admin: { secret: KEY, audience: 'https://x.test' } } },
      /^encryption\.key .* has the value of secret/,
    ],
  ])('are refused everywhere, and the message does not contain the value: %s', (_, options, message) => {
    for (const production of [true, false]) {
      const found = errors(options, production);
      expect(found).toEqual([expect.stringMatching(message)]);
      for (const value of [weak, SECRET, KEY]) expect(found.join()).not.toContain(value);
    }
  });

  it('are not found after the correction: a new secret and a new key, with the former value of both', () => {
    const [secret, key] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
    expect(errors({ secret, previousSecrets: [SECRET], encryption: { key, previousKeys: [SECRET] } })).toEqual([]);
  });

  it('are reported once for an inherited option', () => {
    expect(
      errors({ secret: weak, guards: { admin: { audience: 'https://x.test' }, ops: { audience: 'https://y.test' } } }),
    ).toHaveLength(1);
  });

  it('are not reported beside the error of a secret that is too short', () => {
    expect(errors({ secret: 'short', encryption: { key: '' } })).toEqual([]);
  });
});
