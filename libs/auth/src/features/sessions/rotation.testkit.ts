import type { SessionState, Verdict } from './rotation.policy';

export const GRACE = 30;

/** A session and a presented token: what the policy says, and what the statement of a refresh does, is held against this. */
export interface Judged {
  readonly name: string;
  /** The generation of the presented token. */
  readonly presented: number;
  readonly grace: number;
  readonly verdict: Verdict;
  /** Seconds from now. */
  readonly expiresIn: number;
  /** Seconds from now; null for a session that was not ended. */
  readonly revokedIn: number | null;
  readonly generation: number;
  /** Seconds from now of the rotations that are remembered, the newest last. */
  readonly recent: readonly number[];
}

type Facts = Partial<Pick<Judged, 'expiresIn' | 'revokedIn' | 'generation' | 'recent' | 'grace'>>;

const judged = (name: string, presented: number, facts: Facts, verdict: Verdict): Judged => ({
  name,
  presented,
  verdict,
  grace: GRACE,
  expiresIn: 3600,
  revokedIn: null,
  generation: 0,
  recent: [],
  ...facts,
});

/** No row is closer to a boundary than a slow machine may need to run its statement. */
export const JUDGE_TABLE: readonly Judged[] = [
  judged('the first token of a session', 0, {}, 'first'),
  judged('the current token', 7, { generation: 7, recent: [-900, -1] }, 'first'),
  judged('the current token, grace or not', 7, { generation: 7, recent: [-1], grace: 0 }, 'first'),
  judged('the current token of an ended session', 7, { generation: 7, revokedIn: -5 }, 'revoked'),
  judged('the current token of one whose end lies ahead', 0, { revokedIn: 600 }, 'revoked'),
  judged('the current token of one past its deadline', 0, { expiresIn: -1 }, 'expired'),
  judged('the current token of one ended and past its deadline', 0, { expiresIn: -1, revokedIn: -9 }, 'revoked'),
  judged('the one before, replaced just now', 6, { generation: 7, recent: [-900, 0] }, 'replay'),
  judged('the one before, replaced within the grace', 6, { generation: 7, recent: [-20] }, 'replay'),
  judged('the one before, whose rotation lies ahead', 6, { generation: 7, recent: [5] }, 'replay'),
  judged('an older one within the grace', 4, { generation: 7, recent: [-25, -20, -1] }, 'replay'),
  judged('an older one past the grace, the newer ones within', 4, { generation: 7, recent: [-600, -2, -1] }, 'reuse'),
  judged('an older one that is not remembered', 3, { generation: 7, recent: [-25, -20, -1] }, 'reuse'),
  judged('the one before, which is not remembered', 6, { generation: 7 }, 'reuse'),
  judged('the one before, past the grace', 6, { generation: 7, recent: [-600] }, 'reuse'),
  judged('the one before, without grace', 6, { generation: 7, recent: [0], grace: 0 }, 'reuse'),
  judged('the one before, without grace, rotated ahead', 6, { generation: 7, recent: [5], grace: 0 }, 'reuse'),
  judged('a replaced one of an ended session', 6, { generation: 7, recent: [-1], revokedIn: -1 }, 'revoked'),
  judged('a reused one of an ended session', 2, { generation: 7, revokedIn: -1 }, 'revoked'),
  judged('a replaced one past the deadline', 6, { generation: 7, recent: [-1], expiresIn: -1 }, 'expired'),
  judged('a reused one past the deadline', 2, { generation: 7, expiresIn: -1 }, 'expired'),
  judged('one ahead of a session that was never rotated', 1, {}, 'ahead'),
  judged('one ahead by one', 8, { generation: 7, recent: [-1] }, 'ahead'),
  judged('one ahead by a thousand', 1007, { generation: 7 }, 'ahead'),
  judged('one ahead, without grace', 9, { generation: 7, grace: 0 }, 'ahead'),
  judged('one ahead of an ended session', 9, { generation: 7, revokedIn: -1 }, 'revoked'),
  judged('one ahead of a session past its deadline', 9, { generation: 7, expiresIn: -1 }, 'expired'),
];

/** The session of a row, at a time of the database. */
export const stateAt = (now: number, { generation, recent, expiresIn, revokedIn }: Judged): SessionState => ({
  now,
  generation,
  recent: recent.map((seconds) => now + seconds),
  expiresAt: now + expiresIn,
  revokedAt: revokedIn === null ? null : now + revokedIn,
});
