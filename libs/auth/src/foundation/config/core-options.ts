import { LANGUAGES } from '../platform/language';
import type { AuthHooks, AuthModuleOptions, AuthValues, CookieOptions, EncryptionOptions } from './auth-options';
import type { LoginRateLimit, RedisOptions, RetentionOptions, SecurityLogOptions, UsersOptions } from './auth-options';
import { isRetentionFromEnv } from './env';
import {
  DAY,
  LARGEST,
  MOST_DAYS,
  type OptionFacets,
  type OptionTree,
  type TableOf,
  TEN_YEARS,
  count,
  days,
  flag,
  list,
  milliseconds,
  publicBlock,
  rateLimit,
  seconds,
  text,
  value,
} from './option-table';

export const DEFAULT_GUARD = 'api';
export const DEFAULT_PATH = 'auth';

/** The default of `issuer` and of `audience`, which production refuses. */
export const EXAMPLE_URL = 'https://api.example.com';

/** Removes leading and trailing slashes from a path. */
export const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** The configured name of the application, or the host name of the issuer. */
export function appName({ appName: given, issuer = EXAMPLE_URL }: AuthValues): string {
  if (given?.trim()) return given.trim();
  return URL.canParse(issuer) ? new URL(issuer).hostname || issuer : issuer;
}

const trimmed = (audience: string | string[]): string[] =>
  [audience]
    .flat()
    .map((item) => String(item).trim())
    .filter(Boolean);

const GUARD_OPTIONS = {
  ...publicBlock({
    path: text({ default: DEFAULT_PATH, resolve: (path) => trimSlashes(path ?? DEFAULT_PATH) }),
    domain: text({ env: 'DOMAIN', or: null, resolve: (domain) => domain ?? null }),
    algorithm: text({ default: 'HS256', env: 'ALGORITHM' }),
    issuer: text({ default: EXAMPLE_URL, env: 'ISSUER' }),
    audience: list({ env: 'AUDIENCE', or: 'text', resolve: (audience) => trimmed(audience ?? EXAMPLE_URL) }),
    // The denylist keeps the end of a session for the life of an access token.
    accessTtl: seconds(1, DAY, { default: 900, env: 'ACCESS_TTL' }),
    refreshTtl: seconds(1, TEN_YEARS, { default: 2_592_000, env: 'REFRESH_TTL' }),
    // A copied refresh token can be used without a trace for so long.
    graceSeconds: seconds(0, 3600, { default: 30, env: 'GRACE' }),
    forkThreshold: count(2, LARGEST, { default: 3, env: 'FORK_THRESHOLD' }),
    leeway: seconds(0, 300, { default: 5, env: 'LEEWAY' }),
    cookieMode: flag({ default: false, env: 'COOKIE_MODE' }),
    cookie: {
      secure: flag({ default: true, env: 'COOKIE_SECURE' }),
      origins: list({ default: [], env: 'COOKIE_ORIGINS' }),
      refreshName: text({ default: '__Host-refresh', env: 'COOKIE_REFRESH_NAME' }),
    } satisfies TableOf<CookieOptions>,
    username: text({ default: 'email', env: 'USERNAME' }),
    appName: text({ env: 'APP_NAME', resolve: (_, options) => appName(options) }),
    languages: value<AuthValues['languages']>({
      resolve: (languages) => (languages === true ? LANGUAGES : languages || []),
    }),
  }),
  secret: text({ env: 'SECRET' }),
  previousSecrets: list({ default: [], env: 'PREVIOUS_SECRETS' }),
  users: { entity: value(), provider: value(), source: text({}) } satisfies TableOf<UsersOptions>,
  presenter: value(),
  imports: value(),
  tokenIds: text({ default: 'uuid' }),
  refreshTokenFrom: text({ default: 'mode' }),
  messages: value({ default: {} }),
  rateLimits: {
    ipv6Prefix: count(32, 128, { default: 64, env: 'RATE_LIMIT_IPV6_PREFIX', public: true }),
    login: {
      ...rateLimit('LOGIN', { maxAttempts: 5, decaySeconds: 60 }),
      ...publicBlock({
        ipMaxAttempts: count(1, LARGEST, { default: 30, env: 'LOGIN_IP_MAX_ATTEMPTS' }),
        accountMaxAttempts: count(1, LARGEST, { default: 20, env: 'LOGIN_ACCOUNT_MAX_ATTEMPTS' }),
      }),
    } satisfies TableOf<LoginRateLimit>,
    limiters: value({ resolve: (limiters?: object) => Object.freeze({ ...limiters }) }),
  },
  hooks: {
    authenticate: value(),
    tokenClaims: value({ inherited: true }),
    rateLimitKey: value({ inherited: true }),
    canSignIn: value({ inherited: true }),
  } satisfies Partial<TableOf<AuthHooks>>,
} satisfies OptionTree;

const MODULE_OPTIONS = {
  guard: text({ default: DEFAULT_GUARD }),
  guards: value(),
  routes: flag({
    default: true,
    resolve: (routes, { verifyOnly }: AuthModuleOptions) => (routes ?? true) && !verifyOnly,
  }),
  verifyOnly: flag({ default: false }),
  dataSource: text({}),
  pool: value(),
  requestOf: value(),
  encryption: {
    key: text({ env: 'ENCRYPTION_KEY', resolve: (key) => key || undefined }),
    previousKeys: list({ default: [], env: 'PREVIOUS_ENCRYPTION_KEYS' }),
  } satisfies TableOf<EncryptionOptions>,
  retention: {
    schedule: text<string>({ env: 'PRUNE_SCHEDULE', or: false, resolve: scheduleOf }),
    lockoutDays: days(1, MOST_DAYS, { default: 30, env: 'PRUNE_LOCKOUT_DAYS' }),
  } satisfies TableOf<Omit<RetentionOptions, 'schedule'>> & OptionTree,
  securityLog: {
    enabled: flag({ default: true, env: 'SECURITY_LOG' }),
    maxPerMinute: count(1, LARGEST, { default: 60, env: 'SECURITY_LOG_LINES' }),
    sink: value(),
  } satisfies TableOf<SecurityLogOptions>,
  redis: {
    url: text({ env: 'REDIS_URL', or: 'function' }),
    username: text({ env: 'REDIS_USERNAME' }),
    password: text({ env: 'REDIS_PASSWORD' }),
    tls: value(),
  } satisfies TableOf<RedisOptions>,
  cache: value(),
  stores: value(),
  denylistStore: text({ env: 'DENYLIST_STORE', or: null }),
  keyPrefix: text({ default: '', env: 'KEY_PREFIX' }),
  storeTimeoutMs: milliseconds(50, 60_000, { default: 800, env: 'STORE_TIMEOUT' }),
  preparedStatements: flag({ default: true, env: 'PREPARED_STATEMENTS' }),
} satisfies OptionTree;

/**
 * A service that only verifies may have another access TTL than the issuer, and would delete rows too early. It may also
 * share the environment of the issuer.
 */
function scheduleOf(schedule: string | false | undefined, { retention = {}, verifyOnly = false }: AuthModuleOptions) {
  const isOwn = !verifyOnly || !isRetentionFromEnv(retention);
  return (isOwn ? schedule : undefined) ?? (verifyOnly ? false : '23 3 * * *');
}

/** The options that belong to no single feature. */
export const CORE = { options: GUARD_OPTIONS, moduleOptions: MODULE_OPTIONS } satisfies OptionFacets;
