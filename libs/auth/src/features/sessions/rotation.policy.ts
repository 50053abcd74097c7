/** What the decision on a refresh token needs to know of its session. Times are epoch seconds of the database's clock. */
export interface SessionState {
  /** Number of the current refresh token. */
  readonly generation: number;
  /** When the latest rotations happened, the newest last: the last one replaced the token before the current one. */
  readonly recent: readonly number[];
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** The database's now, read in the statement that read the session. */
  readonly now: number;
}

/**
 * - `first`: the current token. It is exchanged for its successor.
 * - `replay`: a token that was replaced less than the grace period ago. The current token is handed out again.
 * - `ahead`: a token newer than the stored one. Only this server can have made it, so the database has lost commits.
 * - `unknown`, `revoked`, `expired`, `reuse`: refused.
 */
export type Verdict = 'first' | 'replay' | 'ahead' | 'unknown' | 'revoked' | 'expired' | 'reuse';

/** Rotations that are remembered at most: a row stays small however fast a client refreshes. */
const MOST_RECENT = 64;

/**
 * Decides on a presented refresh token. Pure, and the only statement of the rule.
 *
 * A replaced token is honoured for `graceSeconds` after its rotation, boundary included, because an honest client
 * repeats a request whose answer it did not receive. With a grace of 0 it is never honoured again.
 *
 * @param session null where there is no such session, or the token's MAC is wrong
 * @param generation of the presented token
 */
export function judge(session: SessionState | null, generation: number, graceSeconds: number): Verdict {
  if (!session) return 'unknown';
  if (session.revokedAt !== null) return 'revoked';
  if (session.expiresAt < session.now) return 'expired';
  if (generation === session.generation) return 'first';
  if (generation > session.generation) return 'ahead';
  const rotatedAt = session.recent.at(generation - session.generation);
  const isInGrace = rotatedAt !== undefined && rotatedAt + graceSeconds >= session.now;
  return graceSeconds > 0 && isInGrace ? 'replay' : 'reuse';
}

/** What a rotation from `generation` does to the list of recent rotations. */
export interface RecentChange {
  /** Entries to drop at its beginning: they are older than the grace period, or too many. */
  readonly dropped: number;
  /**
   * Entries to add, each with the time of this rotation. More than one where the database had lost commits: the tokens
   * in between were replaced at a time that is not known any more, and their holders get the grace period from now on.
   */
  readonly added: number;
}

export function recentChange(session: SessionState, generation: number, graceSeconds: number): RecentChange {
  const added = Math.min(generation - session.generation + 1, MOST_RECENT);
  const { recent, now } = session;
  const firstInGrace = recent.findIndex((rotatedAt) => rotatedAt + graceSeconds >= now);
  const old = firstInGrace === -1 ? recent.length : firstInGrace;
  return { added, dropped: Math.max(old, recent.length + added - MOST_RECENT) };
}

/** Whether a refusal ends the session. A token that is unknown or too old is no sign of theft. */
export const endsSession = (verdict: Verdict, reuseDetection: boolean): boolean =>
  verdict === 'reuse' && reuseDetection;
