import type { GuardConfig, RateLimits } from './auth-config';
import type { AuthValues, RateLimit, RateLimitsOptions } from './auth-options';
import { DEFAULTS } from './defaults';
import { wholeNumber } from './merge';

/** Longest window of a limit in seconds: a year. Beyond what a store can count down, a window would never end. */
export const LONGEST_WINDOW = 31_536_000;

/** Longest time after which a lock lets go, in seconds: a hundred years. PostgreSQL's intervals end somewhere. */
const LONGEST_LOCK = 100 * LONGEST_WINDOW;

const FALLBACK = DEFAULTS.rateLimits;
const LIMITS = Object.keys(FALLBACK).filter((name) => name !== 'ipv6Prefix' && name !== 'limiters') as Exclude<
  keyof typeof FALLBACK,
  'ipv6Prefix' | 'limiters'
>[];

/** The rate limits with every number in its bounds: none may become 0, which would shut everyone out. */
export function rateLimits(given: RateLimitsOptions = {}): RateLimits {
  const limits = LIMITS.map((name) => [name, limit(given[name], FALLBACK[name])]);
  return Object.freeze({
    ...(Object.fromEntries(limits) as Omit<RateLimits, 'ipv6Prefix' | 'limiters'>),
    ipv6Prefix: wholeNumber(given.ipv6Prefix, FALLBACK.ipv6Prefix, 32, 128),
    limiters: Object.freeze({ ...given.limiters }),
  });
}

/** The lockout's numbers in their bounds. NIST SP 800-63B §3.2.2 allows no more than 100 attempts. */
export function lockout({ maxAttempts, releaseAfter }: AuthValues['lockout'] = {}): GuardConfig['lockout'] {
  const fallback = DEFAULTS.lockout;
  return Object.freeze({
    maxAttempts: wholeNumber(maxAttempts, fallback.maxAttempts, 1, 100),
    releaseAfter: wholeNumber(releaseAfter, fallback.releaseAfter, 0, LONGEST_LOCK),
  });
}

function limit<Numbers extends RateLimit>(given: RateLimit | undefined, fallback: Numbers): Required<Numbers> {
  const numbers = Object.entries(fallback).map(([name, value]) => {
    const most = name === 'decaySeconds' ? LONGEST_WINDOW : undefined;
    return [name, wholeNumber(given?.[name as keyof RateLimit], value as number, 1, most)];
  });
  return Object.freeze(Object.fromEntries(numbers));
}
