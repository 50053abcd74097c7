import { LONGEST_WINDOW, resolveLockout, resolveRateLimits } from './resolve-options';
import type { LockoutOptions, RateLimitsOptions } from './auth-options';
import { DEFAULTS } from './defaults';

/** Values that an option may have in plain JavaScript or in the environment, each with the resolved number. */
const casesOf = (fallback: number, min: number, max: number): [unknown, number][] => {
  const within = (value: number): number => Math.min(max, Math.max(min, value));
  return [
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
    [0, min],
    [-1, min],
    ['0', min],
    [1, within(1)],
    [2.9, within(2)],
    ['7', within(7)],
    [' 99 ', within(99)],
    [1e9, within(1e9)],
  ];
};

const LIMITS: Record<string, Record<string, number>> = {
  login: { maxAttempts: 5, decaySeconds: 60, ipMaxAttempts: 30, accountMaxAttempts: 20 },
  twoFactor: { maxAttempts: 5, decaySeconds: 60 },
  confirm: { maxAttempts: 5, decaySeconds: 60 },
  refresh: { maxAttempts: 30, decaySeconds: 60 },
  passkeys: { maxAttempts: 30, decaySeconds: 60 },
  emailVerification: { maxAttempts: 6, decaySeconds: 60 },
  passwordReset: { maxAttempts: 6, decaySeconds: 60 },
  registration: { maxAttempts: 10, decaySeconds: 60 },
};

const numbers = Object.entries(LIMITS).flatMap(([limit, values]) =>
  Object.entries(values).map(([name, fallback]) => ({ limit, name, fallback })),
);

describe('the rate limits', () => {
  it('have these defaults', () => {
    const complete = { ...LIMITS, ipv6Prefix: 64, limiters: {} };
    expect(resolveRateLimits()).toEqual(complete);
    expect(resolveRateLimits({})).toEqual(complete);
    expect(resolveRateLimits(DEFAULTS.rateLimits)).toEqual(complete);
  });

  it.each(numbers)('have a whole number of at least 1 as $limit.$name', ({ limit, name, fallback }) => {
    for (const [value, result] of casesOf(fallback, 1, name === 'decaySeconds' ? LONGEST_WINDOW : Infinity)) {
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

  it.each([...casesOf(64, 32, 128), [31, 32], [32, 32], [56, 56], [128, 128], [129, 128]])(
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
  it.each([...casesOf(100, 1, 100), [100, 100], [101, 100]])(
    'with maxAttempts %p locks after %d attempts',
    (maxAttempts, result) => {
      expect(resolveLockout({ maxAttempts } as LockoutOptions)).toEqual({ maxAttempts: result, releaseAfter: 0 });
    },
  );

  it.each(casesOf(0, 0, 3_153_600_000))('with releaseAfter %p has the release time %d', (releaseAfter, result) => {
    expect(resolveLockout({ releaseAfter } as LockoutOptions)).toEqual({ maxAttempts: 100, releaseAfter: result });
  });

  it('has these defaults, and is frozen', () => {
    expect(resolveLockout()).toEqual({ maxAttempts: 100, releaseAfter: 0 });
    expect(Object.isFrozen(resolveLockout({}))).toBe(true);
  });
});
