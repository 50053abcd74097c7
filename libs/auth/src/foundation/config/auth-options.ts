import type { ConnectionOptions } from 'node:tls';
import type { ExecutionContext, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuditOptions } from '../../features/operators/trail/audit.options';
import type { AccessKeysOptions } from '../../features/access-keys/access-keys.options';
import type { BoundSessionsOptions } from '../../features/bound-sessions/bound-sessions.options';
import type { OperatorsOptions } from '../../features/operators/operators.options';
import type { SecurityEventsOptions } from '../../features/operators/delivery/security-events.options';
import type { EmailChangeOptions } from '../../features/email-change/email-change.options';
import type { EmailCodeOptions } from '../../features/email-code/email-code.options';
import type { EmailVerificationOptions } from '../../features/email-verification/email-verification.options';
import type { IdentitiesOptions } from '../../features/identities/identities.options';
import type { KnownDeviceOptions } from '../../features/known-devices/known-devices.options';
import type { MailOptions } from '../../features/mail/mail.options';
import type { PasskeyOptions } from '../../features/passkeys/passkeys.options';
import type { PasswordResetOptions } from '../../features/password-reset/password-reset.options';
import type { RegistrationOptions } from '../../features/registration/registration.options';
import type { SessionsOptions } from '../../features/sessions/sessions.options';
import type { ConfirmOptions } from '../../features/step-up/step-up.options';
import type { TwoFactorOptions } from '../../features/two-factor/two-factor.options';
import type { HashingOptions, PasswordOptions } from '../../identity/password/password.options';
import type { KeyOptions } from '../../identity/tokens/key.options';
import type { LockoutOptions } from '../../request/lockout/lockout.options';
import type { SecurityLine } from '../platform/catalogue';
import type { Language } from '../platform/language';
import type { MessageKey, Translate } from '../platform/messages';
import type { PostgresPool } from '../platform/postgres-pool';
import type { Handshake } from '../ports/handshake';
import type { Limiter } from '../ports/limiter';
import type { Presenter } from '../ports/presenter';
import type { UserProvider } from '../ports/user-provider';
import type { SecurityStore } from '../security-store/security-store';
import type { Duration } from './option-values.policy';

/** JWS algorithms the library signs and verifies with (RFC 7518 §3.1). */
export type Algorithm = 'HS256' | 'RS256' | 'ES256';

/** Texts of the API that replace built-in ones, in every language and in single languages. */
export type MessageReplacements = Partial<Record<MessageKey, string>> & {
  [Name in Language]?: Partial<Record<MessageKey, string>>;
};

/** The refresh cookie of cookie mode. */
export interface CookieOptions {
  /**
   * Name of the refresh cookie, with which the names of the other cookies begin. An extra guard that sets no name of its own
   * appends `-{guard}`. Browsers send cookies to every port of a host: applications on one host, such as `localhost`, need
   * different names.
   *
   * @default '__Host-refresh'
   * @env SVC_COOKIE_REFRESH_NAME
   */
  refreshName?: string;

  /**
   * Sends the cookie over TLS only. `false` removes the `Secure` attribute and the `__Host-` or `__Secure-` prefix, for
   * development over plain HTTP. In production the application does not start with `false`.
   *
   * @default true
   * @env SVC_COOKIE_SECURE
   */
  secure?: boolean;

  /**
   * Exact origins of pages on other origins that may sign in and refresh in cookie mode, such as
   * `https://app.example.com`. Pages of the API's own origin are always allowed. Pages of all other origins, including
   * subdomains of the API, are refused with 403. A client that is not a browser sends no `Origin` header and is
   * allowed. For previews, outside production only, the first label of the host may be an asterisk, which stands for one label:
   * `https://*.preview.example.com`. The application does not start with a wildcard in production, nor with one below which
   * anyone can register a name, such as `https://*.vercel.app`.
   *
   * @default []
   * @env SVC_COOKIE_ORIGINS (comma list)
   */
  origins?: string[];
}

/** One rate limit: a number of attempts within a window of time. */
export interface RateLimit {
  /** Attempts that one window allows, at least 1. */
  maxAttempts?: number;
  /** Length of the window in seconds, 1 to 31536000 (a year). */
  decaySeconds?: Duration;
}

/** The limits of `POST /login`: all attempts by address, failures by account and address, failures by account. */
export interface LoginRateLimit extends RateLimit {
  /**
   * Attempts of one client address, successful or not.
   *
   * @default 30
   * @env SVC_LOGIN_IP_MAX_ATTEMPTS
   */
  ipMaxAttempts?: number;

  /**
   * Failures of one account from all addresses together. It bounds attacks from many addresses.
   *
   * @default 20
   * @env SVC_LOGIN_ACCOUNT_MAX_ATTEMPTS
   */
  accountMaxAttempts?: number;
}

/** Rate limits. They bound the rate of attempts; the lockout bounds their total number. Features add theirs. */
export interface RateLimitsOptions {
  /**
   * Prefix length, in bits, of the IPv6 addresses that count as one client, 32 to 128. One subscriber usually has a
   * whole /64.
   *
   * @default 64
   * @env SVC_RATE_LIMIT_IPV6_PREFIX
   */
  ipv6Prefix?: number;

  /**
   * `POST /login`.
   *
   * @default { maxAttempts: 5, decaySeconds: 60, ipMaxAttempts: 30, accountMaxAttempts: 20 }
   * @env SVC_LOGIN_MAX_ATTEMPTS, SVC_LOGIN_DECAY
   */
  login?: LoginRateLimit;

  /**
   * Limiters by name. A limiter with the name of a built-in one, such as `svc-login`, replaces it. Any other name is
   * for `@Throttled('name')` on the host's own routes.
   *
   * @default {}
   */
  limiters?: Record<string, Limiter>;
}

/** How long unused rows are kept, and when they are removed. */
export interface RetentionOptions {
  /**
   * When the application runs the sweep of `svc:prune`: a cron expression in the time zone of the process, or `false`
   * for never. If the host imports `ScheduleModule` of `@nestjs/schedule`, the sweep is its job `svc:prune`; otherwise
   * the library has a timer. Of several nodes, one at a time runs it. An application without an HTTP server does not
   * schedule it. With `verifyOnly` the default is `false`, and the environment variable, which may be meant for the issuer, is
   * ignored.
   *
   * @default '23 3 * * *'
   * @env SVC_PRUNE_SCHEDULE
   */
  schedule?: string | false;

  /**
   * Days after the last failure for which a lockout counter without a lock is kept, 1 to 99999.
   *
   * @default 30
   * @env SVC_PRUNE_LOCKOUT_DAYS
   */
  lockoutDays?: Duration;
}

/**
 * Encryption at rest of values that must be read again: TOTP secrets and public keys of passkeys. Its keys also sign
 * mailed links.
 */
export interface EncryptionOptions {
  /**
   * Key text, used verbatim as UTF-8 bytes: at least 32. `npx svc-auth secret --show` generates one; it must not be a value of
   * `secret` or `previousSecrets`. AES-256-GCM keys are derived from it (NIST SP 800-38D, RFC 5869), and so are the keys of refresh tokens. Required by
   * `features.twoFactor`, `features.passkeys` and `features.emailVerification`, and by a guard with an asymmetric
   * algorithm and without `secret`.
   *
   * @default none
   * @env SVC_ENCRYPTION_KEY
   */
  key?: string;

  /**
   * Former keys that still decrypt, and still verify refresh tokens. A value that was encrypted with one of them stays
   * so until it is stored again. For refresh tokens, keep a former key for `refreshTtl`.
   *
   * @default []
   * @env SVC_PREVIOUS_ENCRYPTION_KEYS (comma list)
   */
  previousKeys?: string[];
}

/** Features, each on or off. They are structure: known when the module is declared. */
export interface FeatureOptions {
  /**
   * Every refresh replaces the refresh token (RFC 9700 §4.14.2). Off: the same refresh token stays valid.
   *
   * @default true
   * @env SVC_FEATURE_ROTATION
   */
  rotation?: boolean;

  /**
   * A replaced refresh token that is used again after the grace period ends the whole session (RFC 9700 §4.14.2). Off:
   * the request is refused, and the session continues.
   *
   * @default true
   * @env SVC_FEATURE_REUSE_DETECTION
   */
  reuseDetection?: boolean;

  /**
   * An access token is invalid as soon as its session has ended. Off: it is valid until it expires.
   *
   * @default true
   * @env SVC_FEATURE_DENYLIST
   */
  denylist?: boolean;

  /**
   * Mounts `DELETE /sessions`.
   *
   * @default true
   * @env SVC_FEATURE_LOGOUT_ALL
   */
  logoutAll?: boolean;

  /**
   * Uses abilities even without `hooks.abilities`: the derived grant is empty.
   *
   * @default false
   * @env SVC_FEATURE_ABILITIES
   */
  abilities?: boolean;

  /**
   * `POST /password`.
   *
   * @default true
   * @env SVC_FEATURE_CHANGE_PASSWORD
   */
  changePassword?: boolean;

  /**
   * Account export and deletion.
   *
   * @default true
   * @env SVC_FEATURE_ACCOUNT_DELETION
   */
  accountDeletion?: boolean;

  /**
   * Requires abilities of pinned sessions on the library's own sensitive routes.
   *
   * @default true
   * @env SVC_FEATURE_GATE_AUTH_ROUTES
   */
  gateAuthRoutes?: boolean;

  /**
   * TOTP, recovery codes and the login challenge.
   *
   * @default false
   * @env SVC_FEATURE_TWO_FACTOR
   */
  twoFactor?: boolean;

  /**
   * Persistent account lockout.
   *
   * @default false
   * @env SVC_FEATURE_LOCKOUT
   */
  lockout?: boolean;

  /**
   * Passkeys.
   *
   * @default false
   * @env SVC_FEATURE_PASSKEYS
   */
  passkeys?: boolean;

  /**
   * Email verification.
   *
   * @default false
   * @env SVC_FEATURE_EMAIL_VERIFICATION
   */
  emailVerification?: boolean;

  /**
   * Forgotten and reset password.
   *
   * @default false
   * @env SVC_FEATURE_PASSWORD_RESET
   */
  passwordReset?: boolean;

  /**
   * Sign-in with a code that is mailed to the user, in place of the password.
   *
   * @default false
   * @env SVC_FEATURE_EMAIL_CODE
   */
  emailCode?: boolean;

  /**
   * `POST /register`.
   *
   * @default false
   * @env SVC_FEATURE_REGISTRATION
   */
  registration?: boolean;

  /**
   * Change of the email by its user. Needs {@link passwordReset}: the undo of a change replaces the password.
   *
   * @default false
   * @env SVC_FEATURE_EMAIL_CHANGE
   */
  emailChange?: boolean;

  /**
   * Another verification mail by address, for users who cannot sign in before their address is verified:
   * `POST /email/verification-request`. Needs `features.emailVerification`.
   *
   * @default false
   * @env SVC_FEATURE_VERIFICATION_BY_ADDRESS
   */
  verificationByAddress?: boolean;

  /**
   * Change of the identifier by its user, where it is not the email (`username`).
   *
   * @default false
   * @env SVC_FEATURE_USERNAME_CHANGE
   */
  usernameChange?: boolean;

  /**
   * Recognition of the devices on which users sign in, with a mail about a new one. The mail needs {@link passwordReset}.
   *
   * @default false
   * @env SVC_FEATURE_KNOWN_DEVICES
   */
  knownDevices?: boolean;

  /**
   * Registration with a passkey and without a password: `POST /register/passkey`. Needs `features.registration` and
   * `features.passkeys`.
   *
   * @default false
   * @env SVC_FEATURE_PASSKEY_REGISTRATION
   */
  passkeyRegistration?: boolean;

  /**
   * Passkeys that the browser creates without a question, shortly after a login with the password (WebAuthn Level 3
   * §5.1.3, conditional mediation of `navigator.credentials.create`). Such a login counts as the confirmation for the
   * first passkey of a user, during `confirm.ttl` seconds. Needs `features.passkeys`.
   *
   * @default false
   * @env SVC_FEATURE_CONDITIONAL_CREATE
   */
  conditionalCreate?: boolean;

  /**
   * Sign-in with Google, Entra, or any OpenID provider (`identities.providers`).
   *
   * @default false
   * @env SVC_FEATURE_IDENTITIES
   */
  identities?: boolean;

  /**
   * Access keys of users and services: `GET`, `POST` and `DELETE /access-keys`, and `@AcceptsKeys()` of `@svc/auth/access-keys`.
   *
   * @default false
   * @env SVC_FEATURE_ACCESS_KEYS
   */
  accessKeys?: boolean;

  /**
   * Sessions whose tokens are of no use without a key of the client (RFC 9449), and `@RequireBoundToken()` of
   * `@svc/auth/bound-sessions`. Needs the package `jose`.
   *
   * @default false
   * @env SVC_FEATURE_BOUND_SESSIONS
   */
  boundSessions?: boolean;

  /**
   * In cookie mode, binds the sessions of browsers with Device Bound Session Credentials to a key of the device: stolen cookies are
   * of use for ten minutes. Other browsers are not affected. Needs the package `jose`.
   *
   * @default false
   * @env SVC_FEATURE_DEVICE_BOUND_COOKIES
   */
  deviceBoundCookies?: boolean;

  /**
   * `POST /access-keys/leaked`, to which a scanner of secrets reports keys. Needs `features.accessKeys` and
   * `accessKeys.scannerKeys`.
   *
   * @default false
   * @env SVC_FEATURE_ACCESS_KEY_SCANNING
   */
  accessKeyScanning?: boolean;

  /**
   * The routes of operators, below `/operators`: at a guard of the operators, for the users of another guard. They need
   * `hooks.abilities` there.
   *
   * @default false
   * @env SVC_FEATURE_OPERATORS
   */
  operators?: boolean;

  /**
   * The history of accounts: `svc_audit`, and `GET /history` for their owners.
   *
   * @default false
   * @env SVC_FEATURE_AUDIT
   */
  audit?: boolean;

  /**
   * Security Event Tokens (RFC 8417) about ended sessions and changed credentials, for the systems of `securityEvents.receivers`.
   *
   * @default false
   * @env SVC_FEATURE_SECURITY_EVENT_TOKENS
   */
  securityEventTokens?: boolean;
}

/** The second argument of `hooks.abilities` and `hooks.tokenClaims`. */
export interface HookContext {
  guard: string;
  userId: string;
  familyId: string;
}

/** Host code that the module calls, always without a lock and outside a transaction, except {@link deleteUser}. */
export interface AuthHooks {
  /**
   * Replaces the identifier and password check of `POST /login`. Resolve to the user, or to null to refuse. Rate limits
   * and lockout still apply, by the submitted identifier: if it names another account than the returned user, the login
   * fails. An identifier that `UserProvider.findByIdentifier` does not find is counted by its spelling: a success releases
   * the lock of this spelling, and does not clear the failures that the rate limits count. A throw counts as a failure. The host must take equal time for unknown users. Extra guards do not inherit
   * it, so that a user of one table does not sign in as the user with the same id in another table.
   */
  authenticate?: (request: unknown, context: { guard: string }) => Promise<object | null>;

  /**
   * Extra claims of every access token, at login and at each refresh. Standard claims take precedence; `amr`,
   * `auth_time`, `pin` and `cnf` cannot be set here, nor `scope` where abilities are in use. A claim with the name of a member
   * that every object has, such as `constructor`, is refused with 422 (`unusable_claim`), as is `toJSON`. Extra guards
   * inherit it, and users of different guards can have the same id: check `context.guard`.
   */
  tokenClaims?: (userId: string, context: HookContext) => object | null | Promise<object | null>;

  /**
   * Returns the abilities of a token, at login and at each refresh. A single string is one ability. An empty list grants
   * nothing; an invalid or empty name fails the request. With this hook, abilities are in use.
   */
  abilities?: (userId: string, context: HookContext) => Iterable<string> | string | Promise<Iterable<string> | string>;

  /**
   * Returns the key that identifies the client for the rate limits, instead of its address. A client must not be able
   * to choose it: with a header that clients can set, a client avoids every limit. If the result is empty or not a
   * string, or if the hook throws, the address is used. Runs before the body is validated.
   */
  rateLimitKey?: (request: unknown) => string;

  /**
   * Whether a user may have sessions. Called before a session starts, again after it is stored, at every refresh, and before
   * a session stores a password, a factor, a passkey, recovery codes, an email or a username, with the user as it is stored
   * now. False refuses the request with 401, and ends the session that is refreshed. When it
   * throws, or returns no boolean, the request fails with 500; a refresh and a challenge are not consumed then. To end
   * access tokens at once too, call `auth.revokeAll()` after the change. Extra guards inherit it: check `context.guard` if
   * their users differ.
   */
  canSignIn?: (user: object, context: { guard: string }) => boolean | Promise<boolean>;

  /**
   * Removes the user at `DELETE /account`, instead of deleting the row. Runs inside the transaction that removes all
   * other data of the account: changes made through `manager` are committed or rolled back with it. Any other database
   * access needs another connection of the pool. Concurrent requests run it only once. If it keeps the row, it must
   * remove the second factor from it.
   */
  deleteUser?: (user: object, context: { guard: string; manager: EntityManager }) => Promise<void>;
}

/** Options whose values may differ between environments, and may come from `useFactory`. */
export interface AuthValues {
  /**
   * Algorithm of every token; never chosen from a token's header (RFC 8725 §3.1).
   *
   * @default 'HS256'
   * @env SVC_ALGORITHM
   */
  algorithm?: Algorithm;

  /**
   * HMAC key, used verbatim as UTF-8 bytes: at least 32 (RFC 7518 §3.2). `npx svc-auth secret` generates one. The application does
   * not start with a text of few characters, a repeated pattern, a sequence or a well-known published example. Without
   * `encryption.key`, refresh tokens are derived from it (RFC 5869), also under an asymmetric algorithm.
   *
   * @default none
   * @env SVC_SECRET
   */
  secret?: string;

  /**
   * Former HMAC secrets that still verify tokens. Keep a replaced secret for `refreshTtl`, so that refresh tokens
   * derived from it are accepted. If `encryption.key` has been set for at least that long, `accessTtl + leeway` is
   * enough.
   *
   * @default []
   * @env SVC_PREVIOUS_SECRETS (comma list)
   */
  previousSecrets?: string[];

  /** The asymmetric key ring. */
  keys?: KeyOptions;

  /**
   * `iss` claim: the issuer of the tokens (RFC 7519 §4.1.1). In production the application does not start with the
   * default, which is an example.
   *
   * @default 'https://api.example.com'
   * @env SVC_ISSUER
   */
  issuer?: string;

  /**
   * `aud` claim: the recipients of the tokens (RFC 7519 §4.1.3). Two guards must not share an audience. In production the
   * application does not start with the default, which is an example.
   *
   * @default ['https://api.example.com']
   * @env SVC_AUDIENCE (comma list)
   */
  audience?: string | string[];

  /**
   * Lifetime of an access token in seconds, 1 to 86400 (a day).
   *
   * @default 900
   * @env SVC_ACCESS_TTL
   */
  accessTtl?: Duration;

  /**
   * Lifetime of a session in seconds, counted from the login, 1 to 315360000 (ten years). It is absolute: a refresh
   * never extends it.
   *
   * @default 2592000
   * @env SVC_REFRESH_TTL
   */
  refreshTtl?: Duration;

  /**
   * Seconds in which a replaced refresh token is still accepted, so that a lost response or several tabs that refresh
   * at the same time are not taken for theft: 0 to 3600 (an hour). `0` accepts every token exactly once.
   *
   * @default 30
   * @env SVC_GRACE
   */
  graceSeconds?: Duration;

  /**
   * Number of holders that a refresh token may have: requests that are answered with it. They are one rotation and every
   * replay inside the grace period. One holder more emits `RefreshFamilyForked`, once for each token. At least 2.
   *
   * @default 3
   * @env SVC_FORK_THRESHOLD
   */
  forkThreshold?: number;

  /** How many sessions one user may have. */
  sessions?: SessionsOptions;

  /**
   * Tolerated clock difference between nodes, in seconds, when token times are checked: 0 to 300.
   *
   * @default 5
   * @env SVC_LEEWAY
   */
  leeway?: Duration;

  /**
   * Accepted shape of `jti` and `fid` in access tokens, and of `fid` in confirmation tokens. `uuid`: canonical UUIDs, as
   * this library issues them. `any`: any text, for tokens of another issuer with the same key. With both values, a token of
   * such an issuer without `jti` or without `fid` is accepted: the option restricts the ids that are present.
   *
   * @default 'uuid'
   */
  tokenIds?: 'uuid' | 'any';

  /**
   * Sends refresh tokens in a cookie instead of the body.
   *
   * @default false
   * @env SVC_COOKIE_MODE
   */
  cookieMode?: boolean;

  /**
   * Where a refresh token is read from. `mode`: with `cookieMode` only from the cookie, otherwise only from the body.
   * `both`: from the body, otherwise from the cookie, for example while clients change from one mode to the other. Pages
   * of other origins are refused then as with `cookieMode`.
   *
   * @default 'mode'
   */
  refreshTokenFrom?: 'mode' | 'both';

  /** The refresh cookie. */
  cookie?: CookieOptions;

  /**
   * Identifier column of the user table. It is also the name of the login field and the key of its validation errors.
   *
   * @default 'email'
   * @env SVC_USERNAME
   */
  username?: string;

  /**
   * Name of the application as shown to its users: in authenticator apps and in the browser's passkey prompt.
   *
   * @default the host name of issuer
   * @env SVC_APP_NAME
   */
  appName?: string;

  /** Rate limits. */
  rateLimits?: RateLimitsOptions;

  /** Persistent lockout. */
  lockout?: LockoutOptions;

  /** TOTP second factor. */
  twoFactor?: TwoFactorOptions;

  /** Step-up confirmation. */
  confirm?: ConfirmOptions;

  /** Passkeys. */
  passkeys?: PasskeyOptions;

  /** Email verification. */
  emailVerification?: EmailVerificationOptions;

  /** Password reset. */
  passwordReset?: PasswordResetOptions;

  /** Change of the email. */
  emailChange?: EmailChangeOptions;

  /** Known devices. */
  knownDevices?: KnownDeviceOptions;

  /** Sign-in with a mailed code. */
  emailCode?: EmailCodeOptions;

  /** Sign-in with providers of identities. */
  identities?: IdentitiesOptions;

  /** Access keys. */
  accessKeys?: AccessKeysOptions;

  /** Sessions that are bound to a key of the client. */
  boundSessions?: BoundSessionsOptions;

  /** Operators. */
  operators?: OperatorsOptions;

  /** Security events for other systems. */
  securityEvents?: SecurityEventsOptions;

  /** Registration. */
  registration?: RegistrationOptions;

  /** New passwords. */
  passwords?: PasswordOptions;

  /** Mails. */
  mail?: MailOptions;

  /** Host code the module calls. */
  hooks?: AuthHooks;

  /**
   * Languages of the API's messages. Each client gets the one that its header `Accept-Language` prefers, and the first one of
   * the list without such a header. `true` stands for all of them, English first: `en`, `de`, `fr`, `es`, `pt` and `ja`.
   * `false`: English, without the headers `Content-Language` and `Vary`.
   *
   * @default false
   */
  languages?: readonly Language[] | boolean;

  /**
   * Texts of the API: replacements by key for every language, and by language and key (`{ de: { 'auth.locked': '…' } }`); or a
   * function that returns each text.
   *
   * @default {}
   */
  messages?: MessageReplacements | Translate;
}

/** The security log: see docs/operations.md. */
export interface SecurityLogOptions {
  /**
   * Whether the log is written.
   *
   * @default true
   * @env SVC_SECURITY_LOG
   */
  enabled?: boolean;

  /**
   * Maximum number of lines per minute with the same event, reason and guard; for lines without a reason, such as
   * successes, also of the same user. Further lines are counted, and the count is written.
   *
   * @default 60
   * @env SVC_SECURITY_LOG_LINES
   */
  maxPerMinute?: number;

  /**
   * Receives the lines instead of Nest's logger. Called after the response. No request waits for a promise that it returns;
   * `auth.settled()` and the shutdown of the application do. An error that it throws is logged and has no other effect.
   *
   * @default Nest's logger, with the context `AuthSecurity`
   */
  sink?: (line: SecurityLine, severity: 'info' | 'warning') => unknown;
}

/** The connection to Redis that the library opens and closes. */
export interface RedisOptions {
  /**
   * URL of Redis: `redis://user:password@host:6379/0`, or `rediss://` for TLS. A function that returns it is called before
   * each connection, for a password that is rotated. The name of the host is resolved for each connection. The library
   * connects when the application is initialized, or at the first use before that, and closes the connection when the
   * application shuts down. It needs `@redis/client` or `redis`, version 4, 5 or 6. The application does not start if no
   * connection is possible within 5 seconds, or if `cache` or `denylistStore` is also set. For Sentinel or a cluster, set
   * `cache`.
   *
   * @default none
   * @env SVC_REDIS_URL
   */
  url?: string | (() => string | Promise<string>);

  /**
   * The user, instead of that in {@link url}.
   *
   * @default that of the URL, or the user `default` of Redis
   * @env SVC_REDIS_USERNAME
   */
  username?: string;

  /**
   * The password, instead of that in {@link url}. It is not encoded.
   *
   * @default that of the URL
   * @env SVC_REDIS_PASSWORD
   */
  password?: string;

  /**
   * The options of the TLS connection, as `tls.connect` of Node has them: `{ ca }` for a private authority, `{ cert, key }` for
   * a certificate of the client, `{ servername }`. With options or `true`, a `redis://` URL is read as `rediss://`. In
   * production, `rejectUnauthorized: false` is refused.
   *
   * @default none: the authorities that Node trusts, for a `rediss://` URL
   */
  tls?: true | ConnectionOptions;
}

/** Values that the module has once, for all guards together. */
export interface SharedValues {
  /** Encryption at rest. */
  encryption?: EncryptionOptions;

  /** Password hashing. */
  hashing?: HashingOptions;

  /** Removal of rows that are no longer used. */
  retention?: RetentionOptions;

  /** The security log. */
  securityLog?: SecurityLogOptions;

  /** The history of accounts. */
  audit?: AuditOptions;

  /** The library's own connection to Redis, instead of {@link cache}. */
  redis?: RedisOptions;

  /**
   * The store of revocations: a cache-manager cache on Redis, a connected object of node-redis (`createClient` or
   * `createSentinel`), a {@link SecurityStore}, or `clusterStore(cluster)` of `@svc/auth/redis-cluster`. All nodes must share it;
   * it must be persistent and must not evict keys.
   *
   * @default the connection of `redis.url`; without it this process's memory, which production refuses
   */
  cache?: SecurityStore | object;

  /** Additional stores by name, selected by {@link denylistStore}. */
  stores?: Record<string, SecurityStore | object>;

  /**
   * Name of the entry of {@link stores} to use; null uses {@link cache}.
   *
   * @default null
   * @env SVC_DENYLIST_STORE
   */
  denylistStore?: string | null;

  /**
   * Prefix of every key in Redis, so that applications on one database do not share their rate limits. A service that
   * only verifies tokens needs the prefix of the issuer.
   *
   * @default none
   * @env SVC_KEY_PREFIX
   */
  keyPrefix?: string;

  /**
   * Milliseconds that a request waits for one answer of Redis or PostgreSQL (a statement, a transaction, a command or a
   * connection) before it is answered 503: 50 to 60000. All waits of one request to the library's routes together take at most
   * four times as long.
   *
   * @default 800
   * @env SVC_STORE_TIMEOUT
   */
  storeTimeoutMs?: Duration;

  /**
   * Whether statements are prepared by name on a connection to PostgreSQL, which saves their planning. Set it to false
   * behind a connection pooler in transaction mode that does not support prepared statements, such as PgBouncer before
   * 1.21. If it is true, the library detects such a pooler by the first error, sends the statement again, and
   * prepares no further one; the server logs these errors.
   *
   * @default true
   * @env SVC_PREPARED_STATEMENTS
   */
  preparedStatements?: boolean;

  /**
   * Returns the request of a guarded call that is not HTTP, as `headers` and `ip`, if the execution context holds it in
   * a place where the guards do not look: see docs/guards.md. With null or undefined, the guards look in the usual
   * places. It is called for every guarded call.
   */
  requestOf?: (context: ExecutionContext) => Handshake | null | undefined;
}

/** A user provider that Nest obtains from an existing provider or from a factory. */
export type UserProviderSource =
  | { useExisting: Type<UserProvider> | string | symbol }
  | { useFactory: (...args: never[]) => UserProvider | Promise<UserProvider>; inject?: FactoryProvider['inject'] };

/** The source of users: a TypeORM entity, or a user provider of the host. */
export interface UsersOptions {
  /**
   * Entity of the user table: a class that extends `withAuthColumns()`, or one with the property of `username` and a property
   * `passwordHash`. A property can have a column of any name: `@Column({ name: 'password', nullable: true, select: false })`.
   */
  entity?: Type<object>;
  /** A host class implementing `UserProvider`, for users that are not a TypeORM entity. */
  provider?: Type<UserProvider> | UserProviderSource;
  /**
   * Name of the source of users. Guards with the same name have the same users: what ends or protects a user is done at
   * each of them.
   *
   * Entities on one table need no name. Set it where two guards have two providers for the same users, or an entity and a
   * provider. Without it, guards with one class or token of a provider have the same users.
   */
  source?: string;
}

/** A presenter that Nest obtains from an existing provider or from a factory. */
export type PresenterSource =
  | { useExisting: Type<Presenter> | string | symbol }
  | { useFactory: (...args: never[]) => Presenter | Promise<Presenter>; inject?: FactoryProvider['inject'] };

/** A connection pool that Nest obtains from an existing provider or from a factory. */
export type PostgresPoolSource =
  | { useExisting: Type<unknown> | string | symbol }
  | { useFactory: (...args: never[]) => PostgresPool | Promise<PostgresPool>; inject?: FactoryProvider['inject'] };

/** Structure of one guard: its users, routes and features. */
export interface GuardStructure {
  /** The guard's users. Every guard needs its own. */
  users?: UsersOptions;

  /**
   * Path that the routes are mounted under.
   *
   * @default 'auth'
   */
  path?: string;

  /**
   * Host name for which the routes are mounted; `null` means every host name.
   *
   * @default null
   * @env SVC_DOMAIN
   */
  domain?: string | null;

  /** Features, each on or off. */
  features?: FeatureOptions;

  /**
   * A class of the host that extends `Presenter` and reshapes the bodies of login, refresh, logout, registration,
   * challenge and verification.
   *
   * @default the fields of the library, unchanged
   */
  presenter?: Type<Presenter> | PresenterSource;
}

/** One extra guard. Omitted values are inherited from the top level. */
export interface GuardOptions extends GuardStructure, AuthValues {}

/** Options that shape the module and must be known when it is declared. */
export interface AuthStructure extends GuardStructure {
  /**
   * Name of the default guard.
   *
   * @default 'api'
   */
  guard?: string;

  /**
   * Mounts the routes. `false` mounts none: for a host that has its own routes and makes server calls. Everything else, such
   * as the checks at the start and pruning, is the same with both values.
   *
   * @default true, and false with `verifyOnly`
   */
  routes?: boolean;

  /**
   * The service only verifies the tokens of an issuer. It mounts no routes, needs neither tables nor a key that signs, checks
   * and prunes no tables, and calls that start or end sessions throw `AuthConfigError`.
   *
   * @default false
   */
  verifyOnly?: boolean;

  /** Extra guards by name. Each has its own users, audience, path, cookie and sessions. */
  guards?: Record<string, GuardOptions>;

  /** Name of the TypeORM data source that has the tables. */
  dataSource?: string;

  /**
   * A pool of node-postgres (`new Pool()` of the package `pg`) on which the tables of the library are, for a host without
   * TypeORM. The library does not end the pool. With
   * `users.provider`, `typeorm` and `@nestjs/typeorm` are not needed. It cannot be combined with
   * {@link dataSource}. `svc:migrate` or `migrateAuth` creates the tables.
   *
   * @default none: the tables are on the TypeORM data source of the host
   */
  pool?: PostgresPool | PostgresPoolSource;

  /** Modules whose exports the host's user providers and `useFactory` can inject. */
  imports?: ModuleMetadata['imports'];
}

/** Options of `AuthModule.forRoot`. */
export interface AuthModuleOptions extends AuthStructure, AuthValues, SharedValues {}

/** The result of `useFactory`: values, and values of the declared guards. */
export interface AuthAsyncValues extends AuthValues, SharedValues {
  guards?: Record<string, AuthValues>;
}

/** Options of `AuthModule.forRootAsync`: the structure itself, and a factory of the values. */
export interface AuthModuleAsyncOptions extends AuthStructure {
  /** Providers that are passed to the factory. */
  inject?: FactoryProvider['inject'];
  // The parameters are the providers that `inject` names; Nest types its own factories in the same way.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  useFactory: (...args: any[]) => AuthAsyncValues | Promise<AuthAsyncValues>;
}
