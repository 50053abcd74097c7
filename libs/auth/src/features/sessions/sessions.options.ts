import {
  type Duration,
  type OptionTree,
  TEN_YEARS,
  LARGEST,
  type TableOf,
  type WithDefaults,
  count,
  feature,
  publicBlock,
  rateLimit,
  seconds,
  text,
} from '../../foundation/config/option-table';
import type { RateLimit } from '../../foundation/config/auth-options';

/** How many sessions a user may have, and how long they live. */
export interface SessionsOptions {
  /**
   * Maximum number of live sessions of one user on one guard. A login above it ends the least recently used session
   * (`SessionEnded` with the reason `cap`). Sessions with a pinned list of abilities are not counted and not ended. `0`
   * means no limit.
   *
   * @default 100
   * @env SVC_SESSIONS_MAX_PER_USER
   */
  maxPerUser?: number;

  /**
   * Seconds without a refresh after which a session ends (`SessionEnded` with the reason `idle`), at most 315360000 (ten
   * years). `0` means no idle time. It must be longer than `accessTtl`, because a client in use refreshes only when its access token
   * expires. Read at each refresh, so a change applies to sessions that exist. It applies to pinned sessions, too.
   *
   * @default 0
   * @env SVC_SESSIONS_IDLE_TIMEOUT
   */
  idleTimeout?: Duration;

  /**
   * Lifetime in seconds of a session whose sign-in has the field `remember: false`, not shorter than `accessTtl`, and at most
   * 315360000 (ten years). A value above `refreshTtl` has the effect of `refreshTtl`. In cookie mode, the refresh cookie of
   * such a session has no `Max-Age`, so the browser removes it when it closes. A sign-in without the field is remembered. `0`
   * means that the field has no effect.
   *
   * @default 0
   * @env SVC_SESSIONS_TTL_WITHOUT_REMEMBER
   */
  ttlWithoutRemember?: Duration;

  /**
   * Seconds after a refresh for which the replaced refresh token is accepted once more, if its successor was never presented: a
   * device without a network, whose refresh was answered but lost the answer, is not signed out. At most a third of `accessTtl`.
   * `0`: only `graceSeconds` applies. With `graceSeconds: 0`, any other value is refused at the start. A late repetition begins
   * a grace period and emits `RefreshFamilyForked`. A later repetition of the same token, or a late one of its successor, is a reuse.
   *
   * @default 0
   * @env SVC_SESSIONS_UNUSED_SUCCESSOR_SECONDS
   */
  unusedSuccessorSeconds?: Duration;
}

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /refresh`.
     *
     * @default { maxAttempts: 30, decaySeconds: 60, by: 'address' }
     * @env SVC_REFRESH_MAX_ATTEMPTS, SVC_REFRESH_DECAY, SVC_REFRESH_BY
     */
    refresh?: RefreshRateLimit;
  }
}

/** The limit of `POST /refresh`. */
export interface RefreshRateLimit extends RateLimit {
  /**
   * What a refresh counts for: the address of the client, or the session of a token that this server has made, so that many users
   * can share one address. With `session`, other tokens count for the address, and all requests of one address have a hundred times
   * the limit.
   *
   * @default 'address'
   * @env SVC_REFRESH_BY
   */
  by?: 'address' | 'session';
}

declare module '../../foundation/config/auth-config' {
  interface PublicOptions {
    readonly sessions: WithDefaults<SessionsOptions>;
  }
}

export const SESSIONS_OPTIONS = {
  features: {
    rotation: feature({ default: true, env: 'FEATURE_ROTATION' }),
    reuseDetection: feature({ default: true, env: 'FEATURE_REUSE_DETECTION' }),
  },
  rateLimits: {
    refresh: {
      ...rateLimit('REFRESH', { maxAttempts: 30, decaySeconds: 60 }),
      by: text<'address' | 'session'>({ default: 'address', env: 'REFRESH_BY', public: true }),
    },
  },
  sessions: publicBlock({
    maxPerUser: count(0, LARGEST, { default: 100, env: 'SESSIONS_MAX_PER_USER' }),
    idleTimeout: seconds(0, TEN_YEARS, { default: 0, env: 'SESSIONS_IDLE_TIMEOUT' }),
    ttlWithoutRemember: seconds(0, TEN_YEARS, { default: 0, env: 'SESSIONS_TTL_WITHOUT_REMEMBER' }),
    unusedSuccessorSeconds: seconds(0, LARGEST, { default: 0, env: 'SESSIONS_UNUSED_SUCCESSOR_SECONDS' }),
  } satisfies TableOf<SessionsOptions>),
} satisfies OptionTree;
