import {
  type Duration,
  type OptionTree,
  TEN_YEARS,
  type TableOf,
  type WithDefaults,
  count,
  feature,
  publicBlock,
  seconds,
} from '../../foundation/config/option-table';

/** Persistent lockout after consecutive failures. Needs `features.lockout`. */
export interface LockoutOptions {
  /**
   * Consecutive failures before the account locks, 1 to 100 (100 is the maximum of NIST SP 800-63B §3.2.2).
   *
   * @default 100
   * @env SVC_LOCKOUT_MAX_ATTEMPTS
   */
  maxAttempts?: number;

  /**
   * Seconds after which a lock expires, at most 315360000 (ten years). `0` keeps it until it is released by `svc:release` or by the host.
   *
   * @default 0
   * @env SVC_LOCKOUT_RELEASE_AFTER
   */
  releaseAfter?: Duration;
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly lockout: WithDefaults<LockoutOptions>;
  }
}

export const LOCKOUT_OPTIONS = {
  features: { lockout: feature({ default: false, env: 'FEATURE_LOCKOUT' }) },
  lockout: publicBlock({
    // NIST SP 800-63B §3.2.2 allows no more than 100 attempts.
    maxAttempts: count(1, 100, { default: 100, env: 'LOCKOUT_MAX_ATTEMPTS' }),
    releaseAfter: seconds(0, TEN_YEARS, { default: 0, env: 'LOCKOUT_RELEASE_AFTER' }),
  } satisfies TableOf<LockoutOptions>),
} satisfies OptionTree;
