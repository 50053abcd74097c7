import { type NextRequest, NextResponse } from 'next/server';
import { REFRESH } from './mode';
import { RENEWED, accessTokenIn, cookiesFor, renew } from './session';

/**
 * Renews the access token if the request has none, also for the page that is rendered now.
 *
 * @returns the cookies for the browser; `ended`: there is no session; `unknown`: the API could not say
 */
export async function renewed(request: NextRequest): Promise<string[] | 'ended' | 'unknown'> {
  if (accessTokenIn(request.cookies)) return [];
  const refresh = request.cookies.get(REFRESH)?.value;
  if (!refresh) return 'ended';
  const tokens = await renew(refresh, request.headers).catch((error: Error) => console.error(error));
  if (!tokens) return tokens === null ? 'ended' : 'unknown';
  const answer = new NextResponse();
  for (const cookie of cookiesFor(tokens)) {
    request.cookies.set(cookie.name, cookie.value);
    answer.cookies.set(cookie);
  }
  request.cookies.set(REFRESH, tokens.refresh);
  return [...answer.headers.getSetCookie(), ...(tokens.setCookie ? [tokens.setCookie] : [])];
}

/**
 * Sends new cookies at once, with a redirect to the same address: after a slow page, the browser could have newer ones. Once
 * only, for a browser that does not keep them.
 */
export function ahead(request: NextRequest, cookies: readonly string[]): NextResponse | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (cookies.length === 0 || !isRead || request.cookies.has(RENEWED.name)) return undefined;
  const answer = NextResponse.redirect(request.url, 307);
  answer.cookies.set(RENEWED);
  return withCookies(answer, cookies);
}

export function withCookies(answer: NextResponse, cookies: readonly string[]): NextResponse {
  for (const cookie of cookies) answer.headers.append('Set-Cookie', cookie);
  return answer;
}

export const tryLater = () => new NextResponse('Please try again later.', { status: 503 });
