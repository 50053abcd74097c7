/** The state of an access token's session in both stores. */
export interface DenialFacts {
  /** Whether the store holds a denial of the token or of its session. */
  readonly denied: boolean;
  /** Whether the session was ended according to PostgreSQL; null in a service without the table of sessions. */
  readonly ended: boolean | null;
  /** Whether the store certainly holds every denial. Relevant only where `ended` is null. */
  readonly complete: boolean;
}

/**
 * Decides whether an access token's session was ended. A denial in the store or an end in PostgreSQL is sufficient.
 * PostgreSQL is the system of record: where the session is live there, lost entries of the store are irrelevant.
 * Without PostgreSQL, the result is `unknown` if the store may have lost denials.
 */
export function denylistVerdict({ denied, ended, complete }: DenialFacts): 'ended' | 'live' | 'unknown' {
  if (denied || ended === true) return 'ended';
  return ended === false || complete ? 'live' : 'unknown';
}
