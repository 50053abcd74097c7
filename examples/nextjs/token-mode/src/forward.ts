import { type NextRequest, NextResponse } from 'next/server';
import { ahead, renewed, tryLater, withCookies } from './renewal';
import { send } from './send';
import { accessTokenIn } from './session';

/**
 * Sends a request of a page to the API, with the access token of its user. A cache in front sees no `Authorization`, so what
 * the API says about caches must not count: see `proxy`.
 */
export async function forward(request: NextRequest, target: URL): Promise<NextResponse> {
  if (target.pathname.startsWith('/auth/')) return new NextResponse(null, { status: 404 });
  // The cookies of this server are the credentials, so it must check which page sends them.
  if (!isOwnPage(request)) return new NextResponse(null, { status: 403 });
  const cookies = await renewed(request);
  if (cookies === 'unknown') return tryLater();
  if (cookies === 'ended') return new NextResponse(null, { status: 401 });
  const first = ahead(request, cookies);
  if (first) return first;
  const headers = new Headers(request.headers);
  headers.delete('cookie');
  headers.set('Authorization', `Bearer ${accessTokenIn(request.cookies)}`);
  return withCookies(await send(request, target, headers), cookies);
}

/** The rule of the library for the origin, for changes. */
function isOwnPage({ method, headers }: NextRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site) return site === 'same-origin';
  return !origin || (URL.canParse(origin) && new URL(origin).host === headers.get('host'));
}
