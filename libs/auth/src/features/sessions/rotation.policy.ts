import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';

/** The times that end a session without a request. Epoch seconds of the database's clock. */
export interface SessionLimits {
  /** The deadline, set at the start of the session. */
  readonly expiresAt: number;
  /** The start of the session, or its latest refresh. */
  readonly lastUsedAt: number;
  /** Seconds without a refresh after which it ends. Null for no such end. */
  readonly idleTimeout: number | null;
}

/** The state of a session that decides on its refresh tokens. Times are epoch seconds of the database's clock. */
export interface SessionState extends SessionLimits {
  /** Number of the current refresh token. */
  readonly generation: number;
  /** Times of the latest rotations, the newest last. The last one replaced the token before the current one. */
  readonly recent: readonly number[];
  /** The latest generation that was returned for a late repetition; null for none. */
  readonly lateGeneration: number | null;
  readonly revokedAt: number | null;
  /** The current time of the database, read in the same statement as the session. */
  readonly now: number;
}

/**
 * - `current`: the current token. It is exchanged for its successor.
 * - `replay`: a token that was replaced within the grace period. The current token is returned again.
 * - `late`: the previous token, after the grace period, while its successor was never presented. The current token is returned
 *   again, once.
 * - `ahead`: a token newer than the stored one. Only this server can have made it, so the database has lost commits.
 * - `expired`, `idle`: refused, because the session has reached its deadline, or was not used for its idle time.
 * - `unknown`, `revoked`, `reuse`: refused.
 */
export type RefreshVerdict =
  'current' | 'replay' | 'late' | 'ahead' | 'unknown' | 'revoked' | 'expired' | 'idle' | 'reuse';

/** How long after its rotation a replaced token is accepted, in seconds: the options of the guard. */
export interface RepetitionTimes {
  /** `graceSeconds` */
  readonly graceSeconds: number;
  /** `sessions.unusedSuccessorSeconds` */
  readonly unusedSuccessorSeconds: number;
}

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
 * The previous token is accepted for longer, for `unusedSuccessorSeconds`, because a response can be lost while a device is
 * without a network. Each refresh token is returned late once, and that answer begins a grace period. Two successive ones are not
 * both returned late: of two holders of a token, one presents a replaced token after every rotation, so the second is a reuse.
 *
 * @param session null if the session does not exist, or the MAC of the token is wrong
 * @param generation of the presented token
 */
export function refreshVerdict(
  session: SessionState | null,
  generation: number,
  { graceSeconds, unusedSuccessorSeconds }: RepetitionTimes,
): RefreshVerdict {
  if (!session) return 'unknown';
  if (session.revokedAt !== null) return 'revoked';
  const end = endOfSession(session);
  if (end.at < session.now) return end.reason;
  if (generation === session.generation) return 'current';
  if (generation > session.generation) return 'ahead';
  const rotatedAt = session.recent.at(generation - session.generation);
  if (graceSeconds === 0 || rotatedAt === undefined) return 'reuse';
  if (rotatedAt + graceSeconds >= session.now) return 'replay';
  const { lateGeneration } = session;
  const isFirstLate = lateGeneration === null || lateGeneration < session.generation - 1;
  const isPrevious = generation === session.generation - 1;
  return isPrevious && isFirstLate && rotatedAt + unusedSuccessorSeconds >= session.now ? 'late' : 'reuse';
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
export const endsSession = (verdict: RefreshVerdict, reuseDetection: boolean): boolean =>
  verdict === 'reuse' && reuseDetection;

/**
 * Whether a replay is the one at which the current refresh token of a session has too many holders. Pure. It is true at most
 * once for each token: the holders are counted one by one, and a rotation counts from 1 again.
 *
 * @param holders the requests that were answered with the token, including this replay
 */
export const crossesForkThreshold = (holders: number, forkThreshold: number): boolean => holders === forkThreshold + 1;

/** How long a session may live. Each part only shortens what the options of the guard allow. */
export interface SessionLifeRequest {
  /**
   * Seconds until the deadline, from `accessTtl` to `refreshTtl`. Default: `refreshTtl`, or `sessions.ttlWithoutRemember` for
   * a session that is not remembered.
   */
  ttl?: number;
  /**
   * Seconds without a refresh after which the session ends: more than `accessTtl`, and not more than `sessions.idleTimeout`.
   * Default: `sessions.idleTimeout`.
   */
  idleTimeout?: number;
  /**
   * Whether the session outlives the browser. With `false` and the option `sessions.ttlWithoutRemember`, the deadline is
   * earlier, and in cookie mode the browser removes the refresh cookie when it closes.
   *
   * @default true
   */
  remember?: boolean;
  /**
   * For a session without a refresh, whose refresh token is not passed on: seconds from 1 to `accessTtl` for which its access token
   * lives. The session ends with it. Replaces the other options of this interface.
   */
  accessOnly?: number;
}

/** The life of a new session. */
export interface SessionLife {
  /** Seconds until the deadline. */
  readonly ttl: number;
  /** The session's own idle time in seconds; null without one. */
  readonly idleTimeout: number | null;
  /** Whether the refresh cookie outlives the browser. */
  readonly remembered: boolean;
}

type LifeOptions = Pick<GuardConfig, 'accessTtl' | 'refreshTtl' | 'sessions'>;

/**
 * Decides on the life of a new session. Pure. No value lengthens the life that the options allow. A value that cannot apply
 * is refused and not changed, because the caller would not notice.
 *
 * @returns a text that describes the problem, if a value is refused
 */
export function sessionLife(asked: SessionLifeRequest, options: LifeOptions): SessionLife | string {
  const { ttl, idleTimeout, remember, accessOnly } = asked;
  const { accessTtl, refreshTtl, sessions } = options;
  if (accessOnly !== undefined)
    return isWithin(accessOnly, 1, accessTtl)
      ? { ttl: accessOnly, idleTimeout: null, remembered: false }
      : notWithin('accessOnly', 1, accessTtl, '1 to accessTtl');
  if (remember !== undefined && typeof remember !== 'boolean')
    return 'remember of a session must be a boolean. Convert the text of a form first.';
  // An access token lives for accessTtl whatever its session does, so a session cannot be shorter.
  if (!isWithin(ttl, accessTtl, refreshTtl)) return notWithin('ttl', accessTtl, refreshTtl, 'accessTtl to refreshTtl');
  const limit = sessions.idleTimeout || refreshTtl;
  if (!isWithin(idleTimeout, accessTtl + 1, limit)) {
    const range = `more than accessTtl to ${sessions.idleTimeout ? 'sessions.idleTimeout' : 'refreshTtl'}`;
    return notWithin('idleTimeout', accessTtl + 1, limit, range);
  }
  const isShort = remember === false && sessions.ttlWithoutRemember > 0;
  const longest = isShort ? Math.min(sessions.ttlWithoutRemember, refreshTtl) : refreshTtl;
  return { ttl: Math.min(ttl ?? longest, longest), idleTimeout: idleTimeout ?? null, remembered: !isShort };
}

const isWithin = (value: unknown, min: number, max: number): boolean =>
  value === undefined || (Number.isInteger(value) && (value as number) >= min && (value as number) <= max);

const notWithin = (name: string, min: number, max: number, range: string): string =>
  `${name} of a session must be a whole number of seconds from ${min} to ${max} (${range}). To allow a longer life, raise the option.`;

const limitErrors = ({ rateLimits: { refresh }, nameOf }: GuardConfig): string[] =>
  ['address', 'session'].includes(refresh.by)
    ? []
    : [`${nameOf('rateLimits.refresh.by')} (SVC_REFRESH_BY) must be "address" or "session".`];

/**
 * Why `sessions.unusedSuccessorSeconds` of a guard must not start an application. A client refreshes once in `accessTtl`: within a
 * third of that, two holders of a token cannot take turns with late repetitions.
 */
function lateRepetitionErrors({ accessTtl, graceSeconds, sessions, nameOf }: GuardConfig): string[] {
  const { unusedSuccessorSeconds: seconds } = sessions;
  const most = Math.floor(accessTtl / 3);
  if (seconds === 0 || (graceSeconds > 0 && seconds <= most)) return [];
  return [
    `${nameOf('sessions.unusedSuccessorSeconds')} (SVC_SESSIONS_UNUSED_SUCCESSOR_SECONDS) is ${seconds}, but ` +
      (graceSeconds > 0
        ? `at most ${most} is allowed: a third of ${nameOf('accessTtl')}.`
        : `${nameOf('graceSeconds')} is 0, so no replaced token is accepted. Change one of them.`),
  ];
}

/**
 * Why the lives of sessions must not start an application. A client refreshes when its access token expires, so a shorter
 * idle time would end sessions in use.
 */
export const sessionLifeErrors = ({ guards }: Pick<AuthConfig, 'guards'>): string[] =>
  guards.flatMap((guard) => [...lifeErrors(guard), ...lateRepetitionErrors(guard), ...limitErrors(guard)]);

function lifeErrors({ accessTtl, sessions, nameOf }: GuardConfig): string[] {
  return [
    ...(sessions.idleTimeout > 0 && sessions.idleTimeout <= accessTtl
      ? [
          `${nameOf('sessions.idleTimeout')} (SVC_SESSIONS_IDLE_TIMEOUT) is ${sessions.idleTimeout}, but clients refresh a ` +
            `session only every ${accessTtl} seconds (${nameOf('accessTtl')}). Set an idle time longer than accessTtl, or a shorter accessTtl.`,
        ]
      : []),
    ...(sessions.ttlWithoutRemember > 0 && sessions.ttlWithoutRemember < accessTtl
      ? [
          `${nameOf('sessions.ttlWithoutRemember')} (SVC_SESSIONS_TTL_WITHOUT_REMEMBER) is ${sessions.ttlWithoutRemember}, but an ` +
            `access token lives for ${accessTtl} seconds (${nameOf('accessTtl')}). Set a time that is not shorter, or a shorter accessTtl.`,
        ]
      : []),
  ];
}
