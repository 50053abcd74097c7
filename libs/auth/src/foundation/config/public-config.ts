import type { GuardConfig, RateLimits } from './auth-config';

/** The options that are public with all their values. An option that is added to the library is private until listed. */
const PUBLIC_OPTIONS = [
  'guard',
  'isDefault',
  'path',
  'domain',
  'issuer',
  'audience',
  'algorithm',
  'accessTtl',
  'refreshTtl',
  'graceSeconds',
  'forkThreshold',
  'leeway',
  'cookieMode',
  'cookie',
  'username',
  'appName',
  'languages',
  'features',
  'sessions',
  'confirm',
  'lockout',
  'emailVerification',
  'passwordReset',
  'emailChange',
  'knownDevices',
  'emailCode',
] as const satisfies readonly (keyof GuardConfig)[];

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

/**
 * The configuration of one guard with all defaults applied, for code of the host: to show lifetimes and limits, or to
 * configure a client. It has the names of the options (`docs/options.md`), and no secret, key, hook, mailer or other
 * function. Frozen.
 *
 * @publicApi
 */
export interface PublicGuardConfig extends Frozen<Pick<GuardConfig, (typeof PUBLIC_OPTIONS)[number]>> {
  /** `required` is null if a function decides for each user. */
  readonly twoFactor: Frozen<Omit<GuardConfig['twoFactor'], 'required'> & { required: boolean | null }>;
  /** `required` and `keepLast` are null if a function decides for each user. */
  readonly passkeys: Frozen<
    Omit<GuardConfig['passkeys'], 'required' | 'keepLast'> & { required: boolean | null; keepLast: boolean | null }
  >;
  /** `rules` is a class, so it is not listed. */
  readonly registration: Frozen<Omit<GuardConfig['registration'], 'rules'>>;
  readonly passwords: Frozen<Pick<GuardConfig['passwords'], 'minLength'>>;
  /** The limits of the library's own routes. `limiters` are functions, so they are not listed. */
  readonly rateLimits: Frozen<Omit<RateLimits, 'limiters'>>;
}

/** Returns the public part of a guard's configuration. */
export function publicConfig(config: GuardConfig): PublicGuardConfig {
  const { twoFactor, passkeys, passwords, rateLimits } = config;
  const { rules: _rules, ...registration } = config.registration;
  const { limiters: _limiters, ...limits } = rateLimits;
  return frozen({
    ...Object.fromEntries(PUBLIC_OPTIONS.map((name) => [name, config[name]])),
    twoFactor: { ...twoFactor, required: fixed(twoFactor.required) },
    passkeys: { ...passkeys, required: fixed(passkeys.required), keepLast: fixed(passkeys.keepLast) },
    registration,
    passwords: { minLength: passwords.minLength },
    rateLimits: limits,
  }) as PublicGuardConfig;
}

/** A flag that is the same for all users; null if a function decides for each user. */
const fixed = (flag: unknown): unknown => (typeof flag === 'function' ? null : flag);

/** A frozen copy of data. Functions are left out. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  const data = Object.entries(value).filter(([, item]) => typeof item !== 'function');
  return Object.freeze(Object.fromEntries(data.map(([name, item]) => [name, frozen(item)])));
}
