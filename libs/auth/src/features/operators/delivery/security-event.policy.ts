import type { event, session } from '../../../kit';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';

/** What has happened to a user: one session has ended, or a credential has changed. */
export type SecurityChange =
  | { readonly userId: string; readonly sessionId: string; readonly reason: session.SessionEndReason }
  | { readonly userId: string; readonly credential: event.CredentialChange };

/** Ends that no act has caused: a receiver knows the times of its own sessions. They are found long after the end, many at once. */
const OVER: readonly session.SessionEndReason[] = ['expired', 'idle'];

/** Whether receivers learn of the end of a session. Pure. */
export const isRevocation = (reason: session.SessionEndReason): boolean => !OVER.includes(reason);

/**
 * The claims `sub_id` (RFC 9493) and `events` (OpenID CAEP 1.0 §3.1, §3.3) of an event. Pure.
 *
 * @param issuer of the user id
 * @param seconds time of the event
 */
export function caepClaims(of: SecurityChange, issuer: string, seconds: number): { sub_id: object; events: object } {
  const user = { format: 'iss_sub', iss: issuer, sub: of.userId };
  if ('credential' in of) {
    const { credential, change } = of.credential;
    const details = { credential_type: credential, change_type: change, event_timestamp: seconds };
    return { sub_id: user, events: { [`${CAEP}/credential-change`]: details } };
  }
  const details = { event_timestamp: seconds, reason_admin: { en: of.reason } };
  return {
    sub_id: { format: 'complex', user, session: { format: 'opaque', id: of.sessionId } },
    events: { [`${CAEP}/session-revoked`]: details },
  };
}

/** What an attempt has led to. `refused`: the receiver has judged the token (RFC 8935 §2.3). `failed`: it was not judged. */
export type PushOutcome = 'accepted' | 'refused' | 'failed';

/** RFC 8935 §2.2: 202. Other statuses of success are no other answer. Pure. */
export function pushOutcome(status: number): PushOutcome {
  if (status >= 200 && status < 300) return 'accepted';
  return status === 400 ? 'refused' : 'failed';
}

/** Longest pause between two attempts, in seconds. */
const LONGEST = 300;

/** Seconds before the next attempt after some that have failed. Pure. */
export const pauseAfter = (failures: number): number => Math.min(2 ** failures, LONGEST);

/** Attempts of a token that is refused: for a quarter of an hour, so that a receiver has read the keys again. */
const REFUSALS = 10;

/** The longest time in seconds for which a receiver can ask. */
const LONGEST_ASKED = 3600;

/** The seconds of the header `Retry-After` (RFC 9110 §10.2.3), up to an hour; 0 without a valid one. Pure. */
export function askedPause(header: string | null, now: Date): number {
  const text = header ?? '';
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now.getTime()) / 1000);
  return Math.min(Math.max(seconds || 0, 0), LONGEST_ASKED);
}

/**
 * Seconds before the next attempt; null if the token is given up. One that was not judged is given up by its age. Pure.
 *
 * @param asked by the receiver
 */
export const nextAttempt = (outcome: PushOutcome, attempts: number, asked = 0): number | null =>
  outcome === 'refused' && attempts >= REFUSALS ? null : Math.max(pauseAfter(attempts), asked);
