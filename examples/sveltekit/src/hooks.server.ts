import { type Handle, type RequestEvent, redirect } from '@sveltejs/kit';
import { ACCESS, API, HIDDEN, REFRESH, RENEWED, accessCookie, accessTokenIn, renew } from './lib/server/session';

/** Who the API should see in the place of this server: for its limits, and for the list of sessions. */
const clientOf = ({ request: { headers }, getClientAddress }: RequestEvent) => ({
  // Of the connection, or of the header that `ADDRESS_HEADER` names.
  'X-Forwarded-For': getClientAddress(),
  'User-Agent': headers.get('user-agent') ?? '',
});

export const handle: Handle = async ({ event, resolve }) => {
  if (/^\/(auth|api)\//.test(event.url.pathname)) return forward(event);
  // Pages that are rendered for a user. No page that is the same for all: it could be cached. The route decides, because a path
  // has several spellings, such as `/%61ccount`.
  if (!/^\/account(\/|$)/.test(event.route.id ?? '')) return resolve(event);
  const response = await answerTo(event, resolve);
  response.headers.set('Cache-Control', 'private, no-store');
  return response;
};

async function answerTo(event: RequestEvent, resolve: Parameters<Handle>[0]['resolve']): Promise<Response> {
  const { cookies, locals, isDataRequest } = event;
  const { pathname, search } = event.url;
  const refresh = cookies.get(REFRESH);
  locals.accessToken = accessTokenIn(refresh, cookies.get(ACCESS));
  if (locals.accessToken) return resolve(event);

  const tokens = refresh ? await renew(refresh, clientOf(event)).catch(() => undefined) : null;
  if (tokens === undefined) return new Response('Please try again later.', { status: 503 });
  if (tokens === null) {
    const login = `/login?${new URLSearchParams({ next: pathname + search })}`;
    const names = refresh ? [ACCESS, REFRESH] : [];
    if (isDataRequest) {
      // SvelteKit puts this redirect into JSON, which no cache may keep either.
      for (const name of names) cookies.delete(name, HIDDEN);
      redirect(303, login);
    }
    const lines = names.map((name) => cookies.serialize(name, '', { ...HIDDEN, maxAge: 0 }));
    return redirectTo(303, login, lines);
  }
  locals.accessToken = tokens.access;
  // The browser drops it before the token expires, so the next page renews it.
  const maxAge = Math.max(tokens.expiresIn - 10, 1);
  const lines = [tokens.setCookie, cookies.serialize(ACCESS, accessCookie(tokens), { ...HIDDEN, maxAge })];
  // At once: after a slow page, the browser could have newer ones. Once only, for a browser that does not keep them.
  if (!isDataRequest && event.request.method === 'GET' && !cookies.get(RENEWED)) {
    lines.push(cookies.serialize(RENEWED, '1', { ...HIDDEN, maxAge: 10 }));
    return redirectTo(307, pathname + search, lines);
  }
  const response = await resolve(event);
  for (const line of lines) response.headers.append('Set-Cookie', line);
  return response;
}

function redirectTo(status: number, location: string, lines: string[]): Response {
  const headers = new Headers({ Location: location });
  for (const line of lines) headers.append('Set-Cookie', line);
  return new Response(null, { status, headers });
}

/** The browser calls the API under the origin of the pages. */
async function forward(event: RequestEvent): Promise<Response> {
  const { method, headers: given, body } = event.request;
  const headers = new Headers(given);
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'])
    headers.delete(name);
  for (const [name, value] of Object.entries(clientOf(event))) headers.set(name, value);
  headers.set('X-Forwarded-Host', given.get('host') ?? '');
  const init = { method, headers, body, duplex: 'half', redirect: 'manual' } as RequestInit;
  const answer = await fetch(API + event.url.pathname + event.url.search, init);
  const sent = new Headers(answer.headers);
  // `fetch` has decoded the body.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection']) sent.delete(name);
  return new Response(answer.body, { status: answer.status, headers: sent });
}
