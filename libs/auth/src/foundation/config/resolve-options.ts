import { AuthConfigError } from '../platform/errors';
import type { AuthConfig, GuardConfig, RateLimits } from './auth-config';
import type { AuthModuleOptions, AuthStructure, AuthValues, RateLimit, RateLimitsOptions } from './auth-options';
import { numberOf } from './bounds';
import { DEFAULTS, DEFAULT_FEATURES, DEFAULT_HASHING } from './defaults';
import { VARIABLES, isFlag, isRetentionFromEnv } from './env';
import { merge } from './merge';
import { readFlag } from './option-values.policy';
import {
  appName,
  resolveEmailChange,
  resolveEmailCode,
  resolveEmailVerification,
  resolveKnownDevices,
  resolveLanguages,
  resolveMail,
  resolvePasskeys,
  resolvePasswordReset,
  resolvePasswords,
  resolveRegistration,
  resolveTwoFactor,
} from './resolve-features';

const FALLBACK = DEFAULTS.rateLimits;
const LIMITS = Object.keys(FALLBACK).filter((name) => name !== 'ipv6Prefix' && name !== 'limiters') as Exclude<
  keyof typeof FALLBACK,
  'ipv6Prefix' | 'limiters'
>[];

/** The rate limits, with defaults. No number may become 0, which would refuse every request. */
export function resolveRateLimits(given: RateLimitsOptions = {}): RateLimits {
  const limits = LIMITS.map((name) => [name, limit(name, given[name], FALLBACK[name])]);
  return Object.freeze({
    ...(Object.fromEntries(limits) as Omit<RateLimits, 'ipv6Prefix' | 'limiters'>),
    ipv6Prefix: numberOf('rateLimits.ipv6Prefix', given.ipv6Prefix, FALLBACK.ipv6Prefix),
    limiters: Object.freeze({ ...given.limiters }),
  });
}

/** The lockout, with defaults. */
export function resolveLockout({ maxAttempts, releaseAfter }: AuthValues['lockout'] = {}): GuardConfig['lockout'] {
  const fallback = DEFAULTS.lockout;
  return Object.freeze({
    maxAttempts: numberOf('lockout.maxAttempts', maxAttempts, fallback.maxAttempts),
    releaseAfter: numberOf('lockout.releaseAfter', releaseAfter, fallback.releaseAfter),
  });
}

/** The number and the life of sessions, with defaults. */
function resolveSessions(given: AuthValues['sessions'] = {}): GuardConfig['sessions'] {
  const fallback = DEFAULTS.sessions;
  const names = Object.keys(fallback) as (keyof typeof fallback)[];
  const numbers = names.map((name) => [name, numberOf(`sessions.${name}`, given[name], fallback[name])]);
  return Object.freeze(Object.fromEntries(numbers) as typeof fallback);
}

function limit<Numbers extends RateLimit>(
  limited: string,
  given: RateLimit | undefined,
  fallback: Numbers,
): Required<Numbers> {
  const numbers = Object.entries(fallback).map(([name, value]) => [
    name,
    numberOf(`rateLimits.${limited}.${name}`, given?.[name as keyof RateLimit], value as number),
  ]);
  return Object.freeze(Object.fromEntries(numbers));
}

/** Removes leading and trailing slashes from a path. */
export const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** Options that the module has once. A guard has none of its own. */
export const PER_MODULE: readonly string[] = [
  'guards',
  'guard',
  'encryption',
  'hashing',
  'retention',
  'securityLog',
  'redis',
  'cache',
  'stores',
  'denylistStore',
  'storeTimeoutMs',
  'preparedStatements',
  'requestOf',
  'keyPrefix',
  'routes',
  'dataSource',
  'pool',
];
const STRUCTURE = ['guard', 'path', 'routes', 'domain', 'features', 'users', 'presenter', 'dataSource', 'pool'];

const FLAGS = ['routes', ...VARIABLES.map(([, option]) => option).filter(isFlag)].map((option) => option.split('.'));

/**
 * Returns the options with booleans in place of their texts (`'off'`), as a `ConfigService` returns them. A text that is no
 * boolean stays: `optionErrors` refuses it.
 */
export function readFlags<Options extends object>(options: Options): Options {
  const read = { ...options } as Record<string, unknown>;
  for (const [block = '', name] of FLAGS) {
    const values = name === undefined ? read : { ...(read[block] as object | undefined) };
    const text = (values as Record<string, unknown>)[name ?? block];
    const value = typeof text === 'string' ? readFlag(text) : undefined;
    if (value !== undefined) read[block] = name === undefined ? value : { ...values, [name]: value };
  }
  const { guards } = read;
  if (typeof guards === 'object' && guards !== null) {
    const ofGuards = Object.entries(guards as Record<string, object>);
    read.guards = Object.fromEntries(ofGuards.map(([guard, own]) => [guard, readFlags(own)]));
  }
  return read as Options;
}

/** Applies every default to the host's options. It does not check them: see `optionErrors` and `guardErrors`. */
export function resolveOptions(options: AuthModuleOptions): AuthConfig {
  const { guards: extra = {}, ...top } = readFlags(options);
  const defaultGuard = top.guard ?? DEFAULTS.guard;
  const inherited = Object.fromEntries(Object.entries(top).filter(([key]) => !PER_MODULE.includes(key)));

  return Object.freeze({
    routes: top.routes ?? DEFAULTS.routes,
    guards: [
      ...Object.entries(extra).map(([name, own]) =>
        guardConfig(name, false, merge(DEFAULTS, inheritable(inherited, own), own), own),
      ),
      guardConfig(defaultGuard, true, merge(DEFAULTS, inherited), top),
    ],
    encryption: Object.freeze({
      key: top.encryption?.key || undefined,
      previousKeys: [...(top.encryption?.previousKeys ?? [])],
    }),
    hashing: hashing(top.hashing),
    retention: retention(top.retention, top.routes ?? DEFAULTS.routes),
    securityLog: securityLog(top.securityLog),
    storeTimeoutMs: numberOf('storeTimeoutMs', top.storeTimeoutMs, DEFAULTS.storeTimeoutMs),
    preparedStatements: top.preparedStatements ?? DEFAULTS.preparedStatements,
    requestOf: top.requestOf,
    keyPrefix: top.keyPrefix ?? '',
    redisUrl: top.redis?.url || undefined,
    store: storeOf(top),
  });
}

/** Combines the declared structure with the values of the factory. A factory cannot change the structure. */
export function combine(structure: AuthStructure, values: unknown): AuthModuleOptions {
  if (typeof values !== 'object' || values === null) {
    throw new AuthConfigError(
      `useFactory of AuthModule.forRootAsync returned ${String(values)}. Return an object with the options.`,
    );
  }
  const { guards = {}, ...own } = values as AuthModuleOptions;
  const undeclared = Object.keys(guards).filter((name) => !structure.guards?.[name]);
  const misplaced = [
    ...Object.keys(own).filter((key) => STRUCTURE.includes(key)),
    ...Object.entries(guards).flatMap(([name, ofGuard]) =>
      Object.keys(ofGuard).flatMap((key) => (STRUCTURE.includes(key) ? [`guards.${name}.${key}`] : [])),
    ),
    ...undeclared.map((name) => `guards.${name}`),
  ].at(0);
  if (misplaced) {
    throw new AuthConfigError(
      `useFactory returned "${misplaced}", which shapes the module and must be known before the factory runs. ` +
        `Pass it to forRootAsync beside useFactory.`,
    );
  }
  return { ...structure, ...own, guards: merge(structure.guards, guards) as AuthModuleOptions['guards'] };
}

function guardConfig(guard: string, isDefault: boolean, merged: object, own: AuthModuleOptions): GuardConfig {
  const options = merged as typeof DEFAULTS & AuthModuleOptions;
  const suffix = isDefault || own.cookie?.refreshName ? '' : `-${guard}`;
  const audience = [options.audience].flat().map((item) => String(item).trim());
  return Object.freeze({
    ...options,
    guard,
    isDefault,
    nameOf: (option: string) =>
      isDefault || !Object.hasOwn(own, blockOf(option)) ? option : `guards.${guard}.${option}`,
    path: trimSlashes(options.path),
    users: own.users,
    audience: audience.filter(Boolean),
    secret: options.secret,
    features: Object.freeze({ ...DEFAULT_FEATURES, ...options.features }),
    accessTtl: numberOf('accessTtl', options.accessTtl, DEFAULTS.accessTtl),
    refreshTtl: numberOf('refreshTtl', options.refreshTtl, DEFAULTS.refreshTtl),
    graceSeconds: numberOf('graceSeconds', options.graceSeconds, DEFAULTS.graceSeconds),
    forkThreshold: numberOf('forkThreshold', options.forkThreshold, DEFAULTS.forkThreshold),
    leeway: numberOf('leeway', options.leeway, DEFAULTS.leeway),
    sessions: resolveSessions(options.sessions),
    rateLimits: resolveRateLimits(options.rateLimits),
    lockout: resolveLockout(options.lockout),
    appName: appName(options),
    twoFactor: resolveTwoFactor(options),
    passkeys: resolvePasskeys(options),
    emailVerification: resolveEmailVerification(options),
    passwordReset: resolvePasswordReset(options),
    emailChange: resolveEmailChange(options),
    knownDevices: resolveKnownDevices(options),
    emailCode: resolveEmailCode(options),
    registration: resolveRegistration(options),
    passwords: resolvePasswords(options),
    mail: resolveMail(options),
    languages: resolveLanguages(options),
    confirm: Object.freeze({
      ttl: numberOf('confirm.ttl', options.confirm.ttl, DEFAULTS.confirm.ttl),
      afterLogin: Boolean(options.confirm.afterLogin),
      factors: options.confirm.factors as GuardConfig['confirm']['factors'],
      header: options.confirm.header || DEFAULTS.confirm.header,
    }),
    cookie: Object.freeze({
      ...options.cookie,
      refreshName: cookieName(options.cookie) + suffix,
      origins: [...options.cookie.origins],
    }),
  });
}

/**
 * The options that an extra guard inherits from the top level: all but the users and the hooks that concern them, and,
 * if it sets keys of its own, the keys.
 *
 * A user that the default guard's `authenticate` returns would be signed in as the user with the same id in the other
 * guard's table. Inherited former secrets and public keys would verify tokens of this guard although it has its own
 * keys.
 */
function inheritable(top: AuthModuleOptions, own: AuthModuleOptions): AuthModuleOptions {
  const { users: _users, hooks, previousSecrets, keys, ...rest } = top;
  return {
    ...rest,
    hooks: {
      tokenClaims: hooks?.tokenClaims?.bind(hooks),
      abilities: hooks?.abilities?.bind(hooks),
      canSignIn: hooks?.canSignIn?.bind(hooks),
      rateLimitKey: hooks?.rateLimitKey?.bind(hooks),
    },
    previousSecrets: own.secret === undefined ? previousSecrets : undefined,
    keys: hasOwnKeys(own) ? undefined : keys,
  };
}

const hasOwnKeys = ({ algorithm, keys = {} }: AuthModuleOptions): boolean =>
  algorithm === 'HS256' || [keys.private, keys.public, keys.jwks].some((key) => key !== undefined);

// Browsers refuse the prefixes without Secure (RFC 6265bis §4.1.3).
const cookieName = ({ refreshName, secure }: { refreshName: string; secure: boolean }): string =>
  secure ? refreshName : refreshName.replace(/^__(Host|Secure)-/i, '');

const blockOf = (option: string): string => option.split('.')[0]!;

function hashing(given: AuthModuleOptions['hashing'] = {}): AuthConfig['hashing'] {
  const names = Object.keys(DEFAULT_HASHING) as (keyof typeof DEFAULT_HASHING)[];
  const values = names.map((name) => [name, numberOf(`hashing.${name}`, given[name], DEFAULT_HASHING[name])]);
  return Object.freeze({ ...Object.fromEntries(values), verifiers: [...(given.verifiers ?? [])] });
}

function retention(given: AuthModuleOptions['retention'] = {}, hasRoutes: boolean): AuthConfig['retention'] {
  const { schedule, lockoutDays } = given;
  const fallback = DEFAULTS.retention;
  // A service that only verifies may have another access TTL than the issuer, and would delete rows too early. It may also
  // share the environment of the issuer.
  const isOwn = hasRoutes || !isRetentionFromEnv(given);
  return Object.freeze({
    schedule: (isOwn ? schedule : undefined) ?? (hasRoutes ? fallback.schedule : false),
    lockoutDays: numberOf('retention.lockoutDays', lockoutDays, fallback.lockoutDays),
  });
}

function securityLog({
  enabled,
  maxPerMinute,
  sink,
}: AuthModuleOptions['securityLog'] = {}): AuthConfig['securityLog'] {
  const fallback = DEFAULTS.securityLog;
  return Object.freeze({
    enabled: enabled ?? fallback.enabled,
    maxPerMinute: numberOf('securityLog.maxPerMinute', maxPerMinute, fallback.maxPerMinute),
    sink,
  });
}

function storeOf({ redis, cache, stores = {}, denylistStore }: AuthModuleOptions): unknown {
  if (redis?.url && (cache || denylistStore)) {
    throw new AuthConfigError(
      `redis.url (SVC_REDIS_URL) and ${cache ? 'cache' : 'denylistStore (SVC_DENYLIST_STORE)'} are both set, but there is ` +
        'one store. Remove one of them.',
    );
  }
  if (!denylistStore) return cache;
  if (denylistStore in stores) return stores[denylistStore];
  throw new AuthConfigError(
    `denylistStore names "${denylistStore}", but stores has ${Object.keys(stores).join(', ') || 'no entries'}. ` +
      `Add it to stores, or unset denylistStore (SVC_DENYLIST_STORE) to use cache.`,
  );
}
