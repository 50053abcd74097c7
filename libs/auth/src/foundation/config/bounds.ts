import { DEFAULTS } from './defaults';
import { type Bounds, readNumber } from './option-values.policy';

/** The largest `integer` of PostgreSQL, and the longest timer of Node in milliseconds: a longer one fires at once. */
const LARGEST = 2_147_483_647;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Maximum window of a rate limit in seconds: one year. */
export const LONGEST_WINDOW = 365 * DAY;

/** Maximum life of a session, and maximum time of a lock, in seconds: ten years. */
const TEN_YEARS = 10 * LONGEST_WINDOW;

/** Maximum validity of a reset link in minutes: a week. Who reads the mail later can set a password with it. */
export const LONGEST_RESET = (7 * DAY) / MINUTE;

/** Maximum number of days: an interval that PostgreSQL can still subtract from the current date. */
export const MOST_DAYS = 99_999;

const count = (min: number, max = LARGEST): Bounds => ({ min, max });
const milliseconds = (min: number, max: number): Bounds => ({ min, max, unit: 1 });
const seconds = (min: number, max: number): Bounds => ({ min, max, unit: 1000 });
const minutes = (min: number, max: number): Bounds => ({ min, max, unit: 60_000 });
const days = (min: number, max: number): Bounds => ({ min, max, unit: 86_400_000 });

const limits = Object.entries(DEFAULTS.rateLimits).flatMap(([name, numbers]) =>
  Object.keys(numbers).map((number): [string, Bounds] => [
    `rateLimits.${name}.${number}`,
    number === 'decaySeconds' ? seconds(1, LONGEST_WINDOW) : count(1),
  ]),
);

/** The bounds of every number among the options. A number outside its bounds is refused when the application starts. */
export const BOUNDS: Readonly<Record<string, Bounds>> = {
  // The denylist keeps the end of a session for the life of an access token.
  accessTtl: seconds(1, DAY),
  refreshTtl: seconds(1, TEN_YEARS),
  // A copied refresh token can be used without a trace for so long.
  graceSeconds: seconds(0, HOUR),
  forkThreshold: count(2),
  leeway: seconds(0, 5 * MINUTE),
  'sessions.maxPerUser': count(0),
  'sessions.idleTimeout': seconds(0, TEN_YEARS),
  'sessions.ttlWithoutRemember': seconds(0, TEN_YEARS),
  // NIST SP 800-63B §3.2.2 allows no more than 100 attempts.
  'lockout.maxAttempts': count(1, 100),
  'lockout.releaseAfter': seconds(0, TEN_YEARS),
  'rateLimits.ipv6Prefix': count(32, 128),
  ...Object.fromEntries(limits),
  // RFC 6238 §5.2 recommends one step at most. A larger window gives an observed code, and a guess, more time.
  'twoFactor.window': count(0, 1),
  'twoFactor.recoveryCodes': count(1, 100),
  'twoFactor.challengeTtl': seconds(1, DAY),
  'twoFactor.enrolmentTtl': seconds(1, DAY),
  'twoFactor.trustedDeviceDays': days(0, 90),
  'confirm.ttl': seconds(1, DAY),
  'passkeys.challengeTtl': seconds(1, DAY),
  'passkeys.maxPerUser': count(1, 1000),
  'emailVerification.expire': minutes(1, LONGEST_WINDOW / MINUTE),
  'passwordReset.expireMinutes': minutes(1, LONGEST_RESET),
  'passwordReset.throttleSeconds': seconds(0, DAY),
  'emailChange.expireMinutes': minutes(1, DAY / MINUTE),
  // For so long, a person who can read the mails of the former address can take the account back.
  'emailChange.undoDays': days(1, 30),
  'knownDevices.expireMinutes': minutes(1, (30 * DAY) / MINUTE),
  // NIST SP 800-63B §3.1.3.2 allows 10 minutes, and 6 digits at least.
  'emailCode.expireMinutes': minutes(1, 10),
  'emailCode.digits': count(6, 10),
  // 8 is the minimum of NIST SP 800-63B §3.1.1.2, 255 is the maximum length of a field.
  'passwords.minLength': count(8, 255),
  'passwords.breached.timeoutMs': milliseconds(1, 60_000),
  // RFC 9106 §3.1 requires 8 KiB.
  'hashing.memoryCost': count(8, 4_194_304),
  'hashing.timeCost': count(1, 1000),
  'hashing.parallelism': count(1, 255),
  // libuv has 1024 threads at most.
  'hashing.concurrency': count(1, 1024),
  'hashing.maxQueue': count(0, 1_000_000),
  'hashing.maxWaitMs': milliseconds(1, 60_000),
  storeTimeoutMs: milliseconds(50, 60_000),
  'retention.lockoutDays': days(1, MOST_DAYS),
  'securityLog.maxPerMinute': count(1),
};

/** The bounds of a numeric option. A number that is not listed is a count. */
export const boundsOf = (option: string): Bounds => BOUNDS[option] ?? count(0);

/**
 * The value of a numeric option; the fallback where it is unset. `optionErrors` refuses every other value. Without that
 * check the fallback applies too, never 0: a limit of 0 would refuse every request.
 */
export const numberOf = (option: string, value: unknown, fallback: number): number =>
  readNumber(value, boundsOf(option)) ?? fallback;
