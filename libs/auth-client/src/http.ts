import { AuthError } from './errors.js';

/**
 * A refresh that never ends would keep the lock of the tabs. Two of these timeouts are one grace period of the server: a
 * repeated refresh still reaches it in time.
 */
export const TIMEOUT_MS = 15_000;

const UNREACHABLE = 'The server cannot be reached. Try again later.';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const unreachable = (): AuthError => new AuthError(UNREACHABLE, { reason: 'unreachable' });

/** Seconds that the server asks to wait, or null. */
export const retryAfterOf = ({ headers }: Response): number | null => Number(headers.get('Retry-After')) || null;

export function jsonRequest(method: string, body: unknown, init?: RequestInit): RequestInit {
  const headers = new Headers(init?.headers);
  headers.set('Accept', 'application/json');
  if (body) headers.set('Content-Type', 'application/json');
  return { cache: 'no-store', redirect: 'error', ...init, method, headers, body: body ? JSON.stringify(body) : null };
}

/**
 * @param isOwn whether the route is one of the server's, which always answers in JSON: anything else comes from a proxy
 * @returns the JSON of a response; null if it has none
 * @throws AuthError for a status that is not 2xx; the reason of an abort
 */
export async function contentOf<T>(response: Response, signal?: AbortSignal | null, isOwn?: true): Promise<T> {
  let content;
  try {
    const text = await response.text();
    content = text ? JSON.parse(text) : null;
  } catch {
    signal?.throwIfAborted();
    // An answer that was cut off is no answer. An error page of a proxy has its status.
    if (response.ok) throw unreachable();
  }
  if (response.ok) return content;
  const { message = UNREACHABLE, errors = {} } = content ?? {};
  const reason = isOwn && !content ? 'unreachable' : null;
  throw new AuthError(message, { status: response.status, errors, retryAfter: retryAfterOf(response), reason });
}

/** Sends a request that needs no access token. */
export async function send<T>(url: string, method: string, body?: unknown, isWithCookie = false): Promise<T> {
  const init = jsonRequest(method, body, {
    credentials: isWithCookie ? 'include' : 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const response = await fetch(url, init).catch(() => {
    throw unreachable();
  });
  return contentOf<T>(response, null, true);
}
