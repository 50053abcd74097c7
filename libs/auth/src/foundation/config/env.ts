import { AuthConfigError } from '../platform/errors';
import type { AuthModuleOptions } from './auth-options';
import { BOUNDS, boundsOf } from './bounds';
import { accepted, nearest, readFlag, readNumber } from './option-values.policy';

type Env = Readonly<Record<string, string | undefined>>;
/** Converts the text of a variable, which is not blank; undefined if the text has no such value. */
type Parse = (text: string, option: string) => unknown;

const text: Parse = (value) => value;
const flag: Parse = readFlag;
const list: Parse = (value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
const number: Parse = (value, option) => readNumber(value, boundsOf(option));

const unlessFalse: Parse = (value) => !['0', 'false', 'off', 'no'].includes(value.trim().toLowerCase()) && value.trim();

const FEATURES =
  'rotation reuseDetection denylist logoutAll changePassword accountDeletion gateAuthRoutes ' +
  'twoFactor lockout passkeys emailVerification passwordReset emailCode registration emailChange usernameChange knownDevices passkeyRegistration conditionalCreate abilities';

const upperSnakeCase = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();

/** Every environment variable of the library, without its prefix, and the option it sets. */
export const VARIABLES: ReadonlyArray<readonly [name: string, option: string, parse: Parse]> = [
  ['ALGORITHM', 'algorithm', text],
  ['SECRET', 'secret', text],
  ['PREVIOUS_SECRETS', 'previousSecrets', list],
  ['ACTIVE_KID', 'keys.active', text],
  ['PRIVATE_KEY', 'keys.private', text],
  ['KEY_PASSPHRASE', 'keys.passphrase', text],
  ['JWKS_URL', 'keys.jwks', text],
  ['ISSUER', 'issuer', text],
  ['AUDIENCE', 'audience', list],
  ['ACCESS_TTL', 'accessTtl', number],
  ['REFRESH_TTL', 'refreshTtl', number],
  ['GRACE', 'graceSeconds', number],
  ['FORK_THRESHOLD', 'forkThreshold', number],
  ['SESSIONS_MAX_PER_USER', 'sessions.maxPerUser', number],
  ['SESSIONS_IDLE_TIMEOUT', 'sessions.idleTimeout', number],
  ['SESSIONS_TTL_WITHOUT_REMEMBER', 'sessions.ttlWithoutRemember', number],
  ['LEEWAY', 'leeway', number],
  ['LOCKOUT_MAX_ATTEMPTS', 'lockout.maxAttempts', number],
  ['LOCKOUT_RELEASE_AFTER', 'lockout.releaseAfter', number],
  ['RATE_LIMIT_IPV6_PREFIX', 'rateLimits.ipv6Prefix', number],
  ['LOGIN_MAX_ATTEMPTS', 'rateLimits.login.maxAttempts', number],
  ['LOGIN_DECAY', 'rateLimits.login.decaySeconds', number],
  ['LOGIN_IP_MAX_ATTEMPTS', 'rateLimits.login.ipMaxAttempts', number],
  ['LOGIN_ACCOUNT_MAX_ATTEMPTS', 'rateLimits.login.accountMaxAttempts', number],
  ['2FA_MAX_ATTEMPTS', 'rateLimits.twoFactor.maxAttempts', number],
  ['2FA_DECAY', 'rateLimits.twoFactor.decaySeconds', number],
  ['CONFIRM_MAX_ATTEMPTS', 'rateLimits.confirm.maxAttempts', number],
  ['CONFIRM_DECAY', 'rateLimits.confirm.decaySeconds', number],
  ['REFRESH_MAX_ATTEMPTS', 'rateLimits.refresh.maxAttempts', number],
  ['REFRESH_DECAY', 'rateLimits.refresh.decaySeconds', number],
  ['PASSKEY_MAX_ATTEMPTS', 'rateLimits.passkeys.maxAttempts', number],
  ['PASSKEY_DECAY', 'rateLimits.passkeys.decaySeconds', number],
  ['VERIFY_MAX_ATTEMPTS', 'rateLimits.emailVerification.maxAttempts', number],
  ['VERIFY_DECAY', 'rateLimits.emailVerification.decaySeconds', number],
  ['RESET_MAX_ATTEMPTS', 'rateLimits.passwordReset.maxAttempts', number],
  ['RESET_DECAY', 'rateLimits.passwordReset.decaySeconds', number],
  ['CODE_MAX_ATTEMPTS', 'rateLimits.emailCode.maxAttempts', number],
  ['CODE_DECAY', 'rateLimits.emailCode.decaySeconds', number],
  ['REGISTER_MAX_ATTEMPTS', 'rateLimits.registration.maxAttempts', number],
  ['REGISTER_DECAY', 'rateLimits.registration.decaySeconds', number],
  ['EMAIL_CHANGE_MAX_ATTEMPTS', 'rateLimits.emailChange.maxAttempts', number],
  ['EMAIL_CHANGE_DECAY', 'rateLimits.emailChange.decaySeconds', number],
  ['2FA_ISSUER', 'twoFactor.issuer', text],
  ['2FA_WINDOW', 'twoFactor.window', number],
  ['2FA_RECOVERY_CODES', 'twoFactor.recoveryCodes', number],
  ['2FA_CHALLENGE_TTL', 'twoFactor.challengeTtl', number],
  ['2FA_REQUIRED', 'twoFactor.required', flag],
  ['2FA_ENROLMENT_TTL', 'twoFactor.enrolmentTtl', number],
  ['2FA_TRUSTED_DEVICE_DAYS', 'twoFactor.trustedDeviceDays', number],
  ['CONFIRM_TTL', 'confirm.ttl', number],
  ['CONFIRM_AFTER_LOGIN', 'confirm.afterLogin', flag],
  ['CONFIRM_FACTORS', 'confirm.factors', text],
  ['CONFIRM_HEADER', 'confirm.header', text],
  ['PASSKEY_MAX_PER_USER', 'passkeys.maxPerUser', number],
  ['PASSKEY_RP_NAME', 'passkeys.rpName', text],
  ['PASSKEY_RP_ID', 'passkeys.rpId', text],
  ['PASSKEY_ORIGINS', 'passkeys.origins', list],
  ['PASSKEY_CHALLENGE_TTL', 'passkeys.challengeTtl', number],
  ['PASSKEY_UV', 'passkeys.userVerification', text],
  ['PASSKEY_REQUIRED', 'passkeys.required', flag],
  ['PASSKEY_KEEP_LAST', 'passkeys.keepLast', flag],
  ['REDIS_URL', 'redis.url', text],
  ['DENYLIST_STORE', 'denylistStore', text],
  ['STORE_TIMEOUT', 'storeTimeoutMs', number],
  ['PREPARED_STATEMENTS', 'preparedStatements', flag],
  ['KEY_PREFIX', 'keyPrefix', text],
  ['COOKIE_MODE', 'cookieMode', flag],
  ['COOKIE_SECURE', 'cookie.secure', flag],
  ['COOKIE_ORIGINS', 'cookie.origins', list],
  ['USERNAME', 'username', text],
  ['APP_NAME', 'appName', text],
  ['ENCRYPTION_KEY', 'encryption.key', text],
  ['PREVIOUS_ENCRYPTION_KEYS', 'encryption.previousKeys', list],
  ['DOMAIN', 'domain', text],
  ['VERIFY_API_URL', 'emailVerification.apiUrl', text],
  ['VERIFY_URL', 'emailVerification.frontendUrl', text],
  ['VERIFY_EXPIRE', 'emailVerification.expire', number],
  ['VERIFY_BLOCK_LOGIN', 'emailVerification.blockUnverifiedLogin', flag],
  ['RESET_URL', 'passwordReset.frontendUrl', text],
  ['RESET_REVOKE_SESSIONS', 'passwordReset.revokeSessions', flag],
  ['RESET_EXPIRE', 'passwordReset.expireMinutes', number],
  ['RESET_THROTTLE', 'passwordReset.throttleSeconds', number],
  ['RESET_BROKER', 'passwordReset.broker', text],
  ['EMAIL_CHANGE_CONFIRM_URL', 'emailChange.confirmUrl', text],
  ['EMAIL_CHANGE_UNDO_URL', 'emailChange.undoUrl', text],
  ['EMAIL_CHANGE_EXPIRE', 'emailChange.expireMinutes', number],
  ['EMAIL_CHANGE_UNDO_DAYS', 'emailChange.undoDays', number],
  ['KNOWN_DEVICES_MAIL', 'knownDevices.mail', flag],
  ['KNOWN_DEVICES_URL', 'knownDevices.frontendUrl', text],
  ['KNOWN_DEVICES_EXPIRE', 'knownDevices.expireMinutes', number],
  ['CODE_URL', 'emailCode.frontendUrl', text],
  ['CODE_EXPIRE', 'emailCode.expireMinutes', number],
  ['CODE_DIGITS', 'emailCode.digits', number],
  ['REGISTER_LOGIN', 'registration.login', flag],
  ['REGISTER_CONCEAL_EXISTING', 'registration.concealExisting', flag],
  ['PASSWORD_MIN_LENGTH', 'passwords.minLength', number],
  ['ARGON2_MEMORY', 'hashing.memoryCost', number],
  ['ARGON2_TIME', 'hashing.timeCost', number],
  ['ARGON2_PARALLELISM', 'hashing.parallelism', number],
  ['HASH_CONCURRENCY', 'hashing.concurrency', number],
  ['HASH_QUEUE', 'hashing.maxQueue', number],
  ['HASH_WAIT', 'hashing.maxWaitMs', number],
  ['SECURITY_LOG', 'securityLog.enabled', flag],
  ['SECURITY_LOG_LINES', 'securityLog.maxPerMinute', number],
  ['PRUNE_SCHEDULE', 'retention.schedule', unlessFalse],
  ['PRUNE_LOCKOUT_DAYS', 'retention.lockoutDays', number],
  ...FEATURES.split(' ').map((name) => [`FEATURE_${upperSnakeCase(name)}`, `features.${name}`, flag] as const),
];

/**
 * Reads options from `SVC_*` environment variables. Options without a variable stay unset.
 *
 * A blank text leaves the option unset, so its default applies. Booleans are `true`, `1`, `on`, `yes`, `false`, `0`, `off`,
 * `no` in any case. Durations are whole numbers in the unit of their option, or have a unit: `90s`, `15m`, `12h`, `7d`.
 *
 * @param env the environment; `process.env` by default
 * @param guard name of an extra guard: then the variables `SVC_{GUARD}_*` are read, with the name in upper case and `_`
 * for `-`
 * @throws AuthConfigError naming every variable whose text is not a boolean, not a number, or out of its range
 *
 * @example AuthModule.forRoot({ ...authOptionsFromEnv(), users: { entity: User } })
 * @publicApi
 */
export function authOptionsFromEnv(env: Env = process.env, guard?: string): AuthModuleOptions {
  const prefix = prefixOf(guard);
  const options = {};
  const errors: string[] = [];
  for (const [name, option, parse] of VARIABLES) {
    const value = env[prefix + name];
    // A blank line of an env file, such as `SVC_FEATURE_DENYLIST=${DENYLIST}` without the outer variable, must not switch
    // a protection off.
    if (!value?.trim()) continue;
    const parsed = parse(value, option);
    if (parsed === undefined) errors.push(invalidValue(option, guard, value));
    else assign(options, option.split('.'), parsed);
  }
  if (errors.length) throw new AuthConfigError(errors.join('\n'));
  if (env === process.env) isProcessRead = true;
  const publicKey = env[`${prefix}PUBLIC_KEY`];
  const kid = env[`${prefix}ACTIVE_KID`];
  if (publicKey?.trim()) assign(options, ['keys', 'public'], { [kid?.trim() ? kid : 'default']: publicKey });
  const { retention } = options as AuthModuleOptions;
  if (retention) retentionsFromEnv.add(retention);
  return options;
}

const retentionsFromEnv = new WeakSet<object>();

/** Whether {@link authOptionsFromEnv} has made this `retention` block. The variables may be those of another service. */
export const isRetentionFromEnv = (retention: object): boolean => retentionsFromEnv.has(retention);

/** Whether {@link authOptionsFromEnv} has read the environment of the process. Otherwise its variables are the host's. */
let isProcessRead = false;

const READ_ELSEWHERE = ['PUBLIC_KEY', 'ALLOW_TESTING'];

/**
 * Describes the `SVC_*` variables of the process that the library does not know, each with the known one that is most
 * like it. They are not refused: orchestrators and other software set variables with this prefix, too.
 */
export function unknownVariables(guards: readonly string[], env: Env = isProcessRead ? process.env : {}): string[] {
  const names = [...VARIABLES.map(([name]) => name), ...READ_ELSEWHERE];
  const known = [undefined, ...guards].flatMap((guard) => names.map((name) => prefixOf(guard) + name));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const closest = nearest(name, known);
      return `${name} is not a variable of @svc/auth, and has no effect.${closest ? ` The nearest known name is ${closest}.` : ''}`;
    });
}

const parserOf = (option: string): Parse | undefined => VARIABLES.find(([, other]) => other === option)?.[2];

/** Whether an option is a number. */
export const isNumber = (option: string): boolean => parserOf(option) === number || Object.hasOwn(BOUNDS, option);

/** Whether an option with a variable is a text. */
export const isText = (option: string): boolean => parserOf(option) === text;

/** Whether an option with a variable is a list of texts. */
export const isList = (option: string): boolean => parserOf(option) === list;

/** Whether an option is a boolean. */
export const isFlag = (option: string): boolean => parserOf(option) === flag || option === 'routes';

/** The error of a boolean or a number. `named` is the full name of the option, if a guard sets it. */
export function invalidValue(option: string, guard: string | undefined, value: unknown, named = option): string {
  const wanted = isNumber(option) ? accepted(boundsOf(option)) : 'true or false';
  return `${optionWithVariable(option, guard, named)} is ${shown(value)}. Use ${wanted}.`;
}

/** An option with its variable: `accessTtl (SVC_ACCESS_TTL)`. */
export function optionWithVariable(option: string, guard: string | undefined, named = option): string {
  const [variable] = VARIABLES.find(([, other]) => other === option) ?? [];
  return `${named}${variable ? ` (${prefixOf(guard)}${variable})` : ''}`;
}

/** Only a short text that looks like a number or a word: the value may be a secret that is in the wrong line. */
const HARMLESS = /^[\w.+-]{1,12}$/;

const shown = (value: unknown): string => {
  if (typeof value === 'string') return HARMLESS.test(value) ? `"${value}"` : `a text of ${value.length} characters`;
  return value === null || ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : `a ${typeof value}`;
};

const PREFIX = 'SVC_';

const prefixOf = (guard?: string): string => (guard ? `${PREFIX}${envName(guard)}_` : PREFIX);

/** A guard's name as part of an environment variable. */
export const envName = (guard: string): string => guard.toUpperCase().replace(/-/g, '_');

function assign(target: Record<string, unknown>, [key = '', ...rest]: string[], value: unknown): void {
  if (rest.length) assign((target[key] ??= {}) as Record<string, unknown>, rest, value);
  else target[key] = value;
}
