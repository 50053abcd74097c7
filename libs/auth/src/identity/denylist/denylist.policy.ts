/** What is known of an access token's session. */
export interface DenialFacts {
  /** Whether the store holds a denial of the token or of its session. */
  readonly denied: boolean;
  /** Whether PostgreSQL says that the session was ended; null in a service without the table of sessions. */
  readonly ended: boolean | null;
  /** Whether the store is known to hold every denial. Matters only where PostgreSQL cannot be asked. */
  readonly complete: boolean;
}

/**
 * Whether an access token's session was ended. A "yes" of the store or of PostgreSQL refuses. PostgreSQL is the truth:
 * where it says no, it does not matter what the store may have lost. Without PostgreSQL, a store that may have lost
 * denials cannot say no.
 */
export function denylistVerdict({ denied, ended, complete }: DenialFacts): 'ended' | 'live' | 'unknown' {
  if (denied || ended === true) return 'ended';
  return ended === false || complete ? 'live' : 'unknown';
}
