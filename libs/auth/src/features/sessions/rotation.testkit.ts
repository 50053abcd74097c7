import { type RepetitionTimes, type SessionState, type RefreshVerdict, idleTimeoutOf } from './rotation.policy';

export const GRACE = 30;

/** The option `sessions.idleTimeout` of the guards that the table is for. */
export const IDLE_TIMEOUT = 1800;

/** A session, a presented token and the expected verdict of the policy and of the statement of a refresh. */
export interface Judged {
  readonly name: string;
  /** The generation of the presented token. */
  readonly presented: number;
  readonly grace: number;
  /** The option `sessions.unusedSuccessorSeconds`. */
  readonly unusedSuccessor: number;
  readonly verdict: RefreshVerdict;
  /** Seconds from now. */
  readonly expiresIn: number;
  /** Seconds from now; null for a session that was not ended. */
  readonly revokedIn: number | null;
  /** Seconds since the last use. */
  readonly unused: number;
  /** The session's own idle time; null for none. */
  readonly idleTimeout: number | null;
  readonly generation: number;
  /** The latest generation that was returned for a late repetition. */
  readonly late: number | null;
  /** Times of the stored rotations, in seconds from now, the newest last. */
  readonly recent: readonly number[];
}

type Facts = Partial<Omit<Judged, 'name' | 'presented' | 'verdict'>>;

const judged = (name: string, presented: number, facts: Facts, verdict: RefreshVerdict): Judged => ({
  name,
  presented,
  verdict,
  grace: GRACE,
  unusedSuccessor: 0,
  late: null,
  expiresIn: 3600,
  revokedIn: null,
  unused: 20,
  idleTimeout: null,
  generation: 0,
  recent: [],
  ...facts,
});

/** All rows are far enough from a boundary for a slow machine to run the statement in time. */
export const ROTATION_TABLE: readonly Judged[] = [
  judged('the first token of a session', 0, {}, 'current'),
  judged('the current token', 7, { generation: 7, recent: [-900, -1] }, 'current'),
  judged('the current token, with a grace period of 0', 7, { generation: 7, recent: [-1], grace: 0 }, 'current'),
  judged('the current token of an ended session', 7, { generation: 7, revokedIn: -5 }, 'revoked'),
  judged('the current token of a session that ends in the future', 0, { revokedIn: 600 }, 'revoked'),
  judged('the current token of a session past its deadline', 0, { expiresIn: -1 }, 'expired'),
  judged('the current token of an ended session past its deadline', 0, { expiresIn: -1, revokedIn: -9 }, 'revoked'),
  judged('the previous token, replaced just now', 6, { generation: 7, recent: [-900, 0] }, 'replay'),
  judged('the previous token, replaced within the grace period', 6, { generation: 7, recent: [-20] }, 'replay'),
  judged('the previous token, rotated in the future', 6, { generation: 7, recent: [5] }, 'replay'),
  judged('an older token within the grace period', 4, { generation: 7, recent: [-25, -20, -1] }, 'replay'),
  judged(
    'an older token past the grace period, newer ones within it',
    4,
    { generation: 7, recent: [-600, -2, -1] },
    'reuse',
  ),
  judged('an older token without a stored rotation', 3, { generation: 7, recent: [-25, -20, -1] }, 'reuse'),
  judged('the previous token without a stored rotation', 6, { generation: 7 }, 'reuse'),
  judged('the previous token past the grace period', 6, { generation: 7, recent: [-600] }, 'reuse'),
  judged('the previous token, with a grace period of 0', 6, { generation: 7, recent: [0], grace: 0 }, 'reuse'),
  judged(
    'the previous token, with a grace period of 0, rotated in the future',
    6,
    { generation: 7, recent: [5], grace: 0 },
    'reuse',
  ),
  judged(
    'the previous token, late, unused successor',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300 },
    'late',
  ),
  judged('the previous token, too late', 6, { generation: 7, recent: [-400], unusedSuccessor: 300 }, 'reuse'),
  judged(
    'the previous token, late, in the grace period',
    6,
    { generation: 7, recent: [-9], unusedSuccessor: 300 },
    'replay',
  ),
  judged('an older token, late', 5, { generation: 7, recent: [-200, -190], unusedSuccessor: 300 }, 'reuse'),
  judged(
    'the previous token, late, with a grace period of 0',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300, grace: 0 },
    'reuse',
  ),
  judged(
    'the previous token, late for the second time',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300, late: 7 },
    'reuse',
  ),
  judged(
    'the previous token, late, after a late repetition of the generation before',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300, late: 6 },
    'reuse',
  ),
  judged(
    'the previous token, late, after a late repetition two generations before',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300, late: 5 },
    'late',
  ),
  judged(
    'the previous token, late, of an ended session',
    6,
    { generation: 7, recent: [-200], unusedSuccessor: 300, revokedIn: -1 },
    'revoked',
  ),
  judged('a replaced token of an ended session', 6, { generation: 7, recent: [-1], revokedIn: -1 }, 'revoked'),
  judged('a reused token of an ended session', 2, { generation: 7, revokedIn: -1 }, 'revoked'),
  judged('a replaced token past the deadline', 6, { generation: 7, recent: [-1], expiresIn: -1 }, 'expired'),
  judged('a reused token past the deadline', 2, { generation: 7, expiresIn: -1 }, 'expired'),
  judged('a newer token of a session that was never rotated', 1, {}, 'ahead'),
  judged('a token that is newer by one', 8, { generation: 7, recent: [-1] }, 'ahead'),
  judged('a token that is newer by a thousand', 1007, { generation: 7 }, 'ahead'),
  judged('a newer token, with a grace period of 0', 9, { generation: 7, grace: 0 }, 'ahead'),
  judged('a newer token of an ended session', 9, { generation: 7, revokedIn: -1 }, 'revoked'),
  judged('a newer token of a session past its deadline', 9, { generation: 7, expiresIn: -1 }, 'expired'),
  judged('the current token within the idle time', 0, { unused: IDLE_TIMEOUT - 60 }, 'current'),
  judged('the current token past the idle time', 0, { unused: IDLE_TIMEOUT + 1 }, 'idle'),
  judged('the current token within a shorter idle time of the session', 0, { unused: 60, idleTimeout: 120 }, 'current'),
  judged('the current token past a shorter idle time of the session', 0, { unused: 121, idleTimeout: 120 }, 'idle'),
  judged(
    'the current token within a longer idle time of the session, past that of the guard',
    0,
    { unused: IDLE_TIMEOUT + 1, idleTimeout: 2 * IDLE_TIMEOUT },
    'idle',
  ),
  judged('a session that was used in the future', 0, { unused: -600, idleTimeout: 120 }, 'current'),
  judged('an ended session past its idle time', 0, { unused: 121, idleTimeout: 120, revokedIn: -1 }, 'revoked'),
  judged('a session that was idle before its deadline', 0, { unused: 121, idleTimeout: 60, expiresIn: -1 }, 'idle'),
  judged('a session whose deadline passed first', 0, { unused: 121, idleTimeout: 120, expiresIn: -9 }, 'expired'),
  judged(
    'a replaced token past the idle time',
    6,
    { generation: 7, recent: [-1], unused: 121, idleTimeout: 120 },
    'idle',
  ),
  judged('a reused token past the idle time', 2, { generation: 7, unused: 121, idleTimeout: 120 }, 'idle'),
  judged('a newer token past the idle time', 9, { generation: 7, unused: 121, idleTimeout: 120 }, 'idle'),
];

/** The options for a row. */
export const timesOf = ({ grace, unusedSuccessor }: Judged): RepetitionTimes => ({
  graceSeconds: grace,
  unusedSuccessorSeconds: unusedSuccessor,
});

/** Makes the session state of a row for a time of the database. */
export const stateAt = (
  now: number,
  { generation, recent, late, expiresIn, revokedIn, unused, idleTimeout }: Judged,
): SessionState => ({
  now,
  lastUsedAt: now - unused,
  idleTimeout: idleTimeoutOf(IDLE_TIMEOUT, idleTimeout),
  generation,
  lateGeneration: late,
  recent: recent.map((seconds) => now + seconds),
  expiresAt: now + expiresIn,
  revokedAt: revokedIn === null ? null : now + revokedIn,
});
