import { option } from '../../kit';

/** Email verification. Needs `features.emailVerification`. */
export interface EmailVerificationOptions {
  /**
   * External base URL of this API, with the global prefix of the application and without `path`. Mailed links begin with it. It
   * is never taken from a request, because any client can set its headers. `https`, or `http` on localhost outside production. Required.
   *
   * @default none
   * @env SVC_VERIFY_API_URL
   */
  apiUrl?: string;

  /**
   * Page to which the browser is redirected after the link was opened. Its query has `verified=1`, or for a link that was refused
   * the reason as `verification`: `invalid`, `expired`, `outdated` or `unavailable`.
   *
   * @default none
   * @env SVC_VERIFY_URL
   */
  frontendUrl?: string;

  /**
   * Lifetime of a link in minutes, 1 to 525600 (a year).
   *
   * @default 60
   * @env SVC_VERIFY_EXPIRE
   */
  expire?: option.Duration;

  /**
   * Refuses sessions to users without a verified email, also to those of unknown state. The users of the default guard need
   * such a state: a column `emailVerifiedAt`, or `UserProvider.isEmailVerified`. An extra guard inherits the option; it has
   * no effect if its users have no such state.
   *
   * @default false
   * @env SVC_VERIFY_BLOCK_LOGIN
   */
  blockUnverifiedLogin?: boolean;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * All routes of the verification of an email, together.
     *
     * @default { maxAttempts: 6, decaySeconds: 60 }
     * @env SVC_VERIFY_MAX_ATTEMPTS, SVC_VERIFY_DECAY
     */
    emailVerification?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly emailVerification: option.WithDefaults<EmailVerificationOptions, 'apiUrl' | 'frontendUrl'>;
  }
}

export const VERIFICATION_BY_ADDRESS_OPTIONS = {
  features: {
    verificationByAddress: option.feature({
      default: false,
      env: 'FEATURE_VERIFICATION_BY_ADDRESS',
      defaultGuardOnly: true,
    }),
  },
} satisfies option.OptionTree;

export const EMAIL_VERIFICATION_OPTIONS = {
  features: { emailVerification: option.feature({ default: false, env: 'FEATURE_EMAIL_VERIFICATION' }) },
  rateLimits: { emailVerification: option.rateLimit('VERIFY', { maxAttempts: 6, decaySeconds: 60 }) },
  emailVerification: option.publicBlock({
    apiUrl: option.text({
      env: 'VERIFY_API_URL',
      resolve: (url) => url?.replace(/\/+$/, ''),
      mailedUrl: {
        bare: true,
        cure: 'Set it to the external URL of this API, such as https://api.example.com: mailed links begin with it.',
      },
    }),
    frontendUrl: option.text({
      env: 'VERIFY_URL',
      mailedUrl: { optional: true, cure: 'Set it to the page to which browsers are redirected, or remove it.' },
    }),
    expire: option.minutes(1, 365 * 24 * 60, { default: 60, env: 'VERIFY_EXPIRE' }),
    blockUnverifiedLogin: option.flag({ default: false, env: 'VERIFY_BLOCK_LOGIN' }),
  } satisfies option.TableOf<EmailVerificationOptions>),
} satisfies option.OptionTree;
