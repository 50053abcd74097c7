import { type NextRequest, NextResponse } from 'next/server';
import { renewed, tryLater, withCookies } from './renewal';
import { accessTokenIn } from './session';

/** Token mode: sends a request of a page to the API, with the access token of its user. */
export async function forwardAsUser(request: NextRequest, target: URL): Promise<NextResponse> {
  if (target.pathname.startsWith('/auth/')) return new NextResponse(null, { status: 404 });
  // The cookies of this server are the credentials, so it must check which page sends them.
  if (!isOwnPage(request)) return new NextResponse(null, { status: 403 });
  const cookies = await renewed(request);
  if (cookies === 'unknown') return tryLater();
  if (cookies === 'ended') return new NextResponse(null, { status: 401 });
  const headers = new Headers(request.headers);
  headers.set('Authorization', `Bearer ${accessTokenIn(request.cookies)}`);
  headers.delete('Cookie');
  return withCookies(NextResponse.rewrite(target, { request: { headers } }), cookies);
}

/** The rule of the library for the origin, for changes. */
function isOwnPage({ method, headers }: NextRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site) return site === 'same-origin';
  return !origin || (URL.canParse(origin) && new URL(origin).host === headers.get('host'));
}
