import { type OptionTree, feature, rateLimit } from '../../foundation/config/option-table';

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /username`.
     *
     * @default { maxAttempts: 10, decaySeconds: 3600 }
     * @env SVC_USERNAME_CHANGE_MAX_ATTEMPTS, SVC_USERNAME_CHANGE_DECAY
     */
    usernameChange?: RateLimit;
  }
}

export const USERNAME_CHANGE_OPTIONS = {
  features: { usernameChange: feature({ default: false, env: 'FEATURE_USERNAME_CHANGE' }) },
  rateLimits: { usernameChange: rateLimit('USERNAME_CHANGE', { maxAttempts: 10, decaySeconds: 3600 }) },
} satisfies OptionTree;
