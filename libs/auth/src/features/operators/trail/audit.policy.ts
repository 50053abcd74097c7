import type { event, session } from '../../../kit';

/** Who did something: the user, an operator, code of the host, a command of the console, or the library. */
export interface AuditActor {
  readonly kind: 'user' | 'operator' | 'host' | 'console' | 'system';
  /** The guard of an operator. */
  readonly guard?: string;
  /** The id of an operator. */
  readonly id?: string;
}

/** The ends of sessions that the library decides on. */
const BY_LIBRARY: readonly session.SessionEnding[] = ['reuse', 'cap', 'expired', 'idle', 'disabled', 'discarded'];

/**
 * Who ended a session. Pure.
 *
 * @param acting who has declared to act
 * @param inRequest whether it ended in a request to the library
 */
export function enderOf(reason: session.SessionEnding, acting: AuditActor | undefined, inRequest: boolean): AuditActor {
  if (BY_LIBRARY.includes(reason)) return { kind: 'system' };
  if (acting) return acting;
  // Every other reason is that of a request, whose work may continue after the response.
  const byHost = (reason === 'revoked' || reason === 'erased') && !inRequest;
  return { kind: byHost ? 'host' : 'user' };
}

const OUTCOME = /^auth\.\w+\.(succeeded|challenged|failed)$/;

/** Refusals that say nothing about who tries to use the account. */
const UNTOLD = /^(expired_token|hasher_busy|other|store_unavailable|too_many_requests|unexpected|validation_failed)$/;

/** The outcome of a line of the security log; an event is a success, unless something was refused. */
export const outcomeOf = (name: string): event.Outcome =>
  (OUTCOME.exec(name)?.[1] ?? (name.endsWith('.refused') ? 'failed' : 'succeeded')) as event.Outcome;

/**
 * Who caused a line of the security log: the outcome of a request is that of a client; an event outside a request is caused by
 * code of the host, or by a sweep. Pure.
 */
export function causerOf(name: string, acting: AuditActor | undefined, inRequest: boolean): AuditActor {
  return acting ?? { kind: inRequest || OUTCOME.test(name) ? 'user' : 'system' };
}

/**
 * Whether a line of the security log becomes one of a history. Pure. Those of sessions and of operators are written in the
 * transaction of the change.
 */
export function isTaken({ event: name, user_id, reason }: event.SecurityLine, startsSession: boolean): boolean {
  if (!user_id || startsSession || /^auth\.(session\.(started|ended)$|guard\.|operator\.)/.test(name)) return false;
  return !(name.endsWith('.failed') && UNTOLD.test(reason ?? ''));
}

/** The number of lines of a page, by default and at most. */
export const [PAGE, MOST] = [50, 100];

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A part of a history: the lines before one, the newest first. */
export interface HistoryQuery {
  /** The id of a line; by default the newest lines. */
  readonly before?: string | null;
  /** 1 to 100; by default 50. */
  readonly limit?: number;
}

/** A query as a request has it. */
export type AskedPage = { readonly [Field in keyof HistoryQuery]: unknown };

/** The name of the first field of a query that is invalid; null for none. Pure. */
export function invalidField({ before, limit = PAGE }: AskedPage): keyof HistoryQuery | null {
  if (before !== undefined && before !== null && !(typeof before === 'string' && ID.test(before))) return 'before';
  const isCount = typeof limit === 'number' || typeof limit === 'string';
  return isCount && /^\d+$/.test(String(limit)) && Number(limit) >= 1 && Number(limit) <= MOST ? null : 'limit';
}
