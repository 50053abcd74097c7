import { appName, option } from '../../kit';

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
   * Relying party id (WebAuthn §5.4.2): the domain that passkeys are bound to, permanently. In lower case, and not a
   * public suffix; or `localhost`. Required.
   *
   * @default none
   * @env SVC_PASSKEY_RP_ID
   */
  rpId?: string;

  /**
   * Exact origins of the pages that may run a ceremony. Their host is `rpId` or a subdomain of it. A native Android application is
   * `android:apk-key-hash:` and the SHA-256 hash of its signing certificate in base64url. Required.
   *
   * @default []
   * @env SVC_PASSKEY_ORIGINS (comma list)
   */
  origins?: string[];

  /**
   * Exact origins of pages on other domains that may use the passkeys of `rpId` (WebAuthn Level 3 §5.11), with `https`. They are
   * served at `GET /.well-known/webauthn`, which browsers read at the host `rpId`.
   *
   * @default []
   * @env SVC_PASSKEY_RELATED_ORIGINS (comma list)
   */
  relatedOrigins?: string[];

  /**
   * Lifetime of a ceremony in seconds, at most 86400 (a day). WebAuthn Level 3 §15.1 recommends 300 to 600 for users who need
   * more time.
   *
   * @default 120
   * @env SVC_PASSKEY_CHALLENGE_TTL
   */
  challengeTtl?: option.Duration;

  /**
   * Whether the authenticator must verify the user, by a PIN or a fingerprint. `required` is enforced at sign-in and
   * step-up. With the other values, possession of the device is enough to use a passkey.
   *
   * @default 'required'
   * @env SVC_PASSKEY_UV
   */
  userVerification?: 'required' | 'preferred' | 'discouraged';

  /**
   * Whether a user with a passkey must present it, or another second factor, after the password. A function decides for
   * each user.
   *
   * @default false
   * @env SVC_PASSKEY_REQUIRED
   */
  required?: boolean | ((user: object) => boolean | Promise<boolean>);

  /**
   * Maximum number of passkeys of one user, 1 to 1000. A registration above it is refused like an invalid one.
   *
   * @default 50
   * @env SVC_PASSKEY_MAX_PER_USER
   */
  maxPerUser?: number;

  /**
   * Whether a passkey is refused when it states another backup eligibility than at its registration (WebAuthn Level 3 §7.2
   * requires this), or accepted, with the new value stored. `PasskeyBackupChanged` is emitted in both cases.
   *
   * @default 'refuse'
   * @env SVC_PASSKEY_BACKUP_CHANGE
   */
  backupChange?: 'refuse' | 'accept';

  /**
   * Whether a user without a password and without an account at a provider must keep the last passkey: its deletion is
   * answered 409. A function decides for each user: return false for users that can sign in in another way of the host.
   *
   * @default features.passkeyRegistration || features.identities
   * @env SVC_PASSKEY_KEEP_LAST
   */
  keepLast?: boolean | ((user: object) => boolean | Promise<boolean>);
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * Both passkey login routes and `POST /register/passkey/options`, together. The same number of requests of a user is allowed to
     * the routes that add a passkey.
     *
     * @default { maxAttempts: 30, decaySeconds: 60 }
     * @env SVC_PASSKEY_MAX_ATTEMPTS, SVC_PASSKEY_DECAY
     */
    passkeys?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly passkeys: option.WithDefaults<PasskeyOptions, 'rpId'>;
  }
}

export const PASSKEYS_OPTIONS = {
  features: { passkeys: option.feature({ default: false, env: 'FEATURE_PASSKEYS', defaultGuardOnly: true }) },
  rateLimits: { passkeys: option.rateLimit('PASSKEY', { maxAttempts: 30, decaySeconds: 60 }) },
  passkeys: option.publicBlock({
    rpName: option.text({ env: 'PASSKEY_RP_NAME', resolve: (name, options) => name?.trim() || appName(options) }),
    rpId: option.text({ env: 'PASSKEY_RP_ID' }),
    origins: option.list({ default: [], env: 'PASSKEY_ORIGINS' }),
    relatedOrigins: option.list({ default: [], env: 'PASSKEY_RELATED_ORIGINS' }),
    challengeTtl: option.seconds(1, option.DAY, { default: 120, env: 'PASSKEY_CHALLENGE_TTL' }),
    userVerification: option.text({ default: 'required', env: 'PASSKEY_UV' }),
    required: option.flag({ default: false, env: 'PASSKEY_REQUIRED', or: 'function' }),
    maxPerUser: option.count(1, 1000, { default: 50, env: 'PASSKEY_MAX_PER_USER' }),
    backupChange: option.text({ default: 'refuse', env: 'PASSKEY_BACKUP_CHANGE' }),
    keepLast: option.flag({
      env: 'PASSKEY_KEEP_LAST',
      or: 'function',
      resolve: (given, { features }) => given ?? Boolean(features?.passkeyRegistration || features?.identities),
    }),
  } satisfies option.TableOf<PasskeyOptions>),
} satisfies option.OptionTree;

export const CONDITIONAL_CREATE_OPTIONS = {
  features: {
    conditionalCreate: option.feature({ default: false, env: 'FEATURE_CONDITIONAL_CREATE', defaultGuardOnly: true }),
  },
} satisfies option.OptionTree;

export const PASSKEY_REGISTRATION_OPTIONS = {
  features: {
    passkeyRegistration: option.feature({
      default: false,
      env: 'FEATURE_PASSKEY_REGISTRATION',
      defaultGuardOnly: true,
    }),
  },
} satisfies option.OptionTree;
