import { type NextRequest, NextResponse } from 'next/server';
import { forward } from './forward';
import { REFRESH } from './mode';
import { ahead, renewed, tryLater, withCookies } from './renewal';
import { API, PAGE, noCookies } from './session';

/** The pages of a user, and the paths of the API. A page that is the same for all could be cached with its cookies. */
export const config = { matcher: ['/account/:path*', '/auth/:path*', '/api/:path*'] };

export async function proxy(request: NextRequest) {
  const answer = await answerTo(request);
  // Next lets caches keep an answer without a page, such as that for `/%61ccount`: others would get the cookies.
  answer.headers.set('Cache-Control', 'private, no-store');
  return answer;
}

async function answerTo(request: NextRequest): Promise<NextResponse> {
  const { pathname, search } = request.nextUrl;
  if (/^\/(auth|api)\//.test(pathname)) return forward(request, new URL(pathname + search, API));
  request.headers.set(PAGE, pathname + search);
  const cookies = await renewed(request);
  if (cookies === 'unknown') return tryLater();
  if (cookies !== 'ended') return ahead(request, cookies) ?? withCookies(NextResponse.next({ request }), cookies);

  const query = new URLSearchParams({ next: pathname + search });
  const login = NextResponse.redirect(new URL(`/login?${query}`, request.url));
  if (request.cookies.has(REFRESH)) for (const cookie of noCookies()) login.cookies.set(cookie);
  return login;
}
