import { FakeServer, LOGIN, ORDERS, eventsOf } from './server.testkit.js';
import { Locks, Storage, closePage, define, openPage } from './tabs.testkit.js';

const KEY = 'svc-auth:https://api.test/auth';

/** A constructor that a browser refuses, as Firefox does without storage. */
const refusal = function () {
  throw new DOMException('The operation is insecure.', 'SecurityError');
};

/** Clients of one page are as two tabs: they share storage, locks and messages only. */
describe('the client in tabs', () => {
  let server: FakeServer;
  let storage: Storage;
  let locks: Locks;

  beforeEach(() => {
    server = new FakeServer();
    ({ storage, locks } = openPage());
  });
  afterEach(() => {
    server.stop();
    closePage();
  });

  const tab = () => server.client({ refreshToken: server.isCookieMode ? 'cookie' : 'localStorage' });
  const sleep = () => jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  /** Waits until a message has reached all tabs. */
  const told = (one: ReturnType<typeof tab>, event: 'signedIn' | 'renewed' | 'signedOut') =>
    new Promise<void>((resolve) => {
      one.on(event, ({ otherTab }) => otherTab && resolve());
    });

  const twoTabs = async () => {
    const [one, other] = [tab(), tab()];
    const isTold = told(other, 'signedIn');
    await one.login(LOGIN);
    await isTold;
    return [one, other] as const;
  };

  it('sends no request as another user, who signs in while its token is renewed', async () => {
    const [one, other] = await twoTabs();
    sleep();
    const login = other.login({ email: 'grace' });
    const sent = one.request('DELETE', ORDERS);
    await login;
    await expect(sent).rejects.toMatchObject({ status: 401, reason: 'signedOut' });
    expect(one.session!.claims.sub).toBe('grace');
    expect(server.count('/orders')).toBe(0);
  });

  it('ends no session of another user, whose refresh token it finds', async () => {
    const [one, other] = await twoTabs();
    other.close();
    await one.renew();
    sleep();
    // A message that has not arrived: the tab was in the cache for the back button.
    const lost = jest.spyOn(BroadcastChannel.prototype, 'postMessage').mockReturnValue();
    await tab().login({ email: 'grace' });
    lost.mockRestore();
    await expect(one.endAllSessions()).rejects.toMatchObject({ reason: 'signedOut' });
    expect(server.seen.map(({ path }) => path)).not.toContain('/auth/sessions');
    expect(one.session!.claims.sub).toBe('grace');
  });

  it('signs out a session whose renewal has failed before', async () => {
    await tab().login(LOGIN);
    const page = tab();
    server.answer = () => ({ status: 503, body: { message: 'Later.' } });
    await expect(page.restore()).rejects.toMatchObject({ status: 503 });
    server.answer = () => undefined;
    const events = eventsOf(page);
    await page.logout();
    expect(events).toEqual(['signedIn restored', 'signedOut logout']);
    expect(page.session).toBeNull();
    expect(storage.items.size).toBe(0);
  });

  it('reports a sign-out in both tabs, also if the server refuses the other tab before it has answered', async () => {
    const [one, other] = await twoTabs();
    const events = [eventsOf(one), eventsOf(other)];
    const isOut = told(one, 'signedOut');
    const channel = new BroadcastChannel(KEY);
    const announced = new Promise((resolve) => channel.addEventListener('message', resolve, { once: true }));
    server.answer = async ({ path }) => {
      if (path !== '/auth/logout') return undefined;
      // A real request takes longer than a message to the other tab.
      await announced;
      await new Promise(setImmediate);
      server.revoke();
      await expect(other.request('GET', ORDERS)).rejects.toMatchObject({ reason: 'signedOut' });
      await isOut;
      return { status: 204 };
    };
    await one.logout();
    channel.close();
    expect(events).toEqual([['signedOut logout other tab'], ['signedOut logout']]);
    expect(storage.items.size).toBe(0);
  });

  it('takes a session without its refresh token in the storage for signed out in another tab', async () => {
    const [one] = await twoTabs();
    const events = eventsOf(one);
    storage.items.clear();
    expect(await one.renew()).toBeNull();
    expect(events).toEqual(['signedOut logout other tab']);
    expect(server.refreshed).toEqual([]);
  });

  it('lets the server decide whether a session without its mark goes on in cookie mode', async () => {
    server.isCookieMode = true;
    const [one] = await twoTabs();
    const events = eventsOf(one);
    storage.items.clear();
    expect(await one.renew()).toMatchObject({ claims: { fid: 'session-1' } });
    expect([...storage.items]).toEqual([[KEY, '1']]);
    storage.items.clear();
    server.revoke();
    expect(await one.renew()).toBeNull();
    expect(events).toEqual(['renewed', 'signedOut ended']);
  });

  it('renews nothing while the message of a sign-in is on its way', async () => {
    const [one, other] = await twoTabs();
    await Promise.all([other.login(LOGIN), one.renew()]);
    expect(one.session!.claims.fid).toBe('session-2');
    expect(server.count('/auth/refresh')).toBe(0);
  });

  it('signs in and stores the session, also if it is closed meanwhile', async () => {
    const page = tab();
    server.answer = ({ path }) => {
      if (path === '/auth/login') page.close();
      return undefined;
    };
    expect(await page.login(LOGIN)).toBeNull();
    expect([...storage.items]).toEqual([[KEY, 'token.1']]);
  });

  describe.each([
    ['cookie', true],
    ['localStorage', false],
  ])('with the refresh token in %s', (_, isCookieMode) => {
    beforeEach(() => void (server.isCookieMode = isCookieMode));

    it.each(['isFull', 'isRefused'] as const)('keeps its session in all open tabs if the storage %s', async (why) => {
      storage[why] = true;
      const [one, other] = await twoTabs();
      const isTold = told(one, 'renewed');
      await other.renew();
      await isTold;
      await one.renew();
      expect([one.session, other.session]).not.toContain(null);
      expect(server.refreshed).toEqual(isCookieMode ? [undefined, undefined] : ['token.1', 'token.2']);
      const isOut = told(other, 'signedOut');
      await one.logout();
      await isOut;
      expect([await one.restore(), await other.restore()]).toEqual([null, null]);
      expect(server.refreshed).toHaveLength(2);
    });

    it('signs in, takes turns and signs out in a tab where the browser refuses storage and locks', async () => {
      locks.isRefused = storage.isRefused = true;
      const page = tab();
      const events = eventsOf(page);
      await Promise.all([page.login(LOGIN), page.login({ email: 'grace' }), page.login(LOGIN)]);
      await page.renew();
      expect(page.session!.claims).toMatchObject({ sub: 'ada', fid: 'session-3' });
      server.answer = () => ({ status: 422, body: { message: 'No.' } });
      await expect(page.login(LOGIN)).rejects.toMatchObject({ name: 'AuthError', status: 422 });
      server.answer = () => undefined;
      await page.logout();
      expect(events).toEqual(['signedIn login', 'signedIn login', 'signedIn login', 'renewed', 'signedOut logout']);
      expect(server.count('/auth/login')).toBe(4);
    });

    it.each(['without', 'that refuses'])('renews in a browser %s BroadcastChannel', async (why) => {
      const original = globalThis.BroadcastChannel;
      define('BroadcastChannel', why === 'without' ? undefined : refusal);
      const page = tab();
      define('BroadcastChannel', original);
      await page.login(LOGIN);
      expect(await page.renew()).toMatchObject({ claims: { fid: 'session-1' } });
      await page.logout();
      page.close();
      expect(page.session).toBeNull();
    });

    it('sends a sign-in that is refused only once', async () => {
      server.answer = () => ({ status: 422, body: { message: 'No.' } });
      await expect(tab().login(LOGIN)).rejects.toMatchObject({ status: 422 });
      expect(server.count('/auth/login')).toBe(1);
    });

    it('stores the session again when the storage has space', async () => {
      storage.isFull = true;
      const [one, other] = await twoTabs();
      storage.isFull = false;
      const isTold = told(other, 'renewed');
      await one.renew();
      await isTold;
      expect([...storage.items]).toEqual([[KEY, isCookieMode ? '1' : 'token.2']]);
      one.close();
      await other.renew();
      expect(server.refreshed.at(-1)).toBe(isCookieMode ? undefined : 'token.2');
    });
  });

  it('never sends an older refresh token again if the next one cannot be stored', async () => {
    const page = tab();
    await page.login(LOGIN);
    storage.isFull = true;
    for (let round = 0; round < 3; round++) await page.renew();
    expect(server.refreshed).toEqual(['token.1', 'token.2', 'token.3']);
    expect(storage.items.size).toBe(0);
  });
});
