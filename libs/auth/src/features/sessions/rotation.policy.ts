/** The times that end a session without a request. Epoch seconds of the database's clock. */
export interface SessionLimits {
  /** The deadline, set at the start of the session. */
  readonly expiresAt: number;
  /** The start of the session, or its latest refresh. */
  readonly lastUsedAt: number;
  /** Seconds without a refresh after which it ends: see {@link idleTimeoutOf}. Null for no such end. */
  readonly idleTimeout: number | null;
}

/** The state of a session that decides on its refresh tokens. Times are epoch seconds of the database's clock. */
export interface SessionState extends SessionLimits {
  /** Number of the current refresh token. */
  readonly generation: number;
  /** Times of the latest rotations, the newest last. The last one replaced the token before the current one. */
  readonly recent: readonly number[];
  readonly revokedAt: number | null;
  /** The current time of the database, read in the same statement as the session. */
  readonly now: number;
}

/**
 * - `current`: the current token. It is exchanged for its successor.
 * - `replay`: a token that was replaced within the grace period. The current token is returned again.
 * - `ahead`: a token newer than the stored one. Only this server can have made it, so the database has lost commits.
 * - `expired`, `idle`: refused, because the session has reached its deadline, or was not used for its idle time.
 * - `unknown`, `revoked`, `reuse`: refused.
 */
export type Verdict = 'current' | 'replay' | 'ahead' | 'unknown' | 'revoked' | 'expired' | 'idle' | 'reuse';

/**
 * The idle time of a session: the shorter one of the option and the session's own. Pure. Null without either.
 *
 * @param option `sessions.idleTimeout`; 0 for none
 * @param own null for a session without its own
 */
export function idleTimeoutOf(option: number, own: number | null): number | null {
  const shorter = Math.min(option || Infinity, own ?? Infinity);
  return shorter === Infinity ? null : shorter;
}

/** When a session ends if it is not used again, and why. Pure. It is still live at that moment. */
export function endOfSession({ expiresAt, lastUsedAt, idleTimeout }: SessionLimits): {
  readonly at: number;
  readonly reason: 'expired' | 'idle';
} {
  const idleAt = idleTimeout === null ? Infinity : lastUsedAt + idleTimeout;
  return idleAt < expiresAt ? { at: idleAt, reason: 'idle' } : { at: expiresAt, reason: 'expired' };
}

/** Maximum number of recent rotations in a row, so that a row stays small when a client refreshes often. */
const MAX_RECENT = 64;

/**
 * Decides on a presented refresh token. Pure, and the only definition of this rule.
 *
 * A replaced token is accepted for `graceSeconds` after its rotation, including the boundary, because a legitimate client
 * repeats a request whose response it did not receive. With a grace period of 0, it is never accepted.
 *
 * @param session null if the session does not exist, or the MAC of the token is wrong
 * @param generation of the presented token
 */
export function refreshVerdict(session: SessionState | null, generation: number, graceSeconds: number): Verdict {
  if (!session) return 'unknown';
  if (session.revokedAt !== null) return 'revoked';
  const end = endOfSession(session);
  if (end.at < session.now) return end.reason;
  if (generation === session.generation) return 'current';
  if (generation > session.generation) return 'ahead';
  const rotatedAt = session.recent.at(generation - session.generation);
  const isInGrace = rotatedAt !== undefined && rotatedAt + graceSeconds >= session.now;
  return graceSeconds > 0 && isInGrace ? 'replay' : 'reuse';
}

/** The change of the list of recent rotations. */
export interface RecentChange {
  /** Number of entries to remove at the beginning: they are older than the grace period, or exceed the maximum. */
  readonly dropped: number;
  /**
   * Number of entries to add, each with the time of this rotation. More than one if the database has lost commits: the
   * time when the tokens in between were replaced is unknown, so their grace period starts now.
   */
  readonly added: number;
}

/** Computes the change of the list for a rotation of the token of `generation`. Pure. */
export function recentChange(session: SessionState, generation: number, graceSeconds: number): RecentChange {
  const added = Math.min(generation - session.generation + 1, MAX_RECENT);
  const { recent, now } = session;
  const firstInGrace = recent.findIndex((rotatedAt) => rotatedAt + graceSeconds >= now);
  const old = firstInGrace === -1 ? recent.length : firstInGrace;
  return { added, dropped: Math.max(old, recent.length + added - MAX_RECENT) };
}

/** Whether a refusal ends the session. An unknown token, or one of a session that is over, is not a sign of theft. */
export const endsSession = (verdict: Verdict, reuseDetection: boolean): boolean =>
  verdict === 'reuse' && reuseDetection;
