/** The name of the parameter in the query of a URL. */
export const PARAMETER = 'ticket';

/** Longest life of a ticket in seconds. */
export const LONGEST = 60;

/** A request target (path and query) without tickets, and the tickets that it had. */
export interface Presented {
  readonly target: string;
  readonly tickets: readonly string[];
}

/**
 * Splits the tickets from a request target. Pure. The rest is not decoded and keeps its order, so that it can be compared as text.
 * A name that is written in another way, such as `%74icket`, stays in the rest, which then differs from the target of every ticket.
 */
export function presentedIn(url: string): Presented {
  const [path = '', ...queries] = url.split('?');
  const parts = queries.join('?').split('&');
  const tickets = parts.filter(isTicket).map((part) => part.slice(PARAMETER.length + 1));
  if (!tickets.length) return { target: url, tickets };
  const query = parts.filter((part) => !isTicket(part)).join('&');
  return { target: query ? `${path}?${query}` : path, tickets };
}

const isTicket = (part: string): boolean => part === PARAMETER || part.startsWith(`${PARAMETER}=`);

/** Only its own path and query count, so any origin serves to read a target. */
const BASE = 'http://localhost';

/**
 * The path and query of a target as a browser sends them: `/a b` becomes `/a%20b`. Pure. Null for what is no path with an optional
 * query: a URL with an origin or a fragment, and a query with a ticket.
 */
export function targetOf(text: unknown): string | null {
  if (typeof text !== 'string' || !text.startsWith('/') || text.includes('#')) return null;
  const url = URL.canParse(text, BASE) ? new URL(text, BASE) : null;
  if (!url || url.origin !== BASE || url.pathname.startsWith('//') || url.searchParams.has(PARAMETER)) return null;
  return url.pathname + url.search;
}

/** Whether a ticket can be valid for a number of seconds. Pure. */
export const isLife = (seconds: unknown): boolean =>
  Number.isInteger(seconds) && (seconds as number) >= 1 && (seconds as number) <= LONGEST;

/**
 * The ticket that a request presents; null if none of its tickets can be accepted. Pure. Only a request that changes nothing can
 * have one: a `GET`, which is also the method of the WebSocket handshake. Of two tickets none is read, as of two tokens.
 */
export function acceptableTicket(method: string | undefined, tickets: readonly string[]): string | null {
  const [ticket = '', ...others] = tickets;
  return method === 'GET' && !others.length && /^[0-9a-f]{64}$/.test(ticket) ? ticket : null;
}

/** What a ticket was issued for. */
export interface TicketUse {
  /** The guard of its caller. */
  readonly guard: string;
  readonly target: string;
}

/** Whether a ticket is for a request. Pure. Paths and queries are compared as text. */
export const isFor = (issued: TicketUse, requested: TicketUse): boolean =>
  issued.guard === requested.guard && issued.target === requested.target;
