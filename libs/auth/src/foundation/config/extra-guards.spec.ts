import type { AuthModuleOptions } from './auth-options';
import { resolveOptions } from './options.testkit';

class People {}
class Operators {}

/** Passes options that violate their types, as plain JavaScript or the environment can. */
const untyped = (options: object): AuthModuleOptions => options as AuthModuleOptions;
const defaultGuard = (options: object) => resolveOptions(untyped(options)).guards.at(-1)!;
const admin = (options: object, own: object = {}) =>
  resolveOptions(untyped({ ...options, guards: { admin: own } })).guards[0]!;

describe('an extra guard', () => {
  it('inherits every option that it does not set, also within blocks', () => {
    const guard = admin(
      {
        issuer: 'https://i',
        accessTtl: 60,
        keys: { active: 'k1', public: { k1: 'p' } },
        features: { rotation: false },
        hooks: { abilities: () => ['a'] },
      },
      { accessTtl: 30, keys: { active: 'k2' }, features: { denylist: false } },
    );
    expect(guard).toMatchObject({
      guard: 'admin',
      isDefault: false,
      issuer: 'https://i',
      accessTtl: 30,
      keys: { active: 'k2', public: { k1: 'p' } },
      features: { rotation: false, denylist: false, reuseDetection: true },
      hooks: { abilities: expect.any(Function) },
    });
  });

  it('inherits each number of the rate limits and each named limiter separately', () => {
    const [inherited, replaced] = [() => [], () => []];
    const { rateLimits, lockout } = admin(
      {
        rateLimits: {
          ipv6Prefix: 56,
          login: { maxAttempts: 3, decaySeconds: 90 },
          limiters: { a: inherited, b: inherited },
        },
        lockout: { maxAttempts: 9, releaseAfter: 60 },
      },
      { rateLimits: { login: { decaySeconds: '30' }, limiters: { b: replaced } }, lockout: { maxAttempts: 4 } },
    );
    expect(rateLimits).toMatchObject({
      ipv6Prefix: 56,
      login: { maxAttempts: 3, decaySeconds: 30, ipMaxAttempts: 30, accountMaxAttempts: 20 },
      refresh: { maxAttempts: 30, decaySeconds: 60 },
    });
    expect([rateLimits.limiters.a, rateLimits.limiters.b]).toEqual([inherited, replaced]);
    expect(rateLimits.limiters.b).toBe(replaced);
    expect(lockout).toEqual({ maxAttempts: 4, releaseAfter: 60 });
  });

  it('does not change the rate limits of the default guard', () => {
    const own = { rateLimits: { login: { maxAttempts: 1 } }, lockout: { maxAttempts: 1 } };
    expect(defaultGuard({ guards: { admin: own } })).toMatchObject({
      rateLimits: { login: { maxAttempts: 5 } },
      lockout: { maxAttempts: 100 },
    });
  });

  it('inherits hooks.rateLimitKey, and does not inherit hooks.authenticate', () => {
    const hooks = {
      name: 'of the host',
      rateLimitKey() {
        return this.name;
      },
      authenticate: () => null,
    };
    const inherited = admin({ hooks }).hooks;
    expect(inherited.rateLimitKey!({})).toBe('of the host');
    expect(inherited.authenticate).toBeUndefined();
    expect(admin({ hooks }, { hooks: { rateLimitKey: () => 'own' } }).hooks.rateLimitKey!({})).toBe('own');
  });

  it('does not inherit users, and does not change the users of the default guard', () => {
    const options = { users: { entity: People } };
    expect(admin(options).users).toBeUndefined();
    expect(admin(options, { users: { entity: Operators } }).users).toEqual({ entity: Operators });
    expect(
      resolveOptions({ ...options, guards: { admin: { users: { entity: Operators } } } }).guards[1]!.users,
    ).toEqual({ entity: People });
  });

  it('does not change the options of the default guard', () => {
    const [, api] = resolveOptions({ accessTtl: 60, guards: { admin: { accessTtl: 30, path: 'x' } } }).guards;
    expect(api).toMatchObject({ guard: 'api', accessTtl: 60, path: 'auth' });
  });

  it('precedes the default guard, in the configured order', () => {
    const names = resolveOptions({ guard: 'web', guards: { staff: {}, admin: {} } }).guards.map(({ guard }) => guard);
    expect(names).toEqual(['staff', 'admin', 'web']);
  });

  it.each<[string, object, object, string]>([
    ['the default cookie name with the name of the guard appended', {}, {}, '__Host-refresh-admin'],
    [
      'the inherited cookie name with the name of the guard appended',
      { cookie: { refreshName: 'rt' } },
      {},
      'rt-admin',
    ],
    ['its own cookie name unchanged', { cookie: { refreshName: 'rt' } }, { cookie: { refreshName: 'art' } }, 'art'],
    [
      'a cookie name with the name of the guard appended when it sets only another cookie option',
      {},
      { cookie: { secure: false } },
      'refresh-admin',
    ],
  ])('has %s', (_, options, own, name) => {
    expect(admin(options, own).cookie.refreshName).toBe(name);
    expect(defaultGuard({ ...options, guards: { admin: own } }).cookie.refreshName).not.toBe(name);
  });

  it('names each option by the path at which the host set it', () => {
    const guard = admin({ secret: 's' }, { keys: { active: 'k' } });
    expect(guard.nameOf('keys.active')).toBe('guards.admin.keys.active');
    expect(guard.nameOf('secret')).toBe('secret');
    expect(defaultGuard({ secret: 's' }).nameOf('secret')).toBe('secret');
  });
});
