import { type Handle, type RequestEvent, redirect } from '@sveltejs/kit';
import { ACCESS, API, HIDDEN, REFRESH, accessCookie, accessTokenIn, renew } from './lib/server/session';

/** Who the API should see in the place of this server: for its limits, and for the list of sessions. */
const clientOf = ({ request: { headers }, getClientAddress }: RequestEvent) => ({
  // As the proxy in front of this server reports it.
  'X-Forwarded-For': headers.get('x-forwarded-for') ?? getClientAddress(),
  'User-Agent': headers.get('user-agent') ?? '',
});

export const handle: Handle = async ({ event, resolve }) => {
  const { pathname, search } = event.url;
  if (/^\/(auth|api)\//.test(pathname)) return forward(event);
  // Pages that are rendered for a user. No page that is the same for all: it could be cached.
  if (!/^\/account(\/|$)/.test(pathname)) return resolve(event);

  const refresh = event.cookies.get(REFRESH);
  let setCookie: string | undefined;
  event.locals.accessToken = accessTokenIn(refresh, event.cookies.get(ACCESS));
  if (!event.locals.accessToken) {
    const tokens = refresh ? await renew(refresh, clientOf(event)).catch(() => undefined) : null;
    if (tokens === undefined) return new Response('Please try again later.', { status: 503 });
    if (tokens === null) {
      if (refresh) for (const name of [ACCESS, REFRESH]) event.cookies.delete(name, HIDDEN);
      redirect(303, `/login?${new URLSearchParams({ next: pathname + search })}`);
    }
    event.locals.accessToken = tokens.access;
    setCookie = tokens.setCookie;
    // The browser drops it before the token expires, so the next page renews it.
    event.cookies.set(ACCESS, accessCookie(tokens), { ...HIDDEN, maxAge: Math.max(tokens.expiresIn - 10, 1) });
  }
  const response = await resolve(event);
  response.headers.set('Cache-Control', 'private, no-store');
  if (setCookie) response.headers.append('Set-Cookie', setCookie);
  return response;
};

/** The browser calls the API under the origin of the pages. */
async function forward(event: RequestEvent): Promise<Response> {
  const { method, headers: given, body } = event.request;
  const headers = new Headers(given);
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) headers.delete(name);
  for (const [name, value] of Object.entries(clientOf(event))) headers.set(name, value);
  headers.set('X-Forwarded-Host', given.get('host') ?? '');
  const init = { method, headers, body, duplex: 'half', redirect: 'manual' } as RequestInit;
  const answer = await fetch(API + event.url.pathname + event.url.search, init);
  const sent = new Headers(answer.headers);
  // `fetch` has decoded the body.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection']) sent.delete(name);
  return new Response(answer.body, { status: answer.status, headers: sent });
}
