import { AuthError } from './errors.js';
import type { BoundRequests } from './types.js';

/**
 * A refresh that never ends would keep the lock of the tabs. Two of these timeouts are one grace period of the server: a
 * repeated refresh still reaches it in time.
 */
export const TIMEOUT_MS = 15_000;

/** A storage of the host that has not answered in this time has failed: it can hang, and would keep the lock of the tabs. */
export const STORAGE_MS = 5000;

/** The wait after the first failure; it doubles with each further one. */
const RETRY_MS = 5000;
const LONGEST_RETRY_MS = 60_000;

/** The statuses that end a session. */
export const REFUSED = [401, 403];

/** The reason of the answer of `boundKey` to a refresh without the key of the session. */
export const KEY_LOST = 'key_lost';

/** In body mode, by which the server recognizes this browser. */
export interface Device {
  device_token?: string;
  trusted_device_token?: string;
}

/** The answer of routes that start or renew a session. */
export interface Tokens extends Device {
  access_token?: string;
  refresh_token?: string;
  expires_in: number;
}

const UNREACHABLE = 'The server cannot be reached. Try again later.';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A page that the browser renders before the user opens it gets no lock until then. */
export const whenShown = async (): Promise<void> => {
  const page = globalThis.document as (Document & { prerendering?: boolean }) | undefined;
  if (page?.prerendering) await new Promise((resolve) => page.addEventListener('prerenderingchange', resolve));
};

/** Is aborted after the time, and with `signal`. React Native has neither `AbortSignal.timeout` nor `AbortSignal.any`. */
export const within = (ms: number, ...signals: AbortSignal[]): AbortSignal => {
  if ('any' in AbortSignal) return AbortSignal.any([AbortSignal.timeout(ms), ...signals]);
  const own = new AbortController();
  const abort = () => {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', abort);
    own.abort();
  };
  const timer = setTimeout(abort, ms);
  for (const signal of signals)
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  return own.signal;
};

export const unreachable = (): AuthError => new AuthError(UNREACHABLE, { reason: 'unreachable' });

/** In React Native, signals have no reason. */
export const reasonOf = ({ reason }: AbortSignal): unknown =>
  reason ?? Object.assign(new Error('Aborted'), { name: 'AbortError' });

/** The result of `work`, unless the signal is aborted before. */
export const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf(signal));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    // A listener would keep the request in memory as long as the signal of the caller.
    work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });

/**
 * A call with the arguments of the last one, while that one runs, is the same call, so that a double click is one action. Not
 * so one with the arguments of an earlier call: of A, B and A, the last must take effect. A dialog of the browser may never
 * answer, so after the longest time of a request, a call is a new one.
 */
export function once<A extends unknown[], T>(work: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let key: string | undefined;
  let last: Promise<T>;
  let begun: number;
  return (...args) => {
    const next = JSON.stringify(args);
    if (key !== next || performance.now() - begun > TIMEOUT_MS) {
      const own = work(...args).finally(() => last === own && (key = undefined));
      [key, last, begun] = [next, own, performance.now()];
    }
    return last;
  };
}

/** Seconds that the server asks to wait, or null. */
export const retryAfterOf = (headers: Headers): number | null => Number(headers.get('Retry-After')) || null;

/** Milliseconds until the next attempt after a failure. */
export const waitAfter = ({ retryAfter }: AuthError, failures: number): number =>
  retryAfter ? retryAfter * 1000 : Math.min(RETRY_MS * 2 ** failures, LONGEST_RETRY_MS);

/** @param content undefined or null: the request has no body */
export function jsonRequest(method: string, content: unknown, init?: RequestInit): RequestInit {
  const headers = new Headers(init?.headers);
  const body = JSON.stringify(content ?? undefined);
  if (!headers.has('Accept')) headers.set('Accept', 'application/json');
  if (body) headers.set('Content-Type', 'application/json');
  return { cache: 'no-store', ...init, method, headers, body };
}

/** The value of a body. @throws SyntaxError for JSON that is incomplete, and for a page */
function valueOf(text: string, type: string): unknown {
  if (!/json|html|^$/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    // Nest sends a text, a number and a boolean as `text/html`.
    if (/html/.test(type) && !/^\s*</.test(text)) return text;
    throw error;
  }
}

/** Is in each answer of the guard, also in a refusal. A page of another origin can always read this header. */
const CACHING_OF_GUARD = 'no-store, private';

/**
 * @param isOwn whether the route is one of the guard's, which always answers in JSON: anything else, and a 401 or 403 without
 *   its header, comes from a proxy or a gateway
 * @returns the JSON or the text of a response; null if it is empty
 * @throws AuthError for a status that is not 2xx; the reason of an abort
 */
export async function contentOf<T>(response: Response, signal?: AbortSignal | null, isOwn?: boolean): Promise<T> {
  const { ok, status, headers } = response;
  let content;
  try {
    const text = await response.text();
    content = text ? valueOf(text, isOwn ? '' : (headers.get('Content-Type') ?? '')) : null;
  } catch {
    if (signal?.aborted) throw reasonOf(signal);
    // An incomplete answer counts as no answer. An error page of a proxy keeps its status.
    if (ok) throw unreachable();
  }
  if (ok) return content as T;
  const { message = UNREACHABLE, errors, reason = null } = (content ?? {}) as Partial<AuthError>;
  const isOfGuard = content && (!REFUSED.includes(status) || headers.get('Cache-Control')?.includes(CACHING_OF_GUARD));
  throw new AuthError(message, {
    status,
    errors: errors ?? {},
    retryAfter: retryAfterOf(headers),
    reason: isOwn && !isOfGuard ? 'unreachable' : reason,
  });
}

/** Sends a request that needs no access token. All of them are POST. */
export async function send<T>(
  url: string,
  body: unknown,
  init: RequestInit,
  carrier: BoundRequests = globalThis,
): Promise<T> {
  const request = jsonRequest('POST', body, { ...init, signal: within(TIMEOUT_MS) });
  const response = await carrier.fetch(url, request).catch(() => {
    throw unreachable();
  });
  return contentOf<T>(response, null, true);
}
