import { FakeServer, INVALID, LOGIN, ORDERS, pass, useClock } from './server.testkit.js';

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

  describe('sends a request', () => {
    it('only once if its session has ended', async () => {
      const client = await server.signedIn();
      server.revoke();
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 401, reason: 'signedOut' });
      expect(server.count('/orders')).toBe(1);
    });

    it('never as another user, who has signed in since', async () => {
      const client = await server.signedIn();
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
      const client = await server.signedIn();
      let isRefused = false;
      server.answer = ({ path }) =>
        path === '/orders' && !isRefused ? ((isRefused = true), { status: 401, headers: INVALID }) : undefined;
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
      const client = await server.signedIn();
      await expect(client.fetch('https://elsewhere.test/')).rejects.toThrow(
        'The access token is not sent to https://elsewhere.test',
      );
      expect(server.count('/')).toBe(0);
      const trusting = await server.signedIn({ origins: ['https://elsewhere.test'] });
      expect((await trusting.fetch('https://elsewhere.test/')).status).toBe(200);
    });

    it('to another origin not with `request` either', async () => {
      const client = await server.signedIn();
      await expect(client.request('GET', 'https://elsewhere.test/')).rejects.toThrow(TypeError);
    });

    it('without following a redirect, which would give the token, the confirmation or the body to another origin', async () => {
      const client = await server.signedIn();
      const redirects = async (...work: (() => Promise<unknown>)[]) => {
        for (const one of work) await one();
        return server.seen.splice(0).map(({ path, redirect }) => `${path} ${redirect}`);
      };
      expect(await redirects(() => client.fetch(ORDERS))).toEqual(['/auth/login error', '/orders error']);
      const signedIn = await redirects(
        () => client.request('POST', ORDERS, {}),
        () => client.fetch(ORDERS, { redirect: 'follow' }),
        () => client.fetch(new Request(ORDERS)),
        () => client.confirmPassword('secret'),
        () => client.fetch(ORDERS),
        () => client.endOtherSessions(),
        () => client.renew(),
        () => client.logout(),
        () => client.fetch(ORDERS),
        () => client.login(LOGIN),
      );
      expect(signedIn).toHaveLength(10);
      expect(signedIn.filter((one) => !one.endsWith(' error'))).toEqual([]);
    });

    it('with a redirect that the page handles itself', async () => {
      const client = await server.signedIn();
      await client.fetch(ORDERS, { redirect: 'manual' });
      expect(server.last.redirect).toBe('manual');
    });

    it.each([false, 0, ''])('with the body %j, which is JSON', async (body) => {
      const client = await server.signedIn();
      await client.request('PUT', ORDERS, body);
      expect(server.last).toMatchObject({ body });
    });

    it.each([undefined, null])('without a body for %j', async (body) => {
      const client = await server.signedIn();
      await client.request('GET', ORDERS, body);
      expect(server.last.headers.get('Content-Type')).toBeNull();
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
      const client = await server.signedIn();
      server.answer = ({ path }) => (path === '/orders' ? { status, headers: { 'Retry-After': '3' } } : undefined);
      const sent = client.fetch(ORDERS, { method });
      await pass(2900);
      expect(server.count('/orders')).toBe(1);
      await pass(200);
      expect((await sent).status).toBe(status);
      expect(server.count('/orders')).toBe(times);
    });

    it('once if the server asks for a long wait, which the caller can show', async () => {
      const client = await server.signedIn();
      server.answer = () => ({ status: 429, body: { message: 'Wait.' }, headers: { 'Retry-After': '60' } });
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 429, retryAfter: 60 });
      expect(server.count('/orders')).toBe(1);
    });

    it('until the caller aborts it, also while it waits for a renewal', async () => {
      const client = await server.signedIn();
      const abort = new AbortController();
      server.answer = async ({ path }) => {
        if (path === '/orders') return { status: 401, headers: INVALID };
        abort.abort();
        return new Promise(() => undefined);
      };
      await expect(client.request('GET', ORDERS, undefined, { signal: abort.signal })).rejects.toMatchObject({
        name: 'AbortError',
      });
      await expect(client.fetch(ORDERS, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
      expect(server.count('/orders')).toBe(1);
    });

    it('and leaves no listener at its signal when it is done', async () => {
      const client = await server.signedIn();
      const add = jest.spyOn(AbortSignal.prototype, 'addEventListener');
      const remove = jest.spyOn(AbortSignal.prototype, 'removeEventListener');
      await client.fetch(ORDERS, { signal: new AbortController().signal });
      // Node adds its own with options.
      const added = add.mock.calls.filter(([, , options]) => !options).map(([, listener]) => listener);
      expect(added).not.toEqual([]);
      expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(expect.arrayContaining(added));
    });

    it('until the caller aborts it, also while the answer is read', async () => {
      const client = await server.signedIn();
      const abort = new AbortController();
      jest.spyOn(Response.prototype, 'text').mockImplementationOnce(async () => {
        abort.abort();
        throw abort.signal.reason;
      });
      await expect(client.request('GET', ORDERS, undefined, { signal: abort.signal })).rejects.toMatchObject({
        name: 'AbortError',
      });
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
      const client = await server.signedIn({ confirm });
      server.answer = refuse('confirmation secret');
      await Promise.all([client.request('DELETE', ORDERS), client.request('DELETE', ORDERS)]);
      await client.request('DELETE', ORDERS);
      expect(confirm.mock.calls).toEqual([[['password', 'passkey']]]);
      expect(server.count('/orders')).toBe(5);
    });

    it('again when the confirmation has expired, and never twice for one request', async () => {
      const confirm = jest.fn(async () => true);
      const client = await server.signedIn({ confirm });
      server.answer = refuse('never');
      expect((await client.fetch(ORDERS)).status).toBe(423);
      expect(confirm).toHaveBeenCalledTimes(1);
      expect(server.count('/orders')).toBe(2);
    });

    it('with a callback that returns no promise', async () => {
      const client = await server.signedIn({ confirm: (() => false) as never });
      server.answer = refuse('never');
      await expect(client.request('DELETE', ORDERS)).rejects.toMatchObject({ status: 423, reason: 'cancelled' });
    });

    it('and rejects the request as cancelled if the user does not confirm', async () => {
      const client = await server.signedIn({ confirm: async () => false });
      server.answer = refuse('never');
      await expect(client.request('DELETE', ORDERS)).rejects.toMatchObject({ status: 423, reason: 'cancelled' });
      expect(server.count('/orders')).toBe(1);
    });

    it('and rejects the request with the error of the callback', async () => {
      const cancelled = new DOMException('', 'NotAllowedError');
      const client = await server.signedIn({ confirm: async () => Promise.reject(cancelled) });
      server.answer = refuse('never');
      await expect(client.request('DELETE', ORDERS)).rejects.toBe(cancelled);
    });

    it('of no session if the user has signed out before it arrives', async () => {
      const client = await server.signedIn();
      server.answer = async ({ path }) => {
        if (path !== '/auth/confirm-password') return undefined;
        await client.logout();
        return { body: { confirmation_token: 'late' } };
      };
      await client.confirmPassword('secret');
      await client.fetch(ORDERS);
      expect(server.last.headers.get('X-Svc-Confirmation')).toBeNull();
    });

    it('again if the server does not know it as one of this session, as after a sign-in in another tab', async () => {
      const confirm = jest.fn(async () => client.confirmPassword('secret').then(() => true));
      const client = await server.signedIn({ confirm });
      await client.confirmPassword('of another session');
      server.answer = (request) => {
        const refused = refuse('confirmation secret')(request);
        // Such a refusal has no challenge.
        return refused && { ...refused, headers: { 'X-Svc-Confirmation-Methods': 'password' } };
      };
      await client.request('DELETE', ORDERS);
      expect(confirm).toHaveBeenCalledTimes(1);
    });

    it('not without a callback, and not for a locked account', async () => {
      const client = await server.signedIn();
      server.answer = refuse('never');
      expect((await client.fetch(ORDERS)).status).toBe(423);
      const asking = await server.signedIn({ confirm: async () => true });
      server.answer = () => ({ status: 423, body: { message: 'Locked.', errors: { password: ['Locked.'] } } });
      await expect(asking.confirmPassword('x')).rejects.toMatchObject({ errors: { password: ['Locked.'] } });
    });

    it('of the next session again: a confirmation belongs to its session', async () => {
      const confirm = jest.fn(async () => client.confirmPassword('next').then(() => true));
      const client = await server.signedIn({ confirm });
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
});
