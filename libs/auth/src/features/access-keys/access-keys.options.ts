import { option } from '../../kit';
import type { VerifiedKey } from './key-authenticator';

/** Access keys of users and services. Needs `features.accessKeys`. */
export interface AccessKeysOptions {
  /**
   * What each key begins with, so that a scanner of secrets knows the product: 2 to 16 characters of `a-z` and `0-9`, the first one a
   * letter. After a change, the keys with the former prefix are refused.
   *
   * @default 'svc'
   * @env SVC_ACCESS_KEYS_PREFIX
   */
  prefix?: string;

  /**
   * Longest life of a key in days, 1 to 3650; 0 for no limit, so that a key can be created without an expiry.
   *
   * @default 365
   * @env SVC_ACCESS_KEYS_MAX_DAYS
   */
  maxDays?: number;

  /**
   * Number of keys that a user can have at once, 1 to 1000.
   *
   * @default 20
   * @env SVC_ACCESS_KEYS_MAX_PER_USER
   */
  maxPerUser?: number;

  /**
   * For a service that only verifies: asks the issuing application about a key, which calls `auth.accessKeys.verify`. Resolves to
   * null for a key that is not valid. An error is a 503.
   *
   * @default none
   */
  verifier?: (key: string, client: { readonly ip: string | null }) => Promise<VerifiedKey | null>;

  /**
   * Seconds for which an answer of {@link verifier} is used again, 0 to 300. A key that has ended is accepted for as long.
   *
   * @default 0
   * @env SVC_ACCESS_KEYS_VERIFIER_CACHE
   */
  verifierCacheSeconds?: number;

  /**
   * The public keys of a service that scans for leaked secrets, such as GitHub, in PEM, by the identifiers that it sends: see
   * docs/access-keys.md. Needs `features.accessKeyScanning`. A function is called for each report, and can fetch them.
   *
   * @default none
   */
  scannerKeys?: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>);
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * The requests with one access key, together, to the routes with `@Throttled('svc-key')`.
     *
     * @default { maxAttempts: 600, decaySeconds: 60 }
     * @env SVC_ACCESS_KEYS_MAX_ATTEMPTS, SVC_ACCESS_KEYS_DECAY
     */
    accessKeys?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly accessKeys: option.WithDefaults<AccessKeysOptions, 'verifier' | 'scannerKeys'>;
  }
  interface PublicOptions {
    readonly accessKeys: Pick<GuardConfig['accessKeys'], 'maxDays' | 'maxPerUser'>;
  }
}

export const ACCESS_KEYS_OPTIONS = {
  features: { accessKeys: option.feature({ default: false, env: 'FEATURE_ACCESS_KEYS' }) },
  rateLimits: { accessKeys: option.rateLimit('ACCESS_KEYS', { maxAttempts: 600, decaySeconds: 60 }) },
  accessKeys: {
    prefix: option.text({ default: 'svc', env: 'ACCESS_KEYS_PREFIX' }),
    maxDays: option.count(0, 3650, { default: 365, env: 'ACCESS_KEYS_MAX_DAYS', public: true }),
    maxPerUser: option.count(1, 1000, { default: 20, env: 'ACCESS_KEYS_MAX_PER_USER', public: true }),
    verifier: option.value({}),
    verifierCacheSeconds: option.count(0, 300, { default: 0, env: 'ACCESS_KEYS_VERIFIER_CACHE' }),
    scannerKeys: option.value({}),
  } satisfies option.TableOf<AccessKeysOptions>,
} satisfies option.OptionTree;

export const ACCESS_KEY_SCANNING_OPTIONS = {
  features: { accessKeyScanning: option.feature({ default: false, env: 'FEATURE_ACCESS_KEY_SCANNING' }) },
} satisfies option.OptionTree;
