import { option } from '../../kit';
import type { IdentityProvider } from './provider-options';

/** Sign-in with providers of identities (OpenID Connect). Needs `features.identities`. */
export interface IdentitiesOptions {
  /**
   * The providers by name. The name is part of the routes, and stays: 1 to 32 characters of `a-z`, `0-9` and `-`.
   *
   * @default {}
   */
  providers?: Readonly<Record<string, IdentityProvider>>;

  /**
   * Minutes from the request for the address of the provider until the callback, 1 to 60.
   *
   * @default 10
   * @env SVC_IDENTITIES_ATTEMPT
   */
  attemptMinutes?: option.Duration;

  /**
   * Whether a person without an account gets one, by the rules of the registration. Needs `features.registration`. Set it at an
   * extra guard whose users may register themselves: an account there is created only by this option.
   *
   * @default true at the default guard, false at an extra guard
   * @env SVC_IDENTITIES_REGISTER
   */
  register?: boolean;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * The public routes of the sign-in with a provider, together.
     *
     * @default { maxAttempts: 30, decaySeconds: 60 }
     * @env SVC_IDENTITIES_MAX_ATTEMPTS, SVC_IDENTITIES_DECAY
     */
    identities?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly identities: option.WithDefaults<IdentitiesOptions, 'register'>;
  }
}

export const IDENTITIES_OPTIONS = {
  features: { identities: option.feature({ default: false, env: 'FEATURE_IDENTITIES' }) },
  rateLimits: { identities: option.rateLimit('IDENTITIES', { maxAttempts: 30, decaySeconds: 60 }) },
  identities: {
    providers: option.value({ default: {} }),
    attemptMinutes: option.minutes(1, 60, { default: 10, env: 'IDENTITIES_ATTEMPT', public: true }),
    register: option.flag({ env: 'IDENTITIES_REGISTER' }),
  } satisfies option.TableOf<IdentitiesOptions>,
} satisfies option.OptionTree;
