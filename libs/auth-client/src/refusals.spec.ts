import { FakeServer, INVALID, LOGIN, ORDERS, eventsOf, pass, useClock } from './server.testkit.js';

const POLLS = 40;
/** Of an API of another origin, and of one that does not know the guard. */
const CHALLENGES: [string, Record<string, string>][] = [
  ['that the page cannot read', {}],
  ['of another scheme', { 'WWW-Authenticate': 'Basic realm="reports"' }],
  ['without an error', { 'WWW-Authenticate': 'Bearer realm="reports"' }],
];
/** A gateway answers with its own headers. */
const OF_GATEWAY = { 'Cache-Control': 'no-cache, no-store, max-age=0, must-revalidate' };
const GATEWAYS: [number, object, Record<string, string>][] = [
  [401, { message: 'Unauthorized' }, { 'Cache-Control': '' }],
  [401, { message: 'No API key found in request', request_id: '1' }, OF_GATEWAY],
  [403, { message: 'Forbidden' }, { 'Cache-Control': '' }],
  [403, { error: 'blocked' }, OF_GATEWAY],
];

describe('a refusal', () => {
  let server: FakeServer;

  beforeEach(() => void (server = new FakeServer()));
  afterEach(() => {
    jest.useRealTimers();
    server.stop();
  });

  const refuses = (headers: Record<string, string>) =>
    (server.answer = ({ path }) =>
      path === '/orders' ? { status: 401, body: { message: 'Wrong PIN.' }, headers } : undefined);

  describe('with 401 and a challenge', () => {
    it.each(CHALLENGES)('%s costs no renewal while the token is new, and ends no session', async (_, headers) => {
      const client = await server.signedIn();
      refuses(headers);
      for (let poll = 0; poll < POLLS; poll++) expect((await client.fetch(ORDERS)).status).toBe(401);
      expect([server.count('/orders'), server.count('/auth/refresh')]).toEqual([POLLS, 0]);
      expect(client.session).not.toBeNull();
    });

    it.each(CHALLENGES)('%s costs one renewal each minute when the token is older', async (_, headers) => {
      useClock();
      const client = await server.signedIn();
      refuses(headers);
      for (let poll = 0; poll < POLLS; poll++) {
        await client.fetch(ORDERS);
        await pass(10_000);
      }
      // 400 seconds, of which the first token is new for 60.
      expect(server.count('/auth/refresh')).toBe(6);
    });

    it.each(CHALLENGES)('%s sends the request again if another call has renewed the token', async (_, headers) => {
      const client = await server.signedIn();
      server.answer = async ({ path }) => {
        if (path !== '/orders') return undefined;
        server.answer = () => undefined;
        await client.renew();
        return { status: 401, body: {}, headers };
      };
      expect(await client.request('GET', ORDERS)).toMatchObject({ token: `Bearer ${client.session!.token}` });
      expect(server.count('/auth/refresh')).toBe(1);
    });

    it('shows that the session has ended, where the page cannot read it, when the token is not new', async () => {
      useClock();
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.revoke();
      refuses({});
      await pass(61_000);
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 401, reason: 'signedOut' });
      expect(events).toEqual(['signedOut ended']);
    });

    it('of another issuer, which refuses every token, costs one renewal, then none while the token is new', async () => {
      const client = await server.signedIn();
      refuses(INVALID);
      for (let poll = 0; poll < POLLS; poll++) expect((await client.fetch(ORDERS)).status).toBe(401);
      expect([server.count('/orders'), server.count('/auth/refresh')]).toEqual([POLLS + 1, 1]);
    });

    it('of another issuer does not hide that the guard refuses the token, at another origin', async () => {
      const client = await server.signedIn({ origins: ['https://elsewhere.test'] });
      server.answer = ({ path }) => (path === '/reports' ? { status: 401, body: {}, headers: INVALID } : undefined);
      await client.fetch('https://elsewhere.test/reports');
      server.revoke();
      await expect(client.request('GET', ORDERS)).rejects.toMatchObject({ status: 401, reason: 'signedOut' });
    });
  });

  describe('of a gateway', () => {
    it.each(GATEWAYS)('with %i and %j does not end the session', async (status, body, headers) => {
      const client = await server.signedIn();
      const events = eventsOf(client);
      server.answer = ({ path }) => (path === '/auth/refresh' ? { status, body, headers } : undefined);
      await expect(client.renew()).rejects.toMatchObject({ status, reason: 'unreachable' });
      expect(client.session).not.toBeNull();
      server.answer = () => undefined;
      await client.renew();
      expect(events).toEqual(['renewed']);
    });

    it.each(GATEWAYS)('with %i and %j of a logout does not sign out', async (status, body, headers) => {
      const client = await server.signedIn();
      server.answer = ({ path }) => (path === '/auth/logout' ? { status, body, headers } : undefined);
      await expect(client.logout()).rejects.toMatchObject({ status, reason: 'unreachable' });
      expect(client.session).not.toBeNull();
    });

    it('leaves a refusal of the guard as it is', async () => {
      server.answer = () => ({ status: 403, body: { message: 'Verify your address.' } });
      await expect(server.client().login(LOGIN)).rejects.toMatchObject({ status: 403, reason: null });
    });
  });
});
