import type { AuthModuleOptions } from './auth-options';
import { publicConfig, resolveOptions } from './options.testkit';

class People {}

const SECRET_TEXT = 'do-not-show-this-text';
const PASSWORD_WORD = 'do-not-show-this-word';

/** Sets every option that is secret or that is code. */
const secrets: AuthModuleOptions = {
  secret: SECRET_TEXT,
  previousSecrets: [SECRET_TEXT],
  keys: { private: SECRET_TEXT, passphrase: SECRET_TEXT, public: { default: SECRET_TEXT } },
  encryption: { key: SECRET_TEXT, previousKeys: [SECRET_TEXT] },
  users: { entity: People },
  hooks: { abilities: () => [SECRET_TEXT] },
  mail: { mailer: { send: async () => undefined, token: SECRET_TEXT } as never },
  messages: { 'auth.wrong_password': SECRET_TEXT },
  passwords: { blockList: [PASSWORD_WORD] },
  rateLimits: { limiters: { own: () => [] } },
  passkeys: { required: () => true },
};

const shown = (options: AuthModuleOptions, guard = 'api') =>
  publicConfig(resolveOptions(options).guards.find((one) => one.guard === guard)!);

/** Every object and list in a value, with the value itself. */
const partsOf = (value: unknown): object[] =>
  typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(partsOf)] : [];

describe('the public configuration of a guard', () => {
  it('has the resolved values under the names of the options', () => {
    expect(
      shown({ ...secrets, accessTtl: 60, issuer: 'https://i', audience: 'https://a', features: { lockout: true } }),
    ).toEqual({
      guard: 'api',
      isDefault: true,
      path: 'auth',
      domain: null,
      issuer: 'https://i',
      audience: ['https://a'],
      algorithm: 'HS256',
      accessTtl: 60,
      refreshTtl: 2_592_000,
      graceSeconds: 30,
      forkThreshold: 3,
      languages: [],
      leeway: 5,
      cookieMode: false,
      cookie: { refreshName: '__Host-refresh', secure: true, origins: [] },
      username: 'email',
      appName: 'i',
      features: expect.objectContaining({ rotation: true, lockout: true, twoFactor: false }),
      sessions: { maxPerUser: 100, idleTimeout: 0, ttlWithoutRemember: 0, unusedSuccessorSeconds: 0 },
      confirm: expect.objectContaining({ ttl: 300, header: 'X-Svc-Confirmation' }),
      lockout: { maxAttempts: 100, releaseAfter: 0 },
      twoFactor: {
        issuer: 'i',
        window: 1,
        recoveryCodes: 8,
        challengeTtl: 300,
        required: false,
        enrolmentTtl: 600,
        trustedDeviceDays: 0,
      },
      emailVerification: expect.objectContaining({ expire: 60, blockUnverifiedLogin: false }),
      passwordReset: expect.objectContaining({ revokeSessions: true, broker: null }),
      emailChange: { expireMinutes: 60, undoDays: 7 },
      knownDevices: { mail: true, frontendUrl: undefined, expireMinutes: 10_080 },
      identities: { attemptMinutes: 10 },
      accessKeys: { maxDays: 365, maxPerUser: 20 },
      boundSessions: { mode: 'allow' },
      emailCode: { expireMinutes: 10, digits: 8, frontendUrl: undefined },
      registration: { login: true, concealExisting: false },
      passkeys: expect.objectContaining({ rpName: 'i', challengeTtl: 120, required: null }),
      passwords: { minLength: 8 },
      rateLimits: expect.objectContaining({
        refresh: { maxAttempts: 30, decaySeconds: 60, by: 'address' },
        ipv6Prefix: 64,
      }),
    });
  });

  it('has the values of its own guard', () => {
    const options: AuthModuleOptions = {
      ...secrets,
      guards: { admin: { path: '/staff/', accessTtl: 5, passkeys: { required: true } } },
    };
    expect(shown(options, 'admin')).toMatchObject({
      guard: 'admin',
      isDefault: false,
      path: 'staff',
      accessTtl: 5,
      cookie: { refreshName: '__Host-refresh-admin' },
      passkeys: { required: true },
    });
  });

  it('has no secret and no function', () => {
    const config = shown(secrets);
    expect(JSON.stringify(config)).not.toMatch(/do-not-show/);
    const values = partsOf(config).flatMap((part) => Object.values(part));
    expect(values.filter((value) => typeof value === 'function' || value instanceof Set)).toEqual([]);
  });

  it('is frozen in all its parts, and a change of it does not change the options', () => {
    const options = resolveOptions(secrets).guards[0]!;
    const config = publicConfig(options);
    expect(partsOf(config).filter((part) => !Object.isFrozen(part))).toEqual([]);
    expect(() => (config.cookie.origins as string[]).push('https://evil.example')).toThrow(TypeError);
    expect(options.cookie.origins).toEqual([]);
  });
});
