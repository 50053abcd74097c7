import { option } from '../../kit';

/** What operators do. At the guard of the operators, with `features.operators`. */
export interface OperatorsOptions {
  /**
   * Name of the guard whose users they help. A guard of their own separates their tokens from those of the users.
   *
   * @default the default guard
   * @env SVC_OPERATORS_USERS
   */
  users?: string;

  /**
   * The abilities with which an operator can act as a user, at most those that the user has. Names without wildcards, and none
   * that begins with `svc.`. Without a name, an operator acts as a user without abilities.
   *
   * @default []
   */
  abilities?: string[];

  /**
   * The name of a session in which an operator acts as a user, in the list of the user's sessions.
   *
   * @default 'Customer support'
   * @env SVC_OPERATORS_LABEL
   */
  label?: string;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * The requests of one operator, and of one client, to the routes of operators.
     *
     * @default { maxAttempts: 120, decaySeconds: 60 }
     * @env SVC_OPERATORS_MAX_ATTEMPTS, SVC_OPERATORS_DECAY
     */
    operators?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly operators: option.WithDefaults<OperatorsOptions, 'users'>;
  }
}

export const OPERATORS_OPTIONS = {
  features: { operators: option.feature({ default: false, env: 'FEATURE_OPERATORS' }) },
  rateLimits: { operators: option.rateLimit('OPERATORS', { maxAttempts: 120, decaySeconds: 60 }) },
  operators: {
    users: option.text({ env: 'OPERATORS_USERS' }),
    abilities: option.list({ default: [] }),
    label: option.text({ default: 'Customer support', env: 'OPERATORS_LABEL' }),
  } satisfies option.TableOf<OperatorsOptions>,
} satisfies option.OptionTree;
