import { AuthConfigError } from '../platform/errors';
import type { AuthModuleOptions } from './auth-options';
import { combine } from './resolve-options';
import { DEFAULT_FEATURES, DEFAULT_HASHING, resolveOptions } from './options.testkit';

class Operators {}

/** Passes options that violate their types, as plain JavaScript or the environment can. */
const untyped = (options: object): AuthModuleOptions => options as AuthModuleOptions;
const defaultGuard = (options: object) => resolveOptions(untyped(options)).guards.at(-1)!;
const admin = (options: object, own: object = {}) =>
  resolveOptions(untyped({ ...options, guards: { admin: own } })).guards[0]!;

describe('options without a value', () => {
  it('resolve to the defaults', () => {
    expect(defaultGuard({})).toMatchObject({
      guard: 'api',
      isDefault: true,
      path: 'auth',
      domain: null,
      algorithm: 'HS256',
      previousSecrets: [],
      keys: { active: 'default', public: {} },
      issuer: 'https://api.example.com',
      audience: ['https://api.example.com'],
      accessTtl: 900,
      refreshTtl: 2_592_000,
      graceSeconds: 30,
      forkThreshold: 3,
      leeway: 5,
      cookieMode: false,
      cookie: { refreshName: '__Host-refresh', secure: true },
      username: 'email',
      features: DEFAULT_FEATURES,
    });
    expect(resolveOptions({})).toMatchObject({ routes: true, hashing: DEFAULT_HASHING, storeTimeoutMs: 800 });
  });

  it('resolve to the defaults also when their value is undefined', () => {
    expect(
      defaultGuard({
        accessTtl: undefined,
        path: undefined,
        cookie: { secure: undefined },
        features: { rotation: undefined },
      }),
    ).toMatchObject({
      accessTtl: 900,
      path: 'auth',
      cookie: { secure: true },
      features: { rotation: true },
    });
  });
});

describe('numeric options', () => {
  it.each<[keyof AuthModuleOptions, unknown, number]>([
    ['accessTtl', '600', 600],
    ['accessTtl', '15m', 900],
    ['accessTtl', ' 1h ', 3600],
    ['refreshTtl', '7d', 604_800],
    ['graceSeconds', 0, 0],
    ['graceSeconds', '0', 0],
    ['forkThreshold', '5', 5],
    ['leeway', 0, 0],
  ])('%s of %p resolves to %d', (option, given, result) => {
    expect(defaultGuard({ [option]: given })[option as 'leeway']).toBe(result);
    expect(admin({ [option]: given })[option as 'leeway']).toBe(result);
    expect(admin({}, { [option]: given })[option as 'leeway']).toBe(result);
  });

  // Such a value is refused before: see option-checks.spec.
  it.each<[keyof AuthModuleOptions, unknown, number]>([
    ['accessTtl', 0, 900],
    ['accessTtl', NaN, 900],
    ['accessTtl', 60.9, 900],
    ['refreshTtl', null, 2_592_000],
    ['forkThreshold', 1, 3],
    ['leeway', Infinity, 5],
  ])('%s of %p resolves to the default %d, never to 0', (option, given, result) => {
    expect(defaultGuard({ [option]: given })[option as 'leeway']).toBe(result);
  });

  it('of the module resolve in the same way', () => {
    expect(
      resolveOptions(untyped({ hashing: { timeCost: '3', maxQueue: 0, maxWaitMs: '2s' }, storeTimeoutMs: '1s' })),
    ).toMatchObject({
      hashing: { ...DEFAULT_HASHING, timeCost: 3, maxQueue: 0, maxWaitMs: 2000 },
      storeTimeoutMs: 1000,
    });
    expect(resolveOptions(untyped({ hashing: { maxQueue: 'NaN' }, storeTimeoutMs: NaN }))).toMatchObject({
      hashing: { ...DEFAULT_HASHING, maxQueue: 256 },
      storeTimeoutMs: 800,
    });
  });
});

describe('sessions.maxPerUser', () => {
  const limitsOf = (options: object): number[] =>
    resolveOptions(untyped({ guards: { admin: {} }, ...options })).guards.map(({ sessions }) => sessions.maxPerUser);

  it.each([
    [undefined, 100],
    [null, 100],
    ['many', 100],
    [NaN, 100],
    ['', 100],
    [7, 7],
    ['7', 7],
    [1, 1],
    [0, 0],
  ])('of %p resolves to %d for every guard', (given, result) => {
    expect(limitsOf({ sessions: { maxPerUser: given } })).toEqual([result, result]);
  });

  it('has the value that a guard sets for itself', () => {
    const own = { guards: { admin: { sessions: { maxPerUser: 3 } } } };
    expect(limitsOf(own)).toEqual([3, 100]);
    expect(limitsOf({ sessions: { maxPerUser: 9 }, ...own })).toEqual([3, 9]);
  });
});

describe('password reset', () => {
  const resetOf = (passwordReset?: object) => defaultGuard({ passwordReset }).passwordReset;

  it.each<[string, unknown, number]>([
    ['expireMinutes', undefined, 60],
    ['expireMinutes', 'soon', 60],
    ['expireMinutes', null, 60],
    ['expireMinutes', '15', 15],
    ['expireMinutes', '2h', 120],
    ['throttleSeconds', undefined, 60],
    ['throttleSeconds', NaN, 60],
    ['throttleSeconds', 0, 0],
  ])('%s of %p resolves to %d, also in a broker', (name, given, result) => {
    expect(resetOf({ [name]: given })).toMatchObject({ [name]: result });
    expect(resetOf({ broker: 'b', brokers: { b: { [name]: given } } })).toMatchObject({ [name]: result });
  });

  it('has the values of the selected broker, and lists all brokers', () => {
    const given = { expireMinutes: 30, brokers: { staff: { expireMinutes: 5 }, kiosk: null } };
    const brokers = {
      staff: { expireMinutes: 5, throttleSeconds: 60 },
      kiosk: { expireMinutes: 30, throttleSeconds: 60 },
      '': { expireMinutes: 30, throttleSeconds: 60 },
    };
    expect(resetOf(given)).toMatchObject({ broker: null, expireMinutes: 30, brokers });
    expect(resetOf({ ...given, broker: ' staff ' })).toMatchObject({ broker: 'staff', expireMinutes: 5, brokers });
  });

  it('of an extra guard inherits each value that the guard does not set', () => {
    const { passwordReset } = admin(
      { passwordReset: { expireMinutes: 30, throttleSeconds: 9 } },
      { passwordReset: { expireMinutes: 5 } },
    );
    expect(passwordReset).toMatchObject({ expireMinutes: 5, throttleSeconds: 9 });
  });
});

describe('retention', () => {
  const retention = (given?: object) => resolveOptions(untyped({ retention: given })).retention;

  it('has these defaults', () => {
    for (const given of [undefined, {}, { schedule: undefined, lockoutDays: undefined }]) {
      expect(retention(given)).toEqual({ schedule: '23 3 * * *', lockoutDays: 30 });
    }
  });

  it.each([['0 4 * * *'], [false]])('keeps the schedule %p', (schedule) => {
    expect(retention({ schedule })).toEqual({ schedule, lockoutDays: 30 });
  });

  it.each([
    [7, 7],
    ['7', 7],
    ['week', 30],
    [NaN, 30],
    [null, 30],
  ])('with lockoutDays %p keeps lockouts for %d days', (lockoutDays, days) => {
    expect(retention({ lockoutDays })).toEqual({ schedule: '23 3 * * *', lockoutDays: days });
  });

  it('is an option of the module, not of a guard', () => {
    const { guards } = resolveOptions({ retention: { lockoutDays: 9 }, guards: { admin: {} } });
    for (const guard of guards) expect(guard).not.toHaveProperty('retention.lockoutDays', 9);
  });
});

describe('the resolution of options', () => {
  it('replaces a default list as a whole', () => {
    expect(defaultGuard({ audience: ['a', 'b'] }).audience).toEqual(['a', 'b']);
    expect(admin({ previousSecrets: ['a', 'b'] }, { previousSecrets: ['c'] }).previousSecrets).toEqual(['c']);
  });

  it('trims the audience and removes empty entries, for a text and for a list', () => {
    expect(defaultGuard({ audience: ' a ' }).audience).toEqual(['a']);
    expect(defaultGuard({ audience: [' a', '', '  ', 'b '] }).audience).toEqual(['a', 'b']);
    expect(defaultGuard({ audience: '' }).audience).toEqual([]);
  });

  it('removes the leading and trailing slashes of a path, and no others', () => {
    expect(defaultGuard({ path: '//v1/auth/' }).path).toBe('v1/auth');
    expect(defaultGuard({ path: '/' }).path).toBe('');
  });

  it('adds the defaults to a block that the host set in part', () => {
    expect(defaultGuard({ cookie: { secure: false } }).cookie).toEqual({
      refreshName: 'refresh',
      secure: false,
      origins: [],
    });
    expect(defaultGuard({ keys: { private: 'pem' } }).keys).toEqual({ active: 'default', public: {}, private: 'pem' });
    expect(defaultGuard({ features: { twoFactor: true } }).features).toEqual({ ...DEFAULT_FEATURES, twoFactor: true });
  });
});

describe('resolved options', () => {
  it('are frozen, and the options of the host are not changed', () => {
    const given = { accessTtl: '60', cookie: { secure: false }, guards: { admin: { path: '/x/' } } };
    const before = structuredClone(given);
    const config = resolveOptions(untyped(given));
    expect(given).toEqual(before);
    const [guard] = config.guards;
    for (const part of [config, config.hashing, config.retention, ...config.guards, guard!.features, guard!.cookie])
      expect(Object.isFrozen(part)).toBe(true);
    for (const part of [guard!.rateLimits, guard!.lockout]) expect(Object.isFrozen(part)).toBe(true);
  });

  it('contain the named store, or else the cache', () => {
    const [cache, named] = [{ c: 1 }, { n: 1 }];
    expect(resolveOptions({ cache, stores: { named } }).store).toBe(cache);
    expect(resolveOptions({ cache, stores: { named }, denylistStore: 'named' }).store).toBe(named);
    expect(resolveOptions({}).store).toBeUndefined();
    expect(() => resolveOptions({ cache, denylistStore: 'x' })).toThrow(
      /"x", but stores has no entries.*SVC_DENYLIST_STORE/,
    );
    expect(() => resolveOptions({ stores: { named }, denylistStore: 'x' })).toThrow(/stores has named\./);
  });
});

describe('values from useFactory', () => {
  it('are merged into the static options, for each guard', () => {
    const structure = { path: 'v1', guards: { admin: { path: 'v1/admin', users: { entity: Operators } } } };
    expect(combine(structure, { secret: 's', guards: { admin: { accessTtl: 5 } } })).toEqual({
      path: 'v1',
      secret: 's',
      guards: { admin: { path: 'v1/admin', users: { entity: Operators }, accessTtl: 5 } },
    });
  });

  it.each(['guard', 'path', 'routes', 'domain', 'features', 'users', 'dataSource', 'pool'])(
    'must not contain %s',
    (name) => {
      expect(() => combine({}, { [name]: 'x' })).toThrow(AuthConfigError);
      expect(() => combine({}, { [name]: 'x' })).toThrow(`useFactory returned "${name}"`);
    },
  );
});
