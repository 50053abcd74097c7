import { FakeServer, LOGIN, ORDERS, eventsOf } from './server.testkit.js';
import { Locks, closePage, define, openPage } from './tabs.testkit.js';
import type { AuthClient, AuthClientEvents } from './types.js';

const EVENTS: (keyof AuthClientEvents)[] = ['signedIn', 'renewed', 'signedOut'];
/** Longer than a request takes. */
const isOfLock = (ms: number) => ms > 15_000;

describe('the lock of the tabs', () => {
  let server: FakeServer;
  let locks: Locks;

  beforeEach(() => {
    server = new FakeServer();
    ({ locks } = openPage());
  });
  afterEach(() => {
    server.stop();
    closePage();
  });

  const tab = () => server.client({ refreshToken: 'localStorage' });
  const after = (client: AuthClient, event: keyof AuthClientEvents) =>
    new Promise<void>((resolve) => void client.on(event, () => resolve()));
  /** The time after which a tab no longer waits for the lock is over at once. */
  const waitsNoLonger = () => {
    const { timeout } = AbortSignal;
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, isOfLock(ms) ? 1 : ms));
  };

  it('is free when a listener of any event runs, which is before the method resolves', async () => {
    const client = tab();
    const heard: string[] = [];
    for (const event of EVENTS) client.on(event, () => heard.push(`${event} ${locks.held}`));
    await client.login(LOGIN);
    expect(heard).toEqual(['signedIn 0']);
    await client.renew();
    expect(heard.slice(1)).toEqual(['renewed 0']);
    await client.logout();
    expect(heard.slice(2)).toEqual(['signedOut 0']);
  });

  it('is free when a listener hears another tab, while this tab has sent a request under it', async () => {
    const [one, other] = [tab(), tab()];
    const isHere = after(other, 'signedIn');
    await one.login(LOGIN);
    await isHere;
    const events: string[] = [];
    other.on('signedOut', () => events.push(`signedOut ${locks.held}`));
    let arrived!: () => void;
    const isSent = new Promise<void>((resolve) => (arrived = resolve));
    let answered!: () => void;
    const held = new Promise<void>((resolve) => (answered = resolve));
    server.answer = async ({ path }) => {
      if (path === '/auth/login') {
        arrived();
        await held;
      }
      return undefined;
    };
    const login = other.login({ email: 'grace' });
    await isSent;
    const channel = new BroadcastChannel('svc-auth:https://api.test/auth');
    // A BroadcastChannel takes no target.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    channel.postMessage({ ended: one.session!.claims.fid, reason: 'logout', isOver: true });
    while (other.session) await new Promise(setImmediate);
    channel.close();
    expect(events).toEqual([]);
    answered();
    await login;
    expect(events).toEqual(['signedOut 0']);
  });

  it('lets a listener call a method, and another work begin', async () => {
    const client = tab();
    const renewed = new Promise((resolve) => client.on('signedIn', () => resolve(client.renew())));
    await client.login(LOGIN);
    expect(await renewed).toMatchObject({ claims: { fid: 'session-1' } });
  });

  it.each<[string, (client: AuthClient) => Promise<unknown>]>([
    ['login', (client) => client.login({ email: 'grace' })],
    ['renew', (client) => client.renew()],
    ['logout', (client) => client.logout()],
    ['request', (client) => client.request('GET', ORDERS)],
  ])('is taken from a tab that hangs by %s, and the next work finds it free', async (_, work) => {
    const client = tab();
    await client.login(LOGIN);
    if (work.toString().includes('request')) jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    locks.hold();
    waitsNoLonger();
    await work(client);
    jest.restoreAllMocks();
    await client.login(LOGIN);
    expect(client.session).toMatchObject({ claims: { sub: 'ada' } });
  });

  it('is taken from a tab that hangs by a new tab', async () => {
    await tab().login(LOGIN);
    locks.hold();
    waitsNoLonger();
    expect(await tab().restore()).toMatchObject({ claims: { fid: 'session-1' } });
  });

  it('is not taken from a tab whose work can still succeed: two requests and a pause', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    const release = locks.hold();
    const login = tab().login(LOGIN);
    await new Promise(setImmediate);
    expect(timeout.mock.calls.filter(([ms]) => isOfLock(ms))).toEqual([[32_000]]);
    release();
    await login;
  });

  it('is waited for longer where the storage of the host can take its time, too', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
    await server.signedIn({ refreshToken: storage });
    expect(timeout.mock.calls.filter(([ms]) => isOfLock(ms))).toEqual([[62_000]]);
  });

  it('is taken in a worker, which has no window, and the channel is open there', async () => {
    define('window', undefined);
    define('WorkerGlobalScope', Object);
    const request = jest.spyOn(locks, 'request');
    const opened = jest.spyOn(globalThis, 'BroadcastChannel');
    await tab().login(LOGIN);
    expect([request.mock.calls.length, opened.mock.calls.length]).toEqual([1, 1]);
    delete (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope;
  });

  it('is not asked for while the browser renders the page in advance', async () => {
    await tab().login(LOGIN);
    const request = jest.spyOn(locks, 'request');
    const page = Object.assign(new EventTarget(), { prerendering: true });
    define('document', page);
    const restored = tab().restore();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([request.mock.calls.length, server.count('/auth/refresh')]).toEqual([0, 0]);
    page.prerendering = false;
    page.dispatchEvent(new Event('prerenderingchange'));
    expect(await restored).toMatchObject({ claims: { fid: 'session-1' } });
    define('document', undefined);
  });

  it('ends no work that it is taken from', async () => {
    const client = tab();
    const events = eventsOf(client);
    const { request } = locks;
    jest.spyOn(locks, 'request').mockImplementation(async (...args) => {
      void request.apply(locks, args as never).catch(() => undefined);
      await new Promise(setImmediate);
      throw new DOMException('The lock was stolen.', 'AbortError');
    });
    await client.login(LOGIN);
    expect(events).toEqual(['signedIn login']);
    expect(server.count('/auth/login')).toBe(1);
  });
});
