/** What one limiter counts for one request. */
export interface LimitRule {
  /**
   * Attempts with the same key are counted together. The key is prefixed with the limiter's name, and stored as a hash.
   */
  key: string;
  /** Attempts that one window allows, at least 1. */
  maxAttempts: number;
  /** Seconds from the first attempt to the end of the window, 1 to 31536000 (a year). */
  decaySeconds: number;
}

/** The origin of a request, passed to a limiter. */
export interface LimiterContext {
  /** The guard that answers the request. */
  guard: string;
  /**
   * The client as counted by rate limits: an address, shortened as `ipv6Prefix` says, or the value of
   * `hooks.rateLimitKey`.
   */
  client: string;
  /** The authenticated user, or null. */
  userId: string | null;
}

/**
 * Returns the rules that a request counts towards. An attempt is allowed if it is within every rule, and then counts
 * towards each of them. An empty list means no limit. Runs before the body is validated, so the body may contain
 * anything.
 */
export type Limiter = (request: unknown, context: LimiterContext) => LimitRule | readonly LimitRule[];
