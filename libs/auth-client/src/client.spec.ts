import { AuthError } from './errors.js';
import { createAuthClient } from './client.js';
import type { AuthClient } from './types.js';
import { FakeServer, INVALID, LOGIN, ORDERS, URL_OF_GUARD, eventsOf, pass, useClock } from './server.testkit.js';

describe('the client', () => {
  let server: FakeServer;

  beforeEach(() => void (server = new FakeServer()));
  afterEach(() => {
    jest.useRealTimers();
    server.stop();
  });

  it('signs in, reads the claims, sends the token, and signs out', async () => {
    const client = server.client();
    const events = eventsOf(client);
    expect(client.session).toBeNull();
    expect(await client.login(LOGIN)).toBeNull();
    expect(client.session).toMatchObject({ claims: { sub: 'ada', fid: 'session-1', name: 'Zoë' }, lifetime: 900_000 });
    expect(await client.request('GET', ORDERS)).toMatchObject({ token: `Bearer ${client.session!.token}` });
    await client.logout();
    expect(client.session).toBeNull();
    expect(events).toEqual(['signedIn login', 'signedOut logout']);
  });

  it('returns a login challenge without a session', async () => {
    const challenge = { two_factor: true, challenge_token: 'c', methods: ['totp'] };
    server.answer = ({ path }) => (path === '/auth/login' ? { body: challenge } : undefined);
    const client = server.client();
    expect(await client.login(LOGIN)).toEqual(challenge);
    expect(client.session).toBeNull();
  });

  it('rejects a refused request with status, messages and the time to wait', async () => {
    const errors = { email: ['Too many attempts.'] };
    server.answer = () => ({ status: 429, body: { message: 'Wait.', errors }, headers: { 'Retry-After': '30' } });
    const error: AuthError = await server
      .client()
      .login(LOGIN)
      .catch((refusal) => refusal);
    expect(error).toBeInstanceOf(AuthError);
    expect(error).toMatchObject({ status: 429, message: 'Wait.', errors, retryAfter: 30, reason: null });
  });

  it.each([
    ['no answer', () => 'lost' as const],
    ['an answer that is not JSON', () => ({ text: '<html>' })],
  ])('rejects a request with %s as unreachable', async (_, answer) => {
    const client = await server.signedIn();
    server.answer = ({ path }) => (path === '/orders' ? answer() : undefined);
    await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 0, reason: 'unreachable' });
  });

  describe('renews', () => {
    it('a refused token once, and sends the request again', async () => {
      const client = await server.signedIn();
      const { token } = client.session!;
      server.answer = ({ path, headers }) =>
        path === '/orders' && headers.get('Authorization') === `Bearer ${token}`
          ? { status: 401, body: {}, headers: INVALID }
          : undefined;
      expect(await client.request('POST', ORDERS, { item: 1 })).toMatchObject({ sent: { item: 1 } });
      expect(server.count('/auth/refresh')).toBe(1);
      expect(server.count('/orders')).toBe(2);
    });

    it('with a new request when the page asks, after the end of a renewal that was sent before', async () => {
      const client = await server.signedIn();
      let arrived!: () => void;
      const sent = new Promise<void>((resolve) => (arrived = resolve));
      let answered!: () => void;
      const held = new Promise<void>((resolve) => (answered = resolve));
      server.answer = async ({ path }) => {
        if (path === '/auth/refresh') {
          arrived();
          await held;
        }
        return undefined;
      };
      const first = client.renew();
      await sent;
      const others = [client.renew(), client.renew()];
      answered();
      const [before, ...after] = (await Promise.all([first, ...others])).map((session) => session!.claims.jti);
      expect(server.count('/auth/refresh')).toBe(2);
      expect(after).toEqual([String(Number(before) + 1), client.session!.claims.jti]);
    });

    it('never in a loop: a token that is refused again is the answer', async () => {
      const client = await server.signedIn();
      server.answer = ({ path }) => (path === '/orders' ? { status: 401, body: {}, headers: INVALID } : undefined);
      expect((await client.fetch(ORDERS)).status).toBe(401);
      expect(server.count('/auth/refresh')).toBe(1);
      expect(server.count('/orders')).toBe(2);
      expect(client.session).not.toBeNull();
    });

    it('once for requests that are refused together', async () => {
      const client = await server.signedIn();
      const { token } = client.session!;
      server.answer = ({ path, headers }) =>
        path === '/orders' && headers.get('Authorization') === `Bearer ${token}`
          ? { status: 401, body: {}, headers: INVALID }
          : undefined;
      await Promise.all(Array.from({ length: 5 }, () => client.request('GET', ORDERS)));
      expect(server.count('/auth/refresh')).toBe(1);
    });

    it('before the token expires, whatever the clocks of server and browser say', async () => {
      useClock();
      jest.setSystemTime(new Date('2001-01-01'));
      const client = await server.signedIn();
      const events = eventsOf(client);
      await pass(839_000);
      expect(server.count('/auth/refresh')).toBe(0);
      await pass(2000);
      expect(events).toEqual(['renewed']);
      await pass(840_000);
      expect(server.count('/auth/refresh')).toBe(2);
    });

    it('an expired token before a request, when the machine has slept', async () => {
      const client = await server.signedIn();
      const now = Date.now();
      jest.spyOn(Date, 'now').mockReturnValue(now + 3_600_000);
      await client.request('GET', ORDERS);
      expect(server.seen.map(({ path }) => path)).toEqual(['/auth/login', '/auth/refresh', '/orders']);
    });

    it('at most once a second, if tokens have no lifetime', async () => {
      useClock();
      server.lifetime = 0;
      await server.signedIn();
      await pass(10_500, 500);
      expect(server.count('/auth/refresh')).toBe(10);
    });

    it('with the same token after a lost answer, and the session continues', async () => {
      useClock();
      const client = await server.signedIn();
      let isLost = false;
      server.answer = ({ path }) => (path === '/auth/refresh' && !isLost ? ((isLost = true), 'lost') : undefined);
      const renewed = client.renew();
      await pass(1000);
      expect(await renewed).toMatchObject({ claims: { fid: 'session-1' } });
      const sent = server.seen.filter(({ path }) => path === '/auth/refresh').map(({ body }) => body!.refresh_token);
      expect(sent).toEqual(['token.1', 'token.1']);
    });

    it.each([
      [503, { 'Retry-After': '7' }, 7000],
      [500, {}, 5000],
      [429, { 'Retry-After': '30' }, 30_000],
    ])('later after a %i, and keeps the session', async (status, headers, wait) => {
      useClock();
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.answer = ({ path }) =>
        path === '/auth/refresh' ? { status, body: { message: 'Later.' }, headers } : undefined;
      await pass(840_000);
      expect(client.session).not.toBeNull();
      await pass(wait - 10);
      expect(server.count('/auth/refresh')).toBe(1);
      server.answer = () => undefined;
      await pass(20);
      expect(events).toEqual(['renewed']);
    });

    it('not before the end of `Retry-After`, whatever asks for it', async () => {
      useClock();
      const page = new EventTarget();
      Object.assign(globalThis, { window: page });
      const client = await server.signedIn();
      Object.assign(globalThis, { window: undefined });
      jest.setSystemTime(Date.now() + 3_600_000);
      server.answer = ({ path }) =>
        path === '/auth/refresh'
          ? { status: 503, body: { message: 'Later.' }, headers: { 'Retry-After': '60' } }
          : undefined;
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 503, retryAfter: 60 });
      await pass(10_000);
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 503, retryAfter: 60 });
      page.dispatchEvent(new Event('online'));
      await expect(client.renew()).rejects.toMatchObject({ message: 'Later.' });
      await pass(49_000);
      expect(server.count('/auth/refresh')).toBe(1);
      server.answer = () => undefined;
      await pass(1000);
      expect(server.count('/auth/refresh')).toBe(2);
      await client.renew();
      expect(server.count('/auth/refresh')).toBe(3);
    });

    it('once for all requests that wait for it, also if it fails', async () => {
      useClock();
      const client = await server.signedIn();
      jest.setSystemTime(Date.now() + 3_600_000);
      server.answer = ({ path }) => (path === '/auth/refresh' ? 'lost' : undefined);
      const failures: AuthError[] = [];
      for (let count = 0; count < 5; count++)
        void client.request('GET', ORDERS).catch((failure) => failures.push(failure));
      await pass(1500, 500);
      expect(failures.map(({ reason }) => reason)).toEqual(Array.from({ length: 5 }, () => 'unreachable'));
      expect(server.seen.map(({ path }) => path)).toEqual(['/auth/login', '/auth/refresh', '/auth/refresh']);
    });

    it('less and less often while the server fails: once a minute at last', async () => {
      useClock();
      const client = await server.signedIn();
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status: 500, body: {} } : undefined);
      await pass(840_000);
      expect(client.session).not.toBeNull();
      await pass(600_000, 1000);
      // At 0, 5, 15, 35 and 75 seconds, and then every minute.
      expect(server.count('/auth/refresh')).toBe(13);
    });

    it.each([
      [401, ''],
      [403, '<html>Are you a robot?</html>'],
    ])('later after a %i that is not of the server but of a proxy, and keeps the session', async (status, text) => {
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status, text } : undefined);
      await expect(client.renew()).rejects.toMatchObject({ status, reason: 'unreachable' });
      expect(client.session).not.toBeNull();
      server.answer = () => undefined;
      await client.renew();
      expect(events).toEqual(['renewed']);
    });

    it.each([401, 403])('not after a %i: the session is over in this browser', async (status) => {
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status, body: { message: 'No.' } } : undefined);
      expect(await client.renew()).toBeNull();
      expect(events).toEqual(['signedOut ended']);
      expect(await client.restore()).toBeNull();
      expect(server.count('/auth/refresh')).toBe(1);
    });
  });

  it('signs out only if the server has ended the session, or does not know it any more', async () => {
    const client = await server.signedIn();
    server.answer = () => 'lost';
    await expect(client.logout()).rejects.toMatchObject({ reason: 'unreachable' });
    expect(client.session).not.toBeNull();
    server.answer = ({ path }) =>
      path === '/auth/logout' ? { status: 409, body: { message: 'No session.' } } : undefined;
    await client.logout();
    expect(client.session).toBeNull();
    const ended = await server.signedIn();
    server.answer = () => undefined;
    server.revoke();
    await ended.logout();
    expect(ended.session).toBeNull();
  });

  describe('reports the end of a session', () => {
    /** Ends the session at a request to `route`, and refuses another request before it is answered. */
    const refuseBefore = (client: AuthClient, route: string, status = 204) =>
      (server.answer = async ({ path }) => {
        if (path !== route) return undefined;
        server.revoke();
        await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ reason: 'signedOut' });
        return { status, body: {} };
      });

    it.each([
      ['logout', '/auth/logout', (client: AuthClient) => client.logout()],
      ['logout', '/auth/sessions', (client: AuthClient) => client.endAllSessions()],
      ['logout', '/auth/sessions/session-1', (client: AuthClient) => client.endSession('session-1')],
      ['deleted', '/auth/account', (client: AuthClient) => client.deleteAccount()],
    ])('as %s if another request is refused before the answer to %s', async (reason, route, leave) => {
      const client = await server.signedIn();
      const events = eventsOf(client);
      refuseBefore(client, route);
      await leave(client);
      expect(events).toEqual([`signedOut ${reason}`]);
    });

    it('as ended after a sign-out that has failed', async () => {
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.answer = () => 'lost';
      await expect(client.logout()).rejects.toMatchObject({ reason: 'unreachable' });
      server.answer = ({ path }) => (path === '/auth/logout' ? { status: 204 } : undefined);
      server.revoke();
      await client.renew();
      expect(events).toEqual(['signedOut ended']);
    });

    it('as ended while the user is asked whether to delete the account', async () => {
      const client = await server.signedIn({
        confirm: async () => {
          server.revoke();
          await client.renew();
          return false;
        },
      });
      const events = eventsOf(client);
      server.answer = ({ path }) =>
        path === '/auth/account'
          ? {
              status: 423,
              body: {},
              headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication"' },
            }
          : undefined;
      await expect(client.deleteAccount()).rejects.toMatchObject({ reason: 'cancelled' });
      expect(events).toEqual(['signedOut ended']);
    });
  });

  it('is not created with an origin that is not absolute, and opens nothing', () => {
    const opened = jest.spyOn(globalThis, 'BroadcastChannel');
    const options = { url: URL_OF_GUARD, origins: ['api.example.com'] };
    expect(() => createAuthClient(options)).toThrow(TypeError);
    expect(opened).not.toHaveBeenCalled();
  });

  it('rejects a request with `errors` null in the answer of another server with no messages of fields', async () => {
    const client = await server.signedIn();
    server.answer = () => ({ status: 400, body: { message: 'No.', errors: null } });
    const error: AuthError = await client.request<never>('GET', ORDERS).catch((refusal) => refusal);
    expect([error.message, error.errors]).toEqual(['No.', {}]);
  });

  it('is rejected if the server is in the other mode', async () => {
    const cookie = server.client({ refreshToken: 'cookie', url: 'https://api.test/auth' });
    await expect(cookie.login(LOGIN)).rejects.toThrow('The server is not in cookie mode: see `refreshToken`.');
    server.answer = () => ({ body: { access_token: 'a.e30.c', expires_in: 900 } });
    await expect(server.client().login(LOGIN)).rejects.toThrow('The server is in cookie mode: see `refreshToken`.');
  });

  it('calls the routes of its guard', async () => {
    const client = await server.signedIn();
    await client.changePassword({ current_password: 'secret', password: 'next' });
    expect(server.last).toMatchObject({
      method: 'POST',
      path: '/auth/password',
      body: { password_confirmation: 'next' },
    });
    await client.routes.call('PATCH', '/passkeys/1', { name: 'Laptop' });
    expect(server.last).toMatchObject({ method: 'PATCH', path: '/auth/passkeys/1', body: { name: 'Laptop' } });
    expect(URL_OF_GUARD).toMatch(/auth$/);
  });
});
