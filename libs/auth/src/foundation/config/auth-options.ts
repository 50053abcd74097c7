import type { ExecutionContext, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { JsonWebKey } from 'node:crypto';
import type { Handshake } from '../ports/handshake';
import type { EntityManager } from 'typeorm';
import type { Translate, MessageKey } from '../platform/messages';
import type { MailTemplates, Mailer } from '../ports/mail';
import type { SecurityLine } from '../platform/catalogue';
import type { BreachedPasswords, PasswordVerifier } from '../ports/passwords';
import type { RegistrationRules } from './registration-rules';
import type { SecurityStore } from '../security-store/security-store';
import type { UserProvider } from '../ports/user-provider';

/** JWS algorithms the library signs and verifies with (RFC 7518 §3.1). */
export type Algorithm = 'HS256' | 'RS256' | 'ES256';

/** The asymmetric key ring. Used under `RS256` and `ES256`. */
export interface KeyOptions {
  /**
   * `kid` stamped on new tokens. It must name an entry of {@link public}, or nothing could verify them.
   *
   * @default 'default'
   * @env SVC_ACTIVE_KID
   */
  active?: string;

  /**
   * Private key that signs: an inline PEM, or a file path, optionally prefixed with `@`.
   * Without it the module can only verify; then `routes` must be off.
   *
   * @default none
   * @env SVC_PRIVATE_KEY
   */
  private?: string;

  /**
   * Passphrase of an encrypted private key.
   *
   * @default none
   * @env SVC_KEY_PASSPHRASE
   */
  passphrase?: string;

  /**
   * Public keys by `kid`: inline PEMs or file paths. Blank and unreadable entries are skipped. Keep the
   * entry of a retired key until the last token it signed has expired.
   *
   * @default {}
   * @env SVC_PUBLIC_KEY (one entry, under SVC_ACTIVE_KID)
   */
  public?: Record<string, string>;

  /**
   * The URL of the issuer's JWK Set (RFC 7517 §5), such as `https://api.example.com/auth/jwks`, or a function that
   * resolves to the set. For services that only verify tokens: it replaces {@link public}, and the application does not
   * start with {@link private}, `HS256` or mounted routes beside it.
   *
   * The service reads the set when a token has an unknown `kid`, and, while no request waits for it, when the `max-age`
   * of the last answer is over (10 minutes without one, and for a function); at most once in 10 seconds. While reads
   * fail, the keys of the last successful one go on verifying. A key that a successful read no longer lists verifies
   * nothing. A token with an unknown `kid` is answered 503 if no read succeeded yet or the last one failed, else 401.
   *
   * Keys are ignored that are of another kind than `algorithm`, have another `use` or `alg`, are private, symmetric or
   * RSA keys under 2048 bits, or have no `kid`. The URL is https; http is accepted to loopback addresses, and outside
   * production. A read fails after `storeTimeoutMs`, on a redirect, and for an answer of more than 256 KiB or 100 keys.
   *
   * @default none
   * @env SVC_JWKS_URL
   */
  jwks?: string | (() => Promise<{ keys: JsonWebKey[] }>);
}

/** Argon2id parameters and the bound on concurrent hashing (RFC 9106, OWASP Password Storage). */
export interface HashingOptions {
  /**
   * Memory in KiB per hash.
   *
   * @default 19456
   * @env SVC_ARGON2_MEMORY
   */
  memoryCost?: number;

  /**
   * Passes over the memory.
   *
   * @default 2
   * @env SVC_ARGON2_TIME
   */
  timeCost?: number;

  /**
   * Lanes.
   *
   * @default 1
   * @env SVC_ARGON2_PARALLELISM
   */
  parallelism?: number;

  /**
   * Hashes computed at once. More than the cores only adds latency. Each takes a libuv thread, and one of those
   * stays free whatever is asked for: to go beyond 3, start the process with a larger `UV_THREADPOOL_SIZE`.
   *
   * @default one less than the cores, at least 1 and at most 3
   * @env SVC_HASH_CONCURRENCY
   */
  concurrency?: number;

  /**
   * Hashes that may wait. Beyond it 503 with `Retry-After`, so a login flood is bounded: to clients in proportion
   * to what they have used lately, so that a newcomer gets in.
   *
   * @default 256
   * @env SVC_HASH_QUEUE
   */
  maxQueue?: number;

  /**
   * Milliseconds that a hash may wait. Then 503 with `Retry-After`.
   *
   * @default 2500
   * @env SVC_HASH_WAIT
   */
  maxWaitMs?: number;

  /**
   * Accept hashes of another system: `bcryptVerifier()`, `scryptVerifier()`, `pbkdf2Verifier()`, or one of the
   * host's. Whoever signs in with such a hash has it replaced by argon2id. Each one makes every login cost one
   * hash of its kind more, so that nobody can tell who has which: remove it when its hashes are gone.
   *
   * @default []
   */
  verifiers?: PasswordVerifier[];
}

/** A check of new passwords against those that came out in breaches. */
export interface BreachOptions {
  /** Who is asked: `new PwnedPasswords()`, or the host's own. */
  check: BreachedPasswords;

  /**
   * Milliseconds to wait for an answer.
   *
   * @default 1000
   */
  timeoutMs?: number;

  /**
   * What it means when there is none: `accept` takes the password, `refuse` answers 503.
   *
   * @default 'accept'
   */
  onOutage?: 'accept' | 'refuse';
}

/**
 * What new passwords have to be (NIST SP 800-63B §3.1.1.2). Always refused: more than 255 characters, a NUL, the
 * most common passwords, the account's own identifier or email and `appName`.
 */
export interface PasswordOptions {
  /**
   * Fewest characters, 8 to 255. Characters as Unicode counts them: an emoji is one.
   *
   * @default 8
   * @env SVC_PASSWORD_MIN_LENGTH
   */
  minLength?: number;

  /**
   * More passwords to refuse, in any case: the product's own words.
   *
   * @default []
   */
  blockList?: string[];

  /** Passwords known from breaches are refused, too. */
  breached?: BreachOptions;
}

/** The library's mails. Needed by `features.passwordReset` and `features.emailVerification`. */
export interface MailOptions {
  /**
   * What sends them: `nodemailerMailer(transport, from)`, or the host's own.
   *
   * @default none
   */
  mailer?: Mailer;

  /**
   * Subject and texts of the mails by kind, instead of the built-in ones in English.
   *
   * @default {}
   */
  templates?: Partial<MailTemplates>;
}

/** The refresh cookie of cookie mode. */
export interface CookieOptions {
  /**
   * Name of the refresh cookie. Guards without a name of their own append `-{guard}`.
   *
   * @default '__Host-refresh'
   */
  refreshName?: string;

  /**
   * Sends the cookie over TLS only. `false` drops `Secure` and the `__Host-` or `__Secure-` prefix:
   * for development over plain HTTP.
   *
   * @default true
   * @env SVC_COOKIE_SECURE
   */
  secure?: boolean;

  /**
   * Exact origins of pages elsewhere that may sign in and refresh in cookie mode, such as
   * `https://app.example.com`. Pages of the API's own origin always may; those of all others, its own subdomains
   * among them, are refused with 403. What is no browser sends no `Origin`, and passes.
   *
   * @default []
   * @env SVC_COOKIE_ORIGINS (comma list)
   */
  origins?: string[];
}

/** One rate limit: so many attempts in a window. */
export interface RateLimit {
  /** Attempts the window allows. A missing or non-numeric value falls back to the default. */
  maxAttempts?: number;
  /** Seconds until the window is over. */
  decaySeconds?: number;
}

/** The limits of `POST /login`: all attempts by address, failures by account and address, failures by account. */
export interface LoginRateLimit extends RateLimit {
  /**
   * Attempts of one client address, whatever their outcome.
   *
   * @default 30
   * @env SVC_LOGIN_IP_MAX_ATTEMPTS
   */
  ipMaxAttempts?: number;

  /**
   * Failures of one account from all addresses together: the bound on a botnet.
   *
   * @default 20
   * @env SVC_LOGIN_ACCOUNT_MAX_ATTEMPTS
   */
  accountMaxAttempts?: number;
}

/** What one limiter counts for one request. */
export interface LimitRule {
  /** Whose attempts are counted together. Namespaced by the limiter, hashed where it is stored. */
  key: string;
  /** Attempts the window allows, at least 1. */
  maxAttempts: number;
  /** Seconds from the first attempt to the end of the window, 1 to 31536000 (a year). */
  decaySeconds: number;
}

/** Who is asking, as a limiter is told. */
export interface LimiterContext {
  /** The guard that answers the request. */
  guard: string;
  /** The client's address as one client: see `ipv6Prefix` and `hooks.rateLimitKey`. */
  client: string;
  /** The authenticated user, or null. */
  userId: string | null;
}

/**
 * Says what a request counts towards. An attempt passes if every rule has room, and then counts towards each;
 * no rules are no limit. Runs before the body is validated: expect anything in it.
 */
export type Limiter = (request: unknown, context: LimiterContext) => LimitRule | readonly LimitRule[];

/** Rate limits. Each bounds how fast something can be tried; the lockout bounds how often. */
export interface RateLimitsOptions {
  /**
   * Bits of an IPv6 address that make one client, 32 to 128: a visitor usually owns a whole /64.
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
   * `POST /two-factor-challenge`.
   *
   * @default { maxAttempts: 5, decaySeconds: 60 }
   * @env SVC_2FA_MAX_ATTEMPTS, SVC_2FA_DECAY
   */
  twoFactor?: RateLimit;

  /**
   * Step-up and change of password, together.
   *
   * @default { maxAttempts: 5, decaySeconds: 60 }
   * @env SVC_CONFIRM_MAX_ATTEMPTS, SVC_CONFIRM_DECAY
   */
  confirm?: RateLimit;

  /**
   * `POST /refresh`.
   *
   * @default { maxAttempts: 30, decaySeconds: 60 }
   * @env SVC_REFRESH_MAX_ATTEMPTS, SVC_REFRESH_DECAY
   */
  refresh?: RateLimit;

  /**
   * Both passkey login routes, together.
   *
   * @default { maxAttempts: 30, decaySeconds: 60 }
   * @env SVC_PASSKEY_MAX_ATTEMPTS, SVC_PASSKEY_DECAY
   */
  passkeys?: RateLimit;

  /**
   * Both email verification routes, together.
   *
   * @default { maxAttempts: 6, decaySeconds: 60 }
   * @env SVC_VERIFY_MAX_ATTEMPTS, SVC_VERIFY_DECAY
   */
  emailVerification?: RateLimit;

  /**
   * Forgotten and reset password, together.
   *
   * @default { maxAttempts: 6, decaySeconds: 60 }
   * @env SVC_RESET_MAX_ATTEMPTS, SVC_RESET_DECAY
   */
  passwordReset?: RateLimit;

  /**
   * `POST /register`.
   *
   * @default { maxAttempts: 10, decaySeconds: 60 }
   * @env SVC_REGISTER_MAX_ATTEMPTS, SVC_REGISTER_DECAY
   */
  registration?: RateLimit;

  /**
   * Limiters by name. One named like a limiter of the library, such as `svc-login`, replaces it; any other is
   * for `@Throttled('name')` on the host's own routes.
   *
   * @default {}
   */
  limiters?: Record<string, Limiter>;
}

/** How long rows outlive their use, and when they are swept. */
export interface RetentionOptions {
  /**
   * When the sweep of `svc:prune` runs by itself: a cron expression, or `false` for never. Needs
   * `@nestjs/schedule` with `ScheduleModule` in the host; without it, run `svc:prune` daily.
   *
   * @default '23 3 * * *'
   * @env SVC_PRUNE_SCHEDULE
   */
  schedule?: string | false;

  /**
   * Days after the last failure for which a lockout counter that never locked is kept, at least 1.
   *
   * @default 30
   * @env SVC_PRUNE_LOCKOUT_DAYS
   */
  lockoutDays?: number;
}

/** Persistent lockout after consecutive failures. Needs `features.lockout`. */
export interface LockoutOptions {
  /**
   * Consecutive failures before the account locks, 1 to 100 (NIST SP 800-63B §3.2.2 allows no more).
   *
   * @default 100
   * @env SVC_LOCKOUT_MAX_ATTEMPTS
   */
  maxAttempts?: number;

  /**
   * Seconds after which a lock lets go by itself. `0` holds it until someone releases it.
   *
   * @default 0
   * @env SVC_LOCKOUT_RELEASE_AFTER
   */
  releaseAfter?: number;
}

/** TOTP second factor. Needs `features.twoFactor`. */
export interface TwoFactorOptions {
  /**
   * Issuer shown by authenticator apps.
   *
   * @default appName
   * @env SVC_2FA_ISSUER
   */
  issuer?: string;

  /**
   * Steps of 30 seconds accepted before and after the current one, 0 to 10.
   *
   * @default 1
   * @env SVC_2FA_WINDOW
   */
  window?: number;

  /**
   * Recovery codes per set, 1 to 100.
   *
   * @default 8
   * @env SVC_2FA_RECOVERY_CODES
   */
  recoveryCodes?: number;

  /**
   * Seconds a login challenge lives.
   *
   * @default 300
   * @env SVC_2FA_CHALLENGE_TTL
   */
  challengeTtl?: number;
}

/** The sessions of one user. */
export interface SessionsOptions {
  /**
   * Live sessions of one user on one guard. A login beyond it ends the session that was used longest ago
   * (`SessionEnded` with the reason `cap`). Sessions with a pinned list of abilities neither count nor end. 0 for no cap.
   *
   * @default 100
   * @env SVC_SESSIONS_MAX_PER_USER
   */
  maxPerUser?: number;
}

/** Step-up confirmation. */
export interface ConfirmOptions {
  /**
   * Seconds one confirmation covers.
   *
   * @default 300
   * @env SVC_CONFIRM_TTL
   */
  ttl?: number;

  /**
   * Request header that carries the confirmation token.
   *
   * @default 'X-Svc-Confirmation'
   * @env SVC_CONFIRM_HEADER
   */
  header?: string;
}

/** Passkeys (WebAuthn Level 3). Needs `features.passkeys`. */
export interface PasskeyOptions {
  /**
   * Relying party name shown by the browser.
   *
   * @default appName
   * @env SVC_PASSKEY_RP_NAME
   */
  rpName?: string;

  /**
   * Relying party id: the domain that passkeys belong to, for ever. Lower case, no public suffix, or `localhost`.
   * Required.
   *
   * @default none
   * @env SVC_PASSKEY_RP_ID
   */
  rpId?: string;

  /**
   * Exact origins of the pages that may run a ceremony, on `rpId` or below it. Required.
   *
   * @default []
   * @env SVC_PASSKEY_ORIGINS (comma list)
   */
  origins?: string[];

  /**
   * Seconds a ceremony lives, at most a day.
   *
   * @default 120
   * @env SVC_PASSKEY_CHALLENGE_TTL
   */
  challengeTtl?: number;

  /**
   * Whether the authenticator must verify the user, by a PIN or a fingerprint. `required` is enforced at sign-in and
   * step-up; the others leave a passkey to whoever holds the device.
   *
   * @default 'required'
   * @env SVC_PASSKEY_UV
   */
  userVerification?: 'required' | 'preferred' | 'discouraged';

  /**
   * Whether a user who has a passkey must present it, or another second factor, after the password. A
   * function decides for each user.
   *
   * @default false
   * @env SVC_PASSKEY_REQUIRED
   */
  required?: boolean | ((user: object) => boolean | Promise<boolean>);
}

/** Email verification. Needs `features.emailVerification`. */
export interface EmailVerificationOptions {
  /**
   * Where this API is reached from outside, without `path`: what mailed links begin with. Never taken from a
   * request, whose headers anyone can set. `https`, or outside production `http` on localhost. Required.
   *
   * @default none
   * @env SVC_VERIFY_API_URL
   */
  apiUrl?: string;

  /**
   * Page the browser is sent to after the link.
   *
   * @default none
   * @env SVC_VERIFY_URL
   */
  frontendUrl?: string;

  /**
   * Minutes a link lives.
   *
   * @default 60
   * @env SVC_VERIFY_EXPIRE
   */
  expire?: number;

  /**
   * Refuses sessions to users without a verified email.
   *
   * @default false
   * @env SVC_VERIFY_BLOCK_LOGIN
   */
  blockUnverifiedLogin?: boolean;
}

/** Encryption at rest of what must be readable again: TOTP secrets and passkeys' public keys. Signs mailed links, too. */
export interface EncryptionOptions {
  /**
   * Key text, used verbatim as UTF-8 bytes: at least 32. `svc:secret --show` makes one. AES-256-GCM keys are
   * derived from it (NIST SP 800-38D, RFC 5869), and so are the keys of refresh tokens. Required by
   * `features.twoFactor`, `features.passkeys` and `features.emailVerification`, and by a guard with an asymmetric
   * algorithm and without `secret`.
   *
   * @default none
   * @env SVC_ENCRYPTION_KEY
   */
  key?: string;

  /**
   * Former keys that still decrypt, and still verify refresh tokens. What was encrypted with one stays so until it is
   * stored anew; for refresh tokens keep it for `refreshTtl`.
   *
   * @default []
   * @env SVC_PREVIOUS_ENCRYPTION_KEYS (comma list)
   */
  previousKeys?: string[];
}

/** Password reset. Needs `features.passwordReset`. */
export interface PasswordResetOptions {
  /**
   * Page that the mailed link opens. It is given `token` and `email` in its query. `https`, or outside production
   * `http` on localhost. Required.
   *
   * @default none
   * @env SVC_RESET_URL
   */
  frontendUrl?: string;

  /**
   * Ends every session of the user after a reset.
   *
   * @default true
   * @env SVC_RESET_REVOKE_SESSIONS
   */
  revokeSessions?: boolean;

  /**
   * Name of the reset token broker; null is the default one.
   *
   * @default null
   * @env SVC_RESET_BROKER
   */
  broker?: string | null;
}

/** Registration. Needs `features.registration`. */
export interface RegistrationOptions {
  /**
   * Signs the new user in at once.
   *
   * @default true
   * @env SVC_REGISTER_LOGIN
   */
  login?: boolean;
}

/** What is switched on. Structure: known when the module is declared. */
export interface FeatureOptions {
  /**
   * Every refresh replaces the refresh token (RFC 9700 §4.14.2). Off: the same token keeps working.
   *
   * @default true
   * @env SVC_FEATURE_ROTATION
   */
  rotation?: boolean;

  /**
   * A replaced token that comes back after the grace window ends the whole session.
   * Off: it is only refused.
   *
   * @default true
   * @env SVC_FEATURE_REUSE_DETECTION
   */
  reuseDetection?: boolean;

  /**
   * Access tokens die with their session. Off: they live until they expire.
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
   * Declares abilities in use although no `hooks.abilities` derives them: the derived grant is empty.
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
   * Pinned sessions need abilities for the library's own sensitive routes.
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
   * `POST /register`.
   *
   * @default false
   * @env SVC_FEATURE_REGISTRATION
   */
  registration?: boolean;
}

/** What `hooks.abilities` and `hooks.tokenClaims` are told besides the user's id. */
export interface HookContext {
  guard: string;
  userId: string;
  familyId: string;
}

/** Host code the module calls. Never under a lock and never inside a transaction, but for {@link deleteUser}. */
export interface AuthHooks {
  /**
   * Replaces the identifier and password check of `POST /login`. Resolve the user, or null to refuse.
   * Rate limits and lockout still wrap it, by the identifier submitted: if that names another account than the
   * one resolved, the login fails. A throw counts as a failure. Equal timing for unknown users becomes the host's duty. Extra
   * guards do not inherit it: a user of one table must not sign in as the same id of another.
   */
  authenticate?: (request: unknown, context: { guard: string }) => Promise<object | null>;

  /**
   * Extra claims of every access token, at login and at each refresh. Standard claims always win;
   * `amr`, `auth_time` and `pin` cannot be set here, nor `scope` where abilities are in use. Extra guards inherit
   * it, and ids of different guards collide: look at `context.guard`.
   */
  tokenClaims?: (userId: string, context: HookContext) => object | null | Promise<object | null>;

  /**
   * Derives what a token may do, at login and at each refresh. A single string is one ability.
   * Configuring it declares abilities in use.
   */
  abilities?: (userId: string, context: HookContext) => Iterable<string> | string | Promise<Iterable<string> | string>;

  /**
   * Names the client of a request for the rate limits, instead of its address. It must be unforgeable: a
   * header that clients can set gives them a fresh allowance with every request. Empty, no string or a throw
   * leaves it to the address. Runs before the body is validated.
   */
  rateLimitKey?: (request: unknown) => string;

  /**
   * Creates the account of `POST /register`, from the fields that the rules declare and no others; the password is
   * in plain text. It must return a user that it has just created, with the submitted identifier: one that was there
   * before would be signed in to by a stranger, and is answered 500. Needs users that tell when they were created:
   * an entity with `@CreateDateColumn({ type: 'timestamptz' })`. `null` says that the identifier is taken, in a race.
   */
  register?: (fields: Readonly<Record<string, unknown>>, context: { guard: string }) => Promise<object | null>;

  /**
   * The fields of `POST /register`, instead of all of the default ones. Without {@link register}, `name`, the
   * identifier and `password` must be among them.
   */
  registerRules?: (request: unknown) => RegistrationRules;

  /**
   * Removes the user at `DELETE /account`, instead of deleting the row. Runs inside the transaction that erases
   * everything else: what it does through `manager` is done with it or not at all, and anything else needs another
   * connection of the pool. Runs once, however many requests ask for it. A row that stays must not keep a second factor.
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
   * HMAC key, used verbatim as UTF-8 bytes: at least 32 (RFC 7518 §3.2). `svc:secret` makes one. Without
   * `encryption.key`, refresh tokens are derived from it, too (RFC 5869), also under an asymmetric algorithm.
   *
   * @default none
   * @env SVC_SECRET
   */
  secret?: string;

  /**
   * Former HMAC secrets that still verify. After replacing one keep it for `refreshTtl`, so that refresh tokens that
   * were derived from it are accepted. Where `encryption.key` has been set for that long, `accessTtl + leeway` is enough.
   *
   * @default []
   * @env SVC_PREVIOUS_SECRETS (comma list)
   */
  previousSecrets?: string[];

  /** The asymmetric key ring. */
  keys?: KeyOptions;

  /**
   * `iss` claim: who issues the tokens.
   *
   * @default 'https://api.example.com'
   * @env SVC_ISSUER
   */
  issuer?: string;

  /**
   * `aud` claim: who accepts the tokens. No two guards may share one.
   *
   * @default ['https://api.example.com']
   * @env SVC_AUDIENCE (comma list)
   */
  audience?: string | string[];

  /**
   * Seconds an access token lives.
   *
   * @default 900
   * @env SVC_ACCESS_TTL
   */
  accessTtl?: number;

  /**
   * Seconds a session lives, counted from login. Absolute: refreshing never extends it.
   *
   * @default 2592000
   * @env SVC_REFRESH_TTL
   */
  refreshTtl?: number;

  /**
   * Seconds in which a replaced refresh token is still honoured, so that an answer lost on the way or
   * three tabs refreshing at once do not look like theft. `0` accepts every token exactly once.
   *
   * @default 30
   * @env SVC_GRACE
   */
  graceSeconds?: number;

  /**
   * How often one refresh token may be handed out before `RefreshFamilyForked` is emitted: once, and again for every
   * replay inside the grace period. At least 2.
   *
   * @default 3
   * @env SVC_FORK_THRESHOLD
   */
  forkThreshold?: number;

  /** How many sessions one user may have. */
  sessions?: SessionsOptions;

  /**
   * Seconds of clock difference between nodes that token times tolerate.
   *
   * @default 5
   * @env SVC_LEEWAY
   */
  leeway?: number;

  /**
   * Puts refresh tokens into a cookie instead of the body.
   *
   * @default false
   * @env SVC_COOKIE_MODE
   */
  cookieMode?: boolean;

  /** The refresh cookie. */
  cookie?: CookieOptions;

  /**
   * Identifier column of the user table; also the login field and the key of its errors.
   *
   * @default 'email'
   * @env SVC_USERNAME
   */
  username?: string;

  /**
   * What the application is called where its users read it: in authenticator apps, in the browser's passkey
   * prompt.
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

  /** Registration. */
  registration?: RegistrationOptions;

  /** New passwords. */
  passwords?: PasswordOptions;

  /** Mails. */
  mail?: MailOptions;

  /** Host code the module calls. */
  hooks?: AuthHooks;

  /** Texts of the API: replacements by key, or a translate function. */
  messages?: Partial<Record<MessageKey, string>> | Translate;
}

/** The log of what matters to security: see docs/operations.md. */
export interface SecurityLogOptions {
  /**
   * Whether it is written.
   *
   * @default true
   * @env SVC_SECURITY_LOG
   */
  enabled?: boolean;

  /**
   * Lines of one event, reason and guard in a minute. The others are counted, and their number is written.
   *
   * @default 60
   * @env SVC_SECURITY_LOG_LINES
   */
  maxPerMinute?: number;

  /**
   * Where the lines go instead of Nest's logger. Called behind the answer; nobody waits for a promise that it
   * returns. A throw is logged and changes nothing.
   *
   * @default Nest's logger, with the context `AuthSecurity`
   */
  sink?: (line: SecurityLine, severity: 'info' | 'warning') => unknown;
}

/** Values that exist once for the module, whatever the number of guards. */
export interface SharedValues {
  /** Encryption at rest. */
  encryption?: EncryptionOptions;

  /** Password hashing. */
  hashing?: HashingOptions;

  /** Sweeping rows that are of no more use. */
  retention?: RetentionOptions;

  /** What matters to security, one line each. */
  securityLog?: SecurityLogOptions;

  /**
   * Where revocations live: a cache-manager cache on Redis, a node-redis client, or a
   * {@link SecurityStore}. It must be shared by all nodes, persistent and never evicting.
   *
   * @default this process's memory, which production refuses
   */
  cache?: SecurityStore | object;

  /** More stores by name, for {@link denylistStore} to choose from. */
  stores?: Record<string, SecurityStore | object>;

  /**
   * Name of the entry of {@link stores} to use; null uses {@link cache}.
   *
   * @default null
   * @env SVC_DENYLIST_STORE
   */
  denylistStore?: string | null;

  /**
   * Put before every key in Redis, so that applications on one database do not share their rate limits. A
   * service that only verifies needs the same one as the issuer.
   *
   * @default none
   * @env SVC_KEY_PREFIX
   */
  keyPrefix?: string;

  /**
   * Milliseconds that one request of the library's routes waits for Redis and PostgreSQL, all waits together,
   * before it is answered 503.
   *
   * @default 800
   * @env SVC_STORE_TIMEOUT
   */
  storeTimeoutMs?: number;

  /**
   * The request behind a guarded call that is none of HTTP, as `headers` and `ip`, where the context keeps it
   * elsewhere than guards look: see docs/guards.md. Null or undefined leaves it to them. What it returns is read anew
   * with every call.
   */
  requestOf?: (context: ExecutionContext) => Handshake | null | undefined;
}

/** A user provider that is made or found otherwise than by constructing a class. */
export type UserProviderSource =
  | { useExisting: Type<UserProvider> | string | symbol }
  | { useFactory: (...args: never[]) => UserProvider | Promise<UserProvider>; inject?: FactoryProvider['inject'] };

/** How users are found: a TypeORM entity, or a provider of the host's. */
export interface UsersOptions {
  /** Entity of the user table. Its columns: see `AuthUser`. */
  entity?: Type<object>;
  /** A host class implementing `UserProvider`, for users that are not a TypeORM entity. */
  provider?: Type<UserProvider> | UserProviderSource;
}

/** Structure of one guard: what is mounted where, and for whom. */
export interface GuardStructure {
  /** The guard's users. Every guard names its own. */
  users?: UsersOptions;

  /**
   * Path that the routes are mounted under.
   *
   * @default 'auth'
   */
  path?: string;

  /**
   * Host name that the routes answer on; null is any.
   *
   * @default null
   * @env SVC_DOMAIN
   */
  domain?: string | null;

  /** What is switched on. */
  features?: FeatureOptions;
}

/** One extra guard. Whatever it leaves out, it takes from the top level. */
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
   * Mounts the routes. `false` mounts none: for services that only verify tokens.
   *
   * @default true
   */
  routes?: boolean;

  /** Extra guards by name, each isolated from the others: users, audience, path, cookie, sessions. */
  guards?: Record<string, GuardOptions>;

  /** Name of the TypeORM data source that holds the tables. */
  dataSource?: string;

  /** Modules that the host's own user providers and `useFactory` inject from. */
  imports?: ModuleMetadata['imports'];
}

/** Everything `AuthModule.forRoot` takes. */
export interface AuthModuleOptions extends AuthStructure, AuthValues, SharedValues {}

/** What `useFactory` may return: values, and values of the declared guards. */
export interface AuthAsyncValues extends AuthValues, SharedValues {
  guards?: Record<string, AuthValues>;
}

/** Everything `AuthModule.forRootAsync` takes: structure as it is, values from a factory. */
export interface AuthModuleAsyncOptions extends AuthStructure {
  /** What the factory is given. */
  inject?: FactoryProvider['inject'];
  // The parameters are whatever `inject` names; Nest's own factories are typed the same way.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  useFactory: (...args: any[]) => AuthAsyncValues | Promise<AuthAsyncValues>;
}
