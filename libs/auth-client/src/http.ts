import { AuthError } from './errors.js';

/**
 * A refresh that never ends would keep the lock of the tabs. Two of these timeouts are one grace period of the server: a
 * repeated refresh still reaches it in time.
 */
export const TIMEOUT_MS = 15_000;

/** The wait after the first failure; it doubles with each further one. */
const RETRY_MS = 5000;
const LONGEST_RETRY_MS = 60_000;

const UNREACHABLE = 'The server cannot be reached. Try again later.';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const unreachable = (): AuthError => new AuthError(UNREACHABLE, { reason: 'unreachable' });

/** Seconds that the server asks to wait, or null. */
export const retryAfterOf = (headers: Headers): number | null => Number(headers.get('Retry-After')) || null;

/** Milliseconds until the next attempt after a failure. */
export const waitAfter = ({ retryAfter }: AuthError, failures: number): number =>
  retryAfter ? retryAfter * 1000 : Math.min(RETRY_MS * 2 ** failures, LONGEST_RETRY_MS);

/** @param content undefined or null: the request has no body */
export function jsonRequest(method: string, content: unknown, init?: RequestInit): RequestInit {
  const headers = new Headers(init?.headers);
  const body = JSON.stringify(content ?? undefined);
  headers.set('Accept', 'application/json');
  if (body) headers.set('Content-Type', 'application/json');
  return { cache: 'no-store', ...init, method, headers, body };
}

/**
 * @param isOwn whether the route is one of the server's, which always answers in JSON: anything else comes from a proxy
 * @returns the JSON of a response; null if it has none
 * @throws AuthError for a status that is not 2xx; the reason of an abort
 */
export async function contentOf<T>(response: Response, signal?: AbortSignal | null, isOwn?: true): Promise<T> {
  let content;
  try {
    content = JSON.parse((await response.text()) || 'null');
  } catch {
    signal?.throwIfAborted();
    // An incomplete answer counts as no answer. An error page of a proxy keeps its status.
    if (response.ok) throw unreachable();
  }
  if (response.ok) return content;
  const { message = UNREACHABLE, errors, reason = null } = content ?? {};
  throw new AuthError(message, {
    status: response.status,
    errors: errors ?? {},
    retryAfter: retryAfterOf(response.headers),
    reason: isOwn && !content ? 'unreachable' : reason,
  });
}

/** Sends a request that needs no access token. All of them are POST. */
export async function send<T>(url: string, body: unknown, init: RequestInit): Promise<T> {
  const request = jsonRequest('POST', body, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const response = await fetch(url, request).catch(() => {
    throw unreachable();
  });
  return contentOf<T>(response, null, true);
}
