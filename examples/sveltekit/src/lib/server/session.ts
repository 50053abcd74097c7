import { createHash } from 'node:crypto';

export const API = process.env.API_URL ?? 'http://localhost:3001';
/** As that of the API: `cookie.refreshName`. */
export const REFRESH = '__Host-refresh';
export const ACCESS = '__Host-access';
/** Says for some seconds that the browser has just received its cookies. */
export const RENEWED = '__Host-renewed';

/** No script can read them. */
export const HIDDEN = { httpOnly: true, secure: true, path: '/', sameSite: 'strict' } as const;

export interface Tokens {
  access: string;
  expiresIn: number;
  refresh: string;
  /** The cookie of the API. */
  setCookie: string;
}

const markOf = (refresh: string) => createHash('sha256').update(refresh).digest('base64url').slice(0, 16);

/** The cookie with the access token names the refresh token that it came with: after a sign-in it does not count. */
export const accessCookie = ({ access, refresh }: Tokens) => `${markOf(refresh)}~${access}`;

export function accessTokenIn(refresh = '', cookie = ''): string | undefined {
  const [mark, token] = cookie.split('~');
  return mark === markOf(refresh) ? token : undefined;
}

const renewals = new Map<string, Promise<Tokens | null>>();

/** Exchanges a refresh token. Pages that are rendered in parallel share one request. Null: the session has ended. */
export function renew(refresh: string, client: Record<string, string>): Promise<Tokens | null> {
  const running = renewals.get(refresh);
  if (running) return running;
  const renewal = exchange(refresh, client).finally(() => renewals.delete(refresh));
  renewals.set(refresh, renewal);
  return renewal;
}

async function exchange(refresh: string, client: Record<string, string>): Promise<Tokens | null> {
  const answer = await fetch(`${API}/auth/refresh`, {
    method: 'POST',
    // No other header of the browser: its Origin and Sec-Fetch-Site describe the request for the page.
    headers: { ...client, Cookie: `${REFRESH}=${refresh}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (answer.status === 401) return null;
  // 429 and 5xx are not about the session, and nothing was consumed.
  if (!answer.ok) throw new Error(`The session could not be renewed: ${answer.status}`);
  const { access_token: access, expires_in: expiresIn } = await answer.json();
  const setCookie = answer.headers.getSetCookie().find((line) => line.startsWith(`${REFRESH}=`));
  if (!setCookie) throw new Error('The API is not in cookie mode');
  return { access, expiresIn, refresh: setCookie.slice(REFRESH.length + 1).split(';')[0]!, setCookie };
}
