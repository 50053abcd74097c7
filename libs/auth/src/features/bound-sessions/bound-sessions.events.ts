import { event, http } from '../../kit';

/**
 * A valid token of a bound session was presented by a sender without its key. It was refused, and the session goes on: the token may
 * have been stolen.
 *
 * @publicApi
 */
export class BoundTokenRefused {
  constructor(
    readonly guard: string,
    readonly userId: string,
    /** Null for a token of a co-issuer without a session. */
    readonly familyId: string | null,
    readonly token: 'access' | 'refresh',
    /** The address of the sender; null where it is not known. */
    readonly ip: string | null,
  ) {}
}

/** Emits that a token was refused, with the address of the sender of the request. */
export function reportTheft(
  events: event.AuthEvents,
  request: object,
  { guard, userId, familyId, token }: Omit<BoundTokenRefused, 'ip'>,
): void {
  events.emit(new BoundTokenRefused(guard, userId, familyId, token, http.clientInfo(request).ip));
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.bound_token.refused': BoundTokenRefused;
  }
  interface SecurityLine {
    /** Which token of a bound session was refused. */
    readonly token?: 'access' | 'refresh';
  }
}

export const BOUND_SESSION_EVENTS: event.LoggedEvents = {
  'auth.bound_token.refused': {
    event: BoundTokenRefused,
    severity: 'warning',
    details: ({ guard, userId, familyId, token, ip }) => ({
      ...event.ofUser({ guard, userId }),
      ...(familyId !== null && { session_id: familyId }),
      token,
      ...(ip !== null && { ip }),
    }),
  },
};
