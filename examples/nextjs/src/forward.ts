import { type NextRequest, NextResponse } from 'next/server';
import { ahead, renewed, tryLater, withCookies } from './renewal';
import { accessTokenIn } from './session';

/** Headers of one connection, and of a body that `fetch` decodes. */
const OF_CONNECTION = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'accept-encoding'];

/**
 * Token mode: sends a request of a page to the API, with the access token of its user. It is no rewrite: a cache in front sees
 * no `Authorization`, so what the API says about caches must not count.
 */
export async function forwardAsUser(request: NextRequest, target: URL): Promise<NextResponse> {
  if (target.pathname.startsWith('/auth/')) return new NextResponse(null, { status: 404 });
  // The cookies of this server are the credentials, so it must check which page sends them.
  if (!isOwnPage(request)) return new NextResponse(null, { status: 403 });
  const cookies = await renewed(request);
  if (cookies === 'unknown') return tryLater();
  if (cookies === 'ended') return new NextResponse(null, { status: 401 });
  const first = ahead(request, cookies);
  if (first) return first;
  const headers = new Headers(request.headers);
  for (const name of ['cookie', ...OF_CONNECTION]) headers.delete(name);
  headers.set('Authorization', `Bearer ${accessTokenIn(request.cookies)}`);
  const { method, body } = request;
  const init = { method, headers, body, duplex: 'half', redirect: 'manual', cache: 'no-store' } as RequestInit;
  const answer = await fetch(target, init).catch(() => undefined);
  if (!answer) return withCookies(new NextResponse(null, { status: 502 }), cookies);
  const sent = new Headers(answer.headers);
  for (const name of ['content-encoding', ...OF_CONNECTION]) sent.delete(name);
  return withCookies(new NextResponse(answer.body, { status: answer.status, headers: sent }), cookies);
}

/** The rule of the library for the origin, for changes. */
function isOwnPage({ method, headers }: NextRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site) return site === 'same-origin';
  return !origin || (URL.canParse(origin) && new URL(origin).host === headers.get('host'));
}
