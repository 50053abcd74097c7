import { createHash } from 'node:crypto';
import { REFRESH, SAME_SITE, refreshRequest, tokensOf } from './mode';

export const API = process.env.API_URL ?? 'http://localhost:3001';
const ACCESS = '__Host-access';
/** The header in which the proxy names the page, so that the login leads back to it. */
export const PAGE = 'x-page';

/** No script can read them. */
const HIDDEN = { httpOnly: true, secure: true, path: '/', sameSite: SAME_SITE } as const;

/** What the API has answered to a sign-in or a refresh. */
export interface Tokens {
  access: string;
  expiresIn: number;
  refresh: string;
  /** The cookie of the API, in cookie mode. */
  setCookie?: string;
}

interface Jar {
  get(name: string): { value: string } | undefined;
}

const markOf = (refresh: string) => createHash('sha256').update(refresh).digest('base64url').slice(0, 16);

/**
 * The access token in the cookies. Its cookie names the refresh token that it came with: after a sign-in or a sign-out, the
 * token of the former user does not count.
 */
export function accessTokenIn(jar: Jar): string | undefined {
  const refresh = jar.get(REFRESH)?.value;
  const [mark, token] = jar.get(ACCESS)?.value.split('~') ?? [];
  return refresh && mark === markOf(refresh) ? token : undefined;
}

/** The cookies of the browser. The API sets that of the refresh token itself, in cookie mode. */
export function cookiesFor({ access, expiresIn, refresh, setCookie }: Tokens) {
  const cookie = {
    ...HIDDEN,
    name: ACCESS,
    value: `${markOf(refresh)}~${access}`,
    // The browser drops it before the token expires, so the next page renews it.
    maxAge: Math.max(expiresIn - 10, 1),
  };
  const ofRefresh = { ...HIDDEN, name: REFRESH, value: refresh, maxAge: 400 * 86_400 };
  return setCookie ? [cookie] : [cookie, ofRefresh];
}

/** Says for some seconds that the browser has just received its cookies. */
export const RENEWED = { ...HIDDEN, name: '__Host-renewed', value: '1', maxAge: 10 };

/** The cookies that remove the session from the browser. */
export const noCookies = () => [ACCESS, REFRESH].map((name) => ({ ...HIDDEN, name, value: '', maxAge: 0 }));

/** Who the API should see in the place of this server: for its limits, and for the list of sessions. */
export function clientOf(headers: Headers): Record<string, string> {
  const [address, agent] = [headers.get('x-forwarded-for'), headers.get('user-agent')];
  return { ...(address && { 'X-Forwarded-For': address }), ...(agent && { 'User-Agent': agent }) };
}

const renewals = new Map<string, Promise<Tokens | null>>();

/** Exchanges a refresh token. Pages that are rendered in parallel share one request. Null: the session has ended. */
export function renew(refresh: string, headers: Headers): Promise<Tokens | null> {
  const running = renewals.get(refresh);
  if (running) return running;
  const renewal = exchange(refresh, headers).finally(() => renewals.delete(refresh));
  renewals.set(refresh, renewal);
  return renewal;
}

async function exchange(refresh: string, headers: Headers): Promise<Tokens | null> {
  const { headers: ofMode, body } = refreshRequest(refresh);
  const answer = await fetch(`${API}/auth/refresh`, {
    method: 'POST',
    // No other header of the browser: its Origin and Sec-Fetch-Site describe the request for the page.
    headers: { ...clientOf(headers), ...ofMode },
    body,
    cache: 'no-store',
    signal: AbortSignal.timeout(10_000),
  });
  if (answer.status === 401) return null;
  // 429 and 5xx are not about the session, and nothing was consumed.
  if (!answer.ok) throw new Error(`The session could not be renewed: ${answer.status}`);
  return tokensOf(answer);
}
