import { AuthError } from './errors.js';
import { FakeServer, URL_OF_GUARD, eventsOf } from './server.testkit.js';

const LOGIN = { email: 'ada', password: 'secret' };
const ORDERS = 'https://api.test/orders';
const STEP_UP = {
  'X-Svc-Confirmation-Methods': 'password, passkey',
  'WWW-Authenticate': 'Bearer error="insufficient_user_authentication", max_age=300',
};

describe('the client', () => {
  let server: FakeServer;

  beforeEach(() => void (server = new FakeServer()));
  afterEach(() => {
    jest.useRealTimers();
    server.stop();
  });

  const useClock = () => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });

  /** Milliseconds pass, and each timer finds the answers of earlier requests. */
  async function pass(ms: number, step = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      await jest.advanceTimersByTimeAsync(step);
      for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    }
  }

  const signedIn = async (options?: Parameters<FakeServer['client']>[0]) => {
    const client = server.client(options);
    await client.login(LOGIN);
    return client;
  };

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
    ['an answer that is not JSON', () => ({ status: 200, body: undefined })],
  ])('rejects a request with %s as unreachable', async (_, answer) => {
    const client = await signedIn();
    server.answer = ({ path }) => (path === '/orders' ? answer() : undefined);
    if (answer() !== 'lost') jest.spyOn(JSON, 'stringify').mockReturnValueOnce('<html>');
    await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 0, reason: 'unreachable' });
  });

  describe('renews', () => {
    it('a refused token once, and sends the request again', async () => {
      const client = await signedIn();
      const { token } = client.session!;
      server.answer = ({ path, headers }) =>
        path === '/orders' && headers.get('Authorization') === `Bearer ${token}`
          ? { status: 401, body: {} }
          : undefined;
      expect(await client.request('POST', ORDERS, { item: 1 })).toMatchObject({ sent: { item: 1 } });
      expect(server.count('/auth/refresh')).toBe(1);
      expect(server.count('/orders')).toBe(2);
    });

    it('never in a loop: a token that is refused again is the answer', async () => {
      const client = await signedIn();
      server.answer = ({ path }) => (path === '/orders' ? { status: 401, body: {} } : undefined);
      expect((await client.fetch(ORDERS)).status).toBe(401);
      expect(server.count('/auth/refresh')).toBe(1);
      expect(server.count('/orders')).toBe(2);
      expect(client.session).not.toBeNull();
    });

    it('once for requests that are refused together', async () => {
      const client = await signedIn();
      const { token } = client.session!;
      server.answer = ({ path, headers }) =>
        path === '/orders' && headers.get('Authorization') === `Bearer ${token}`
          ? { status: 401, body: {} }
          : undefined;
      await Promise.all(Array.from({ length: 5 }, () => client.request('GET', ORDERS)));
      expect(server.count('/auth/refresh')).toBe(1);
    });

    it('before the token expires, whatever the clocks of server and browser say', async () => {
      useClock();
      jest.setSystemTime(new Date('2001-01-01'));
      const client = await signedIn();
      const events = eventsOf(client);
      await pass(839_000);
      expect(server.count('/auth/refresh')).toBe(0);
      await pass(2000);
      expect(events).toEqual(['renewed']);
      await pass(840_000);
      expect(server.count('/auth/refresh')).toBe(2);
    });

    it('an expired token before a request, when the machine has slept', async () => {
      const client = await signedIn();
      const now = Date.now();
      jest.spyOn(Date, 'now').mockReturnValue(now + 3_600_000);
      await client.request('GET', ORDERS);
      expect(server.seen.map(({ path }) => path)).toEqual(['/auth/login', '/auth/refresh', '/orders']);
    });

    it('at most once a second, if tokens have no lifetime', async () => {
      useClock();
      server.lifetime = 0;
      await signedIn();
      await pass(10_500, 500);
      expect(server.count('/auth/refresh')).toBe(10);
    });

    it('with the same token after a lost answer, and the session continues', async () => {
      useClock();
      const client = await signedIn();
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
      const client = await signedIn();
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

    it('less and less often while the server fails: once a minute at last', async () => {
      useClock();
      const client = await signedIn();
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status: 500, body: {} } : undefined);
      await pass(840_000);
      expect(client.session).not.toBeNull();
      await pass(600_000, 1000);
      // At 0, 5, 15, 35 and 75 seconds, and then every minute.
      expect(server.count('/auth/refresh')).toBe(13);
    });

    it.each([401, 403])('not after a %i: the session is over in this browser', async (status) => {
      const client = await signedIn();
      const events = eventsOf(client);
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status, body: { message: 'No.' } } : undefined);
      expect(await client.renew()).toBeNull();
      expect(events).toEqual(['signedOut ended']);
      expect(await client.restore()).toBeNull();
      expect(server.count('/auth/refresh')).toBe(1);
    });
  });

  describe('sends a request', () => {
    it('only once if its session has ended', async () => {
      const client = await signedIn();
      server.revoke();
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 401, reason: 'signedOut' });
      expect(server.count('/orders')).toBe(1);
    });

    it('never as another user, who has signed in since', async () => {
      const client = await signedIn();
      server.answer = async ({ path, headers }) => {
        if (path !== '/orders') return undefined;
        server.answer = () => undefined;
        await client.login({ email: 'grace' });
        return headers.get('Authorization') ? { status: 401, body: {} } : undefined;
      };
      await expect(client.request('DELETE', ORDERS)).rejects.toMatchObject({ reason: 'signedOut' });
      expect(client.session!.claims.sub).toBe('grace');
      expect(server.count('/orders')).toBe(1);
    });

    it('with its own headers and body, also when it is repeated', async () => {
      const client = await signedIn();
      let isRefused = false;
      server.answer = ({ path }) =>
        path === '/orders' && !isRefused ? ((isRefused = true), { status: 401 }) : undefined;
      const body = new Blob(['{"item":1}'], { type: 'application/json' }).stream();
      const init = {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', 'X-Own': '1' },
        body,
        duplex: 'half',
      };
      expect((await client.fetch(ORDERS, init as RequestInit)).status).toBe(200);
      expect(server.last.headers.get('X-Own')).toBe('1');
      expect(server.last.body).toEqual({ item: 1 });
    });

    it('with the token to no other origin, unless the page lists it', async () => {
      const client = await signedIn();
      await expect(client.fetch('https://elsewhere.test/')).rejects.toThrow(
        'The access token is not sent to https://elsewhere.test',
      );
      expect(server.count('/')).toBe(0);
      const trusting = await signedIn({ origins: ['https://elsewhere.test'] });
      expect((await trusting.fetch('https://elsewhere.test/')).status).toBe(200);
    });

    it('without a token if no user is signed in', async () => {
      expect((await server.client().fetch(ORDERS)).status).toBe(401);
      expect(server.last.headers.get('Authorization')).toBeNull();
    });

    it.each([
      ['GET', 429, 2],
      ['POST', 429, 2],
      ['GET', 503, 2],
      ['DELETE', 503, 2],
      ['POST', 503, 1],
    ])('again after the wait of a server that is busy: %s %i', async (method, status, times) => {
      useClock();
      const client = await signedIn();
      server.answer = ({ path }) => (path === '/orders' ? { status, headers: { 'Retry-After': '3' } } : undefined);
      const sent = client.fetch(ORDERS, { method });
      await pass(2900);
      expect(server.count('/orders')).toBe(1);
      await pass(200);
      expect((await sent).status).toBe(status);
      expect(server.count('/orders')).toBe(times);
    });

    it('once if the server asks for a long wait, which the caller can show', async () => {
      const client = await signedIn();
      server.answer = () => ({ status: 429, body: { message: 'Wait.' }, headers: { 'Retry-After': '60' } });
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 429, retryAfter: 60 });
      expect(server.count('/orders')).toBe(1);
    });

    it('until the caller aborts it, also while it waits for a renewal', async () => {
      const client = await signedIn();
      const abort = new AbortController();
      server.answer = async ({ path }) => {
        if (path === '/orders') return { status: 401 };
        abort.abort();
        return new Promise(() => undefined);
      };
      await expect(client.request('GET', ORDERS, undefined, { signal: abort.signal })).rejects.toMatchObject({
        name: 'AbortError',
      });
      await expect(client.fetch(ORDERS, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
      expect(server.count('/orders')).toBe(1);
    });
  });

  describe('asks for a confirmation', () => {
    const refuse = (confirmation: string | null) => (status: { path: string; headers: Headers }) =>
      status.path === '/orders' && status.headers.get('X-Svc-Confirmation') !== confirmation
        ? { status: 423, body: { message: 'Please confirm.' }, headers: STEP_UP }
        : undefined;

    it('once for several refused requests, and repeats them with the confirmation token', async () => {
      const confirm = jest.fn(async (_methods: string[]) => {
        await client.confirmPassword('secret');
        return true;
      });
      const client = await signedIn({ confirm });
      server.answer = refuse('confirmation secret');
      await Promise.all([client.request('DELETE', ORDERS), client.request('DELETE', ORDERS)]);
      await client.request('DELETE', ORDERS);
      expect(confirm.mock.calls).toEqual([[['password', 'passkey']]]);
      expect(server.count('/orders')).toBe(5);
    });

    it('again when the confirmation has expired, and never twice for one request', async () => {
      const confirm = jest.fn(async () => true);
      const client = await signedIn({ confirm });
      server.answer = refuse('never');
      expect((await client.fetch(ORDERS)).status).toBe(423);
      expect(confirm).toHaveBeenCalledTimes(1);
      expect(server.count('/orders')).toBe(2);
    });

    it('and rejects the request as cancelled if the user does not confirm', async () => {
      const client = await signedIn({ confirm: async () => false });
      server.answer = refuse('never');
      await expect(client.request('DELETE', ORDERS)).rejects.toMatchObject({ status: 423, reason: 'cancelled' });
      expect(server.count('/orders')).toBe(1);
    });

    it('not without a callback, and not for a locked account', async () => {
      const client = await signedIn();
      server.answer = refuse('never');
      expect((await client.fetch(ORDERS)).status).toBe(423);
      const asking = await signedIn({ confirm: async () => true });
      server.answer = () => ({ status: 423, body: { message: 'Locked.', errors: { password: ['Locked.'] } } });
      await expect(asking.confirmPassword('x')).rejects.toMatchObject({ errors: { password: ['Locked.'] } });
    });

    it('of the next session again: a confirmation belongs to its session', async () => {
      const confirm = jest.fn(async () => client.confirmPassword('next').then(() => true));
      const client = await signedIn({ confirm });
      await client.confirmPassword('secret');
      await client.request('GET', ORDERS);
      expect(server.last.headers.get('X-Svc-Confirmation')).toBe('confirmation secret');
      await client.login(LOGIN);
      await client.request('GET', ORDERS);
      expect(server.last.headers.get('X-Svc-Confirmation')).toBeNull();
      server.answer = refuse('confirmation next');
      await client.request('DELETE', ORDERS);
      expect(confirm).toHaveBeenCalledTimes(1);
    });
  });

  it('signs out only if the server has ended the session, or does not know it any more', async () => {
    const client = await signedIn();
    server.answer = () => 'lost';
    await expect(client.logout()).rejects.toMatchObject({ reason: 'unreachable' });
    expect(client.session).not.toBeNull();
    server.answer = ({ path }) =>
      path === '/auth/logout' ? { status: 409, body: { message: 'No session.' } } : undefined;
    await client.logout();
    expect(client.session).toBeNull();
    const ended = await signedIn();
    server.answer = () => undefined;
    server.revoke();
    await ended.logout();
    expect(ended.session).toBeNull();
  });

  it('is rejected if the server is in the other mode', async () => {
    const cookie = server.client({ refreshToken: 'cookie', url: 'https://api.test/auth' });
    await expect(cookie.login(LOGIN)).rejects.toThrow('The server is not in cookie mode: see `refreshToken`.');
    server.answer = () => ({ body: { access_token: 'a.e30.c', expires_in: 900 } });
    await expect(server.client().login(LOGIN)).rejects.toThrow('The server is in cookie mode: see `refreshToken`.');
  });

  it('calls the routes of its guard', async () => {
    const client = await signedIn();
    await client.changePassword({ current_password: 'secret', password: 'next' });
    expect(server.last).toMatchObject({
      method: 'POST',
      path: '/auth/password',
      body: { password_confirmation: 'next' },
    });
    await client.renamePasskey('a/b', 'Laptop');
    expect(server.last).toMatchObject({ method: 'PATCH', body: { name: 'Laptop' } });
    expect(URL_OF_GUARD).toMatch(/auth$/);
  });
});
