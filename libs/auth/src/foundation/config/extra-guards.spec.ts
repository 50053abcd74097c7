import type { AuthModuleOptions } from './auth-options';
import { resolveOptions } from './resolve-options';

class People {}
class Operators {}

/** Options as plain JavaScript or the environment may give them, whatever their types say. */
const loose = (options: object): AuthModuleOptions => options as AuthModuleOptions;
const top = (options: object) => resolveOptions(loose(options)).guards.at(-1)!;
const admin = (options: object, own: object = {}) =>
  resolveOptions(loose({ ...options, guards: { admin: own } })).guards[0]!;

describe('an extra guard', () => {
  it('inherits what it does not say, block by block', () => {
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

  it('inherits the rate limits number by number, and limiters by name', () => {
    const [shared, mine] = [() => [], () => []];
    const { rateLimits, lockout } = admin(
      {
        rateLimits: { ipv6Prefix: 56, login: { maxAttempts: 3, decaySeconds: 90 }, limiters: { a: shared, b: shared } },
        lockout: { maxAttempts: 9, releaseAfter: 60 },
      },
      { rateLimits: { login: { decaySeconds: '30' }, limiters: { b: mine } }, lockout: { maxAttempts: 4 } },
    );
    expect(rateLimits).toMatchObject({
      ipv6Prefix: 56,
      login: { maxAttempts: 3, decaySeconds: 30, ipMaxAttempts: 30, accountMaxAttempts: 20 },
      refresh: { maxAttempts: 30, decaySeconds: 60 },
    });
    expect([rateLimits.limiters.a, rateLimits.limiters.b]).toEqual([shared, mine]);
    expect(rateLimits.limiters.b).toBe(mine);
    expect(lockout).toEqual({ maxAttempts: 4, releaseAfter: 60 });
  });

  it('leaves the default guard`s rate limits alone', () => {
    const own = { rateLimits: { login: { maxAttempts: 1 } }, lockout: { maxAttempts: 1 } };
    expect(top({ guards: { admin: own } })).toMatchObject({
      rateLimits: { login: { maxAttempts: 5 } },
      lockout: { maxAttempts: 100 },
    });
  });

  it('inherits who its clients are, and never who its users are', () => {
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

  it('never inherits users, and gives none to the default guard', () => {
    const options = { users: { entity: People } };
    expect(admin(options).users).toBeUndefined();
    expect(admin(options, { users: { entity: Operators } }).users).toEqual({ entity: Operators });
    expect(
      resolveOptions({ ...options, guards: { admin: { users: { entity: Operators } } } }).guards[1]!.users,
    ).toEqual({ entity: People });
  });

  it('changes nothing of the default guard', () => {
    const [, api] = resolveOptions({ accessTtl: 60, guards: { admin: { accessTtl: 30, path: 'x' } } }).guards;
    expect(api).toMatchObject({ guard: 'api', accessTtl: 60, path: 'auth' });
  });

  it('comes before the default guard, in the order given', () => {
    const names = resolveOptions({ guard: 'web', guards: { staff: {}, admin: {} } }).guards.map(({ guard }) => guard);
    expect(names).toEqual(['staff', 'admin', 'web']);
  });

  it.each<[string, object, object, string]>([
    ['its name on the default cookie', {}, {}, '__Host-refresh-admin'],
    ['its name on the inherited cookie', { cookie: { refreshName: 'rt' } }, {}, 'rt-admin'],
    ['its own cookie to the letter', { cookie: { refreshName: 'rt' } }, { cookie: { refreshName: 'art' } }, 'art'],
    ['its name although it sets another option', {}, { cookie: { secure: false } }, 'refresh-admin'],
  ])('has %s', (_, options, own, name) => {
    expect(admin(options, own).cookie.refreshName).toBe(name);
    expect(top({ ...options, guards: { admin: own } }).cookie.refreshName).not.toBe(name);
  });

  it('names its options as the host wrote them', () => {
    const guard = admin({ secret: 's' }, { keys: { active: 'k' } });
    expect(guard.nameOf('keys.active')).toBe('guards.admin.keys.active');
    expect(guard.nameOf('secret')).toBe('secret');
    expect(top({ secret: 's' }).nameOf('secret')).toBe('secret');
  });
});
