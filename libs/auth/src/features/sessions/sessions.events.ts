import type { ClientInfo } from '../../request/throttling/clients';

/**
 * Why a session ended.
 *
 * - `logout`: its user signed it out.
 * - `revoked`: its user, the host or an operator ended it, alone or with all others.
 * - `others`: its user ended all sessions but one, or changed the password in another one (`password_change`).
 * - `password_reset`: the password was reset by mail.
 * - `reuse`: a replaced refresh token came back after the grace period.
 * - `cap`: its user had `sessions.maxPerUser` sessions, and it was the one used longest ago.
 * - `erased`: the account was deleted.
 * - `expired`: its deadline has passed.
 *
 * @publicApi
 */
export type SessionEndReason =
  'logout' | 'revoked' | 'others' | 'password_change' | 'password_reset' | 'reuse' | 'cap' | 'erased' | 'expired';

/**
 * A session has started: a login, a registration that signs in, or `auth.startSession()`.
 *
 * @publicApi
 */
export class SessionStarted {
  constructor(
    readonly guard: string,
    readonly userId: string,
    /** The `fid` claim of its access tokens. */
    readonly sessionId: string,
    /** Where it was started from. */
    readonly client: ClientInfo,
    /** How its user authenticated (RFC 8176). */
    readonly amr: readonly string[],
  ) {}
}

/**
 * A session has ended, and no token of it is accepted any more. Emitted once, after the commit; for one that
 * expired where a refresh or the pruning notices it, so possibly long after the deadline. Where PostgreSQL lost the end
 * in a failover, it is emitted again when the session is ended again.
 *
 * @publicApi
 */
export class SessionEnded {
  constructor(
    readonly guard: string,
    readonly userId: string,
    /** The `fid` claim of its access tokens. */
    readonly sessionId: string,
    /** Where it was started from. */
    readonly client: ClientInfo,
    /** How its user had authenticated (RFC 8176). */
    readonly amr: readonly string[],
    readonly reason: SessionEndReason,
  ) {}
}

/**
 * PostgreSQL had lost rotations of a session, as after a failover to a standby that lagged behind. The session went on
 * from the refresh token that its client had.
 *
 * @publicApi
 */
export class SessionRecovered {
  constructor(
    readonly guard: string,
    readonly userId: string,
    readonly sessionId: string,
    /** Rotations that were lost. */
    readonly lost: number,
  ) {}
}

/**
 * The current refresh token of a session was handed out more often than `forkThreshold`, because former ones came back
 * inside the grace period. A client that retries without end looks the same as a thief who is quick.
 *
 * @publicApi
 */
export class RefreshFamilyForked {
  constructor(
    readonly userId: string,
    readonly familyId: string,
    /** How often the current refresh token was handed out. */
    readonly liveTokens: number,
  ) {}
}

/**
 * A replaced refresh token came back after the grace window: someone has a copy. Emitted after the
 * session was ended, and for this reason only.
 *
 * @publicApi
 */
export class RefreshTokenReused {
  readonly reason = 'reuse';

  constructor(readonly familyId: string) {}
}
