import { type LoggedEvents, ofSession } from '../../foundation/realm/log-events';
import type { ClientInfo } from '../../request/http/client-info';

/** The reasons for which sessions end. A feature that ends sessions adds its own, by merging into this interface. */
export interface SessionEndReasons {
  /** The user signed out of this session. */
  logout: true;
  /** The user, the host or an operator ended it, alone or with all others. */
  revoked: true;
  /** The user ended all sessions except another one. */
  others: true;
  /** A replaced refresh token was used after the grace period. */
  reuse: true;
  /** The user had more than `sessions.maxPerUser` sessions, and this one was the least recently used. */
  cap: true;
  /** The account was deleted. */
  erased: true;
  /** Its deadline has passed. */
  expired: true;
  /** It was not refreshed for `sessions.idleTimeout`, or for its own idle time. */
  idle: true;
  /** At a refresh, the user did not exist any more, or `hooks.canSignIn` refused the user. */
  disabled: true;
}

/**
 * Why a session ended.
 *
 * @publicApi
 */
export type SessionEndReason = keyof SessionEndReasons;

/** Whether the user has signed in on a device before. */
export type SignInDevice = 'known' | 'new';

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
    readonly familyId: string,
    /** The client that started the session. */
    readonly client: ClientInfo,
    /** The authentication methods of the user (RFC 8176). */
    readonly amr: readonly string[],
    /** Whether the user has signed in on the device before; null where devices are not recorded, and without a sign-in. */
    readonly device: SignInDevice | null,
  ) {}
}

/**
 * A session has ended, and none of its tokens is accepted any more. Emitted once, after the commit. For a session that
 * is expired or idle, it is emitted when a refresh or the pruning finds it, possibly long after its end. If PostgreSQL lost the
 * end in a failover, it is emitted again when the session is ended again.
 *
 * @publicApi
 */
export class SessionEnded {
  constructor(
    readonly guard: string,
    readonly userId: string,
    /** The `fid` claim of its access tokens. */
    readonly familyId: string,
    /** The client that started the session. */
    readonly client: ClientInfo,
    /** The authentication methods of the user (RFC 8176). */
    readonly amr: readonly string[],
    readonly reason: SessionEndReason,
  ) {}
}

/**
 * PostgreSQL had lost rotations of a session, for example in a failover to a standby that was behind. The session
 * continues from the refresh token of its client.
 *
 * @publicApi
 */
export class SessionRecovered {
  constructor(
    readonly guard: string,
    readonly userId: string,
    readonly familyId: string,
    /** Number of lost rotations. */
    readonly lost: number,
  ) {}
}

/**
 * The current refresh token of a session has more than `forkThreshold` holders, because replaced tokens were used again within
 * the grace period. Emitted once for each refresh token, at the replay that exceeds the threshold. The cause is a client that
 * retries in a loop, or a fast attacker with a stolen token.
 *
 * Also emitted for each late repetition (`sessions.unusedSuccessorSeconds`): a client without a network has lost an answer, or there
 * are two holders.
 *
 * @publicApi
 */
export class RefreshFamilyForked {
  constructor(
    readonly userId: string,
    readonly familyId: string,
    /**
     * Number of requests that were answered with the current refresh token: `forkThreshold` and one, or at a late repetition any
     * number from 2.
     */
    readonly holders: number,
    readonly guard: string,
  ) {}
}

/**
 * A replaced refresh token was used after the grace period, so a copy of it exists. Emitted after the session was ended,
 * and only for sessions that ended for this reason.
 *
 * @publicApi
 */
export class RefreshTokenReused {
  readonly reason = 'reuse';

  constructor(
    readonly familyId: string,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.refresh_token.reused': RefreshTokenReused;
    'auth.session.forked': RefreshFamilyForked;
    'auth.session.started': SessionStarted;
    'auth.session.ended': SessionEnded;
    'auth.session.recovered': SessionRecovered;
  }
}

export const SESSION_EVENTS: LoggedEvents = {
  'auth.refresh_token.reused': {
    event: RefreshTokenReused,
    severity: 'warning',
    details: ({ guard, familyId }) => ({ guard, session_id: familyId }),
    counter: ['svc.auth.refresh_token.reuses'],
  },
  'auth.session.forked': { event: RefreshFamilyForked, severity: 'warning', details: ofSession },
  'auth.session.started': {
    event: SessionStarted,
    severity: 'info',
    details: (event) => ({ ...ofSession(event), ...(event.device && { purpose: event.device }) }),
    counter: ['svc.auth.sessions.started', 'guard'],
  },
  'auth.session.ended': {
    event: SessionEnded,
    severity: 'info',
    details: (event) => ({ ...ofSession(event), purpose: event.reason }),
    counter: ['svc.auth.sessions.ended', 'guard', 'purpose'],
  },
  'auth.session.recovered': {
    event: SessionRecovered,
    severity: 'warning',
    details: ofSession,
    counter: ['svc.auth.sessions.recovered', 'guard'],
  },
};
