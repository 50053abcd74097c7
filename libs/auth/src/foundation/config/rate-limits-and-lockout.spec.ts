import { LONGEST_WINDOW } from './option-table';
import type { RateLimitsOptions } from './auth-options';
import { DEFAULTS, type LockoutOptions, resolveLockout, resolveRateLimits } from './options.testkit';

/** Values that an option may have in plain JavaScript, each with the resolved number. The invalid ones are refused before. */
const casesOf = (fallback: number): [unknown, number][] => [
  [undefined, fallback],
  [null, fallback],
  [NaN, fallback],
  [Infinity, fallback],
  ['abc', fallback],
  ['', fallback],
  [' ', fallback],
  [{}, fallback],
  [[9], fallback],
  [true, fallback],
  [-1, fallback],
  [2.9, fallback],
];

const VALID: [unknown, number][] = [
  [1, 1],
  ['7', 7],
  [' 99 ', 99],
];

const LIMITS: Record<string, Record<string, number | string>> = {
  login: { maxAttempts: 5, decaySeconds: 60, ipMaxAttempts: 30, accountMaxAttempts: 20 },
  twoFactor: { maxAttempts: 5, decaySeconds: 60 },
  confirm: { maxAttempts: 5, decaySeconds: 60 },
  refresh: { maxAttempts: 30, decaySeconds: 60, by: 'address' },
  passkeys: { maxAttempts: 30, decaySeconds: 60 },
  emailVerification: { maxAttempts: 6, decaySeconds: 60 },
  passwordReset: { maxAttempts: 6, decaySeconds: 60 },
  emailCode: { maxAttempts: 10, decaySeconds: 60 },
  identities: { maxAttempts: 30, decaySeconds: 60 },
  accessKeys: { maxAttempts: 600, decaySeconds: 60 },
  operators: { maxAttempts: 120, decaySeconds: 60 },
  registration: { maxAttempts: 10, decaySeconds: 60 },
  emailChange: { maxAttempts: 10, decaySeconds: 3600 },
  usernameChange: { maxAttempts: 10, decaySeconds: 3600 },
  mailedLinks: { maxAttempts: 12, decaySeconds: 60 },
};

const numbers = Object.entries(LIMITS).flatMap(([limit, values]) =>
  Object.entries(values).flatMap(([name, fallback]) => (typeof fallback === 'number' ? { limit, name, fallback } : [])),
);

describe('the rate limits', () => {
  it('have these defaults', () => {
    const complete = { ...LIMITS, ipv6Prefix: 64, limiters: {} };
    expect(resolveRateLimits()).toEqual(complete);
    expect(resolveRateLimits({})).toEqual(complete);
    expect(resolveRateLimits(DEFAULTS.rateLimits)).toEqual(complete);
  });

  it.each(numbers)('have a whole number of at least 1 as $limit.$name', ({ limit, name, fallback }) => {
    const most: [unknown, number][] =
      name === 'decaySeconds'
        ? [
            ['2m', 120],
            [LONGEST_WINDOW, LONGEST_WINDOW],
            [LONGEST_WINDOW + 1, fallback],
          ]
        : [
            ['2m', fallback],
            [1e9, 1e9],
            [2 ** 31, fallback],
          ];
    for (const [value, result] of [...casesOf(fallback), [0, fallback] as const, ...VALID, ...most]) {
      const { [limit]: own, ...others } = resolveRateLimits({ [limit]: { [name]: value } }) as unknown as typeof LIMITS;
      expect([value, own]).toEqual([value, { ...LIMITS[limit], [name]: result }]);
      expect(others).toEqual({ ...LIMITS, [limit]: undefined, ipv6Prefix: 64, limiters: {} });
    }
  });

  it.each(Object.keys(LIMITS))('have the default values for %s when it is not an object', (limit) => {
    for (const value of [undefined, null, 7, 'off', false]) {
      expect(resolveRateLimits({ [limit]: value } as RateLimitsOptions)).toMatchObject(LIMITS);
    }
  });

  it.each([...casesOf(64), [31, 64], [32, 32], [56, 56], ['56', 56], [128, 128], [129, 64]])(
    'with the IPv6 prefix %p have the prefix %d',
    (ipv6Prefix, result) => {
      expect(resolveRateLimits({ ipv6Prefix } as RateLimitsOptions).ipv6Prefix).toBe(result);
    },
  );

  it('contain the limiters of the host, and no unknown options', () => {
    const orders = () => [];
    const all = resolveRateLimits({ limiters: { orders }, orders: { maxAttempts: 1 } } as RateLimitsOptions);
    expect(all.limiters).toEqual({ orders });
    expect(all).not.toHaveProperty('orders');
  });

  it('are frozen, and the objects of the host are not', () => {
    const limiters = {};
    const all = resolveRateLimits({ limiters, login: { maxAttempts: 9 } });
    for (const part of [all, all.login, all.refresh, all.limiters]) expect(Object.isFrozen(part)).toBe(true);
    expect(Object.isFrozen(limiters)).toBe(false);
  });
});

describe('the lockout', () => {
  it.each([...casesOf(100), ...VALID, [0, 100], [100, 100], [101, 100]])(
    'with maxAttempts %p locks after %d attempts',
    (maxAttempts, result) => {
      expect(resolveLockout({ maxAttempts } as LockoutOptions)).toEqual({ maxAttempts: result, releaseAfter: 0 });
    },
  );

  it.each([...casesOf(0), ...VALID, ['1h', 3600], [315_360_000, 315_360_000], [315_360_001, 0]])(
    'with releaseAfter %p has the release time %d',
    (releaseAfter, result) => {
      expect(resolveLockout({ releaseAfter } as LockoutOptions)).toEqual({ maxAttempts: 100, releaseAfter: result });
    },
  );

  it('has these defaults, and is frozen', () => {
    expect(resolveLockout()).toEqual({ maxAttempts: 100, releaseAfter: 0 });
    expect(Object.isFrozen(resolveLockout({}))).toBe(true);
  });
});
