import {
  type Duration,
  DAY,
  type OptionTree,
  type TableOf,
  type WithDefaults,
  flag,
  publicBlock,
  rateLimit,
  seconds,
  text,
} from '../../foundation/config/option-table';

/** Step-up confirmation. */
export interface ConfirmOptions {
  /**
   * Lifetime of one confirmation in seconds, 1 to 86400 (a day).
   *
   * @default 300
   * @env SVC_CONFIRM_TTL
   */
  ttl?: Duration;

  /**
   * Whether a sign-in within the last {@link ttl} seconds counts as a confirmation of its session, without a confirmation
   * token. It does not count for pinned sessions, and for sessions without `amr` (as with an `act` claim), which no user
   * has signed in to. It does not count after a change of the password.
   *
   * @default false
   * @env SVC_CONFIRM_AFTER_LOGIN
   */
  afterLogin?: boolean;

  /**
   * What a user with two factors confirms with. `one`: the password or a passkey. `all`: the password together with a code
   * or a recovery code, or a passkey, which combines two factors; the password alone is enough only for users without a
   * second factor. `all` needs `passkeys.userVerification: 'required'` where passkeys are on.
   *
   * @default 'one'
   * @env SVC_CONFIRM_FACTORS
   */
  factors?: 'one' | 'all';

  /**
   * Request header that carries the confirmation token.
   *
   * @default 'X-Svc-Confirmation'
   * @env SVC_CONFIRM_HEADER
   */
  header?: string;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * Step-up, change of password and export of the account, together.
     *
     * @default { maxAttempts: 5, decaySeconds: 60 }
     * @env SVC_CONFIRM_MAX_ATTEMPTS, SVC_CONFIRM_DECAY
     */
    confirm?: RateLimit;
  }
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly confirm: WithDefaults<ConfirmOptions>;
  }
}

export const STEP_UP_OPTIONS = {
  rateLimits: { confirm: rateLimit('CONFIRM', { maxAttempts: 5, decaySeconds: 60 }) },
  confirm: publicBlock({
    ttl: seconds(1, DAY, { default: 300, env: 'CONFIRM_TTL' }),
    afterLogin: flag({ default: false, env: 'CONFIRM_AFTER_LOGIN' }),
    factors: text({ default: 'one', env: 'CONFIRM_FACTORS' }),
    header: text({ env: 'CONFIRM_HEADER', resolve: (header) => header || 'X-Svc-Confirmation' }),
  } satisfies TableOf<ConfirmOptions>),
} satisfies OptionTree;
