import { appName, option, type session } from '../../kit';

/** TOTP second factor. Needs `features.twoFactor`. */
export interface TwoFactorOptions extends session.LoginChallengeOptions {
  /**
   * Issuer shown by authenticator apps.
   *
   * @default appName
   * @env SVC_2FA_ISSUER
   */
  issuer?: string;

  /**
   * Steps of 30 seconds accepted before and after the current one, 0 or 1. More than 1 is refused.
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
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /two-factor-challenge`, and the routes below `/two-factor-enrolment`, together. Twice as many requests are allowed to
     * `POST /two-factor` and `POST /two-factor/recovery-codes`, together, and to `POST /two-factor/confirm`.
     *
     * @default { maxAttempts: 5, decaySeconds: 60 }
     * @env SVC_2FA_MAX_ATTEMPTS, SVC_2FA_DECAY
     */
    twoFactor?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly twoFactor: option.WithDefaults<TwoFactorOptions>;
  }
}

export const TWO_FACTOR_OPTIONS = {
  features: { twoFactor: option.feature({ default: false, env: 'FEATURE_TWO_FACTOR' }) },
  rateLimits: { twoFactor: option.rateLimit('2FA', { maxAttempts: 5, decaySeconds: 60 }) },
  twoFactor: option.publicBlock({
    issuer: option.text({ env: '2FA_ISSUER', resolve: (issuer, options) => issuer?.trim() || appName(options) }),
    // RFC 6238 §5.2 recommends one step at most. A larger window gives an observed code, and a guess, more time.
    window: option.count(0, 1, { default: 1, env: '2FA_WINDOW' }),
    recoveryCodes: option.count(1, 100, { default: 8, env: '2FA_RECOVERY_CODES' }),
  } satisfies option.TableOf<Omit<TwoFactorOptions, keyof session.LoginChallengeOptions>>),
} satisfies option.OptionTree;
