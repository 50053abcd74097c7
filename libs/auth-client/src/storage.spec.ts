import { createAccountClient } from './account.js';
import type { AuthError } from './errors.js';
import { SecureStore, openNative } from './native.testkit.js';
import { FakeServer, LOGIN, ORDERS, eventsOf, pass, useClock } from './server.testkit.js';
import type { AuthClientOptions, TokenStorage } from './types.js';

const KEY = 'svc-auth:https://api.test/auth';

/** A storage that answers in a later turn, as those of phones do. */
class SlowStorage implements TokenStorage {
  readonly items = new Map<string, string>();
  /** The calls, in their order. */
  readonly calls: string[] = [];
  isRefused = false;
  hangs = false;

  getItem = (name: string) => this.answer(`get ${name}`, () => this.items.get(name) ?? null);
  setItem = (name: string, value: string) => this.answer(`set ${name}`, () => void this.items.set(name, value));
  removeItem = (name: string) => this.answer(`remove ${name}`, () => void this.items.delete(name));

  private async answer<T>(call: string, work: () => T): Promise<T> {
    this.calls.push(call.replace(KEY, 'key'));
    await new Promise(this.hangs ? () => undefined : setImmediate);
    if (this.isRefused) throw new Error('locked');
    return work();
  }
}

describe('the client with a storage of the host', () => {
  let server: FakeServer;
  let storage: SlowStorage;
  beforeEach(() => {
    [server, storage] = [new FakeServer(), new SlowStorage()];
  });
  afterEach(() => {
    server.stop();
    jest.useRealTimers();
  });

  const client = (more?: AuthClientOptions) => server.client({ refreshToken: storage, ...more });
  const signedIn = async () => {
    const one = client();
    await one.login(LOGIN);
    return one;
  };
  /** The next sign-in gets these tokens beside those of the session. */
  const givesDevice = (more: object) => {
    const tokens = { access_token: 'a.eyJzdWIiOiJhZGEiLCJmaWQiOiJmIn0.c', refresh_token: 'token.1', expires_in: 900 };
    server.answer = ({ path }) => (path === '/auth/login' ? { body: { ...tokens, ...more } } : undefined);
  };

  it('keeps the refresh token there, restores the session in the next process, and removes it after a sign-out', async () => {
    const first = await signedIn();
    expect([...storage.items]).toEqual([[KEY, 'token.1']]);
    first.close();
    const next = client();
    expect((await next.restore())?.claims.sub).toBe('ada');
    expect([...storage.items]).toEqual([[KEY, 'token.2']]);
    await next.logout();
    expect([...storage.items]).toEqual([]);
    expect(await client().restore()).toBeNull();
    expect(server.refreshed).toEqual(['token.1']);
  });

  it('has stored the token when the sign-in resolves and its listeners run', async () => {
    const one = client();
    const seen: unknown[] = [];
    one.on('signedIn', () => seen.push(storage.items.get(KEY)));
    await one.login(LOGIN);
    expect(seen).toEqual(['token.1']);
  });

  it('lets a request wait until it has read whether there is a session', async () => {
    (await signedIn()).close();
    const next = client();
    const restored = next.restore();
    await next.request('GET', ORDERS);
    expect(server.last.headers.get('Authorization')).toMatch(/^Bearer/);
    await restored;
    expect(server.count('/auth/refresh')).toBe(1);
  });

  it('keeps the session of a sign-in that overtakes the restoration', async () => {
    (await signedIn()).close();
    const next = client();
    const [session] = await Promise.all([next.restore(), next.login({ email: 'grace' })]);
    expect(session).toBe(next.session);
    expect(next.session!.claims.sub).toBe('grace');
    expect(server.count('/auth/refresh')).toBe(0);
  });

  it('reads it again before each renewal: another process can have renewed the session', async () => {
    const [one, other] = [await signedIn(), client()];
    await other.restore();
    await other.renew();
    await one.renew();
    expect(server.refreshed).toEqual(['token.1', 'token.2', 'token.3']);
  });

  it('signs out when another process has removed the token', async () => {
    const one = await signedIn();
    const events = eventsOf(one);
    storage.items.clear();
    expect(await one.renew()).toBeNull();
    expect(events).toEqual(['signedOut logout other tab']);
    expect(server.count('/auth/refresh')).toBe(0);
  });

  it('goes on without it where it fails, as long as the process lives', async () => {
    storage.isRefused = true;
    const one = await signedIn();
    expect((await one.renew())?.claims.sub).toBe('ada');
    await one.logout();
    expect(one.session).toBeNull();
  });

  it('keeps the session while it cannot be read, and renews it then', async () => {
    const one = await signedIn();
    const events = eventsOf(one);
    useClock();
    storage.isRefused = true;
    const failure = one.renew().catch((error: unknown) => error);
    await pass(2000, 500);
    expect(await failure).toMatchObject({ reason: 'unreachable' });
    expect([one.session?.claims.sub, events, server.refreshed]).toEqual(['ada', [], []]);
    storage.isRefused = false;
    await one.renew();
    expect([events, server.refreshed]).toEqual([['renewed'], ['token.1']]);
  });

  it('renews the session if the second attempt can read it', async () => {
    const one = await signedIn();
    useClock();
    storage.isRefused = true;
    const renewed = one.renew();
    await pass(500);
    storage.isRefused = false;
    await pass(2000, 500);
    expect([(await renewed)?.claims.sub, server.refreshed]).toEqual(['ada', ['token.1']]);
  });

  it('restores the session as soon as it can be read', async () => {
    (await signedIn()).close();
    useClock();
    storage.isRefused = true;
    const next = client();
    const events = eventsOf(next);
    const failure = next.restore().catch((error: unknown) => error);
    await pass(2000, 500);
    expect(await failure).toMatchObject({ status: 0, reason: 'unreachable' });
    storage.isRefused = false;
    await pass(5000, 500);
    expect([next.session?.claims.sub, events]).toEqual(['ada', ['signedIn restored']]);
  });

  it('keeps the tokens of the device there, sends them with the next sign-in, and keeps them after a sign-out', async () => {
    givesDevice({ device_token: 'd', trusted_device_token: 't' });
    const one = await signedIn();
    server.answer = () => undefined;
    await one.renew();
    await one.logout().catch(() => undefined);
    expect(JSON.parse(storage.items.get(`${KEY}:device`)!)).toEqual({ device_token: 'd', trusted_device_token: 't' });
    await client().login(LOGIN);
    expect(server.last.headers.get('X-Svc-Device')).toBe('d');
    expect(server.last.body).toEqual({ ...LOGIN, trusted_device_token: 't' });
  });

  it('signs in with tokens of the device that nothing can read, and replaces them', async () => {
    storage.items.set(`${KEY}:device`, 'not JSON');
    givesDevice({ device_token: 'd' });
    expect((await signedIn()).session!.claims.sub).toBe('ada');
    expect(JSON.parse(storage.items.get(`${KEY}:device`)!)).toEqual({ device_token: 'd' });
  });

  it('gives it to the account: for the device of a list, and for the token of a mailed code', async () => {
    givesDevice({ device_token: 'd' });
    const one = await signedIn();
    const account = createAccountClient(one);
    server.answer = ({ path }) => (path === '/auth/devices' ? { body: { data: [] } } : undefined);
    await account.devices();
    expect(server.last.headers.get('X-Svc-Device')).toBe('d');
    server.answer = ({ path }) => (path === '/auth/login/code' ? { body: { code_token: 'c', expires_in: 600 } } : {});
    await account.requestCode('ada@example.com');
    expect(storage.items.get(`${KEY}:code`)).toBe('c');
    await createAccountClient(client()).signInWithCode('1234');
    expect(server.last.body).toEqual({ code: '1234', code_token: 'c' });
    expect(storage.items.has(`${KEY}:code`)).toBe(false);
  });

  it('accepts one that answers at once, such as sessionStorage', async () => {
    const items = new Map<string, string>();
    const refreshToken: TokenStorage = {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    };
    await client({ refreshToken }).login(LOGIN);
    expect((await client({ refreshToken }).restore())?.claims.sub).toBe('ada');
  });

  it('sends no cookie, and refuses a server in cookie mode', async () => {
    const sent = jest.spyOn(globalThis, 'fetch');
    await signedIn();
    expect(sent.mock.calls[0]![1]!.credentials).toBe('omit');
    server.isCookieMode = true;
    await expect(client().login(LOGIN)).rejects.toThrow('The server is in cookie mode: see `refreshToken`.');
  });
});

describe('the client in React Native', () => {
  let server: FakeServer;
  let store: SecureStore;
  let close: () => void;
  beforeEach(() => {
    close = openNative();
    [server, store] = [new FakeServer(), new SecureStore()];
  });
  afterEach(() => {
    server.stop();
    jest.useRealTimers();
    close();
  });

  const nameOf = (name: string) => name.replace(/[^\w.-]/g, '_');
  const storage: TokenStorage = {
    getItem: (name) => store.getItemAsync(nameOf(name)),
    setItem: (name, value) => store.setItemAsync(nameOf(name), value),
    removeItem: (name) => store.deleteItemAsync(nameOf(name)),
  };
  const client = () => server.client({ refreshToken: storage });

  it('signs in, calls the API, restores the session, renews it, and signs out', async () => {
    const first = client();
    const events = eventsOf(first);
    expect([first.supportsPasskeys, await first.restore(), await first.login(LOGIN)]).toEqual([false, null, null]);
    expect(first.session!.claims).toMatchObject({ sub: 'ada', name: 'Zoë' });
    expect(await first.request('POST', ORDERS, { item: 7 })).toMatchObject({ sent: { item: 7 } });
    expect((await first.fetch(ORDERS)).status).toBe(200);
    first.close();
    const next = client();
    expect((await next.restore())?.claims.sub).toBe('ada');
    await next.renew();
    await next.logout();
    expect([[...store.items], events]).toEqual([[], ['signedIn login']]);
  });

  it('waits 5 seconds for a storage that never answers, and then signs in, renews and signs out without it', async () => {
    const slow = new SlowStorage();
    slow.hangs = true;
    const one = server.client({ refreshToken: slow });
    useClock();
    const done: unknown[] = [];
    const work = (async () => {
      done.push(await one.restore().catch(({ reason }: AuthError) => reason));
      await one.login(LOGIN);
      done.push(one.session!.claims.sub);
      await one.renew();
      await one.logout();
      done.push(one.session);
    })();
    await pass(60_000, 500);
    expect(done).toEqual(['unreachable', 'ada', null]);
    await work;
  });

  it('requests a mailed code, although the storage never answers', async () => {
    const slow = new SlowStorage();
    slow.hangs = true;
    const account = createAccountClient(server.client({ refreshToken: slow }));
    server.answer = () => ({ body: { code_token: 'c', expires_in: 600 } });
    useClock();
    let isDone = false;
    void account.requestCode('ada@example.com').then(() => (isDone = true));
    await pass(30_000, 500);
    expect(isDone).toBe(true);
  });

  it('offers no passkeys, without an error', async () => {
    expect(await client().autofillPasskeys()).toBe(false);
  });

  it('ends a request without an answer after its time, or when its caller aborts it', async () => {
    const one = client();
    await one.login(LOGIN);
    server.answer = () => new Promise(() => undefined);
    const sent = jest.spyOn(globalThis, 'fetch').mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) => {
          init!.signal!.addEventListener('abort', () => reject(Object.assign(new Error(), { name: 'AbortError' })));
        }),
    );
    useClock();
    const late = one.request('GET', ORDERS).catch((error: unknown) => error);
    await pass(15_000);
    expect(await late).toMatchObject({ reason: 'unreachable' });
    const left = new AbortController();
    const aborted = one.request('GET', ORDERS, null, { signal: left.signal }).catch((error: unknown) => error);
    await pass(1);
    left.abort();
    expect(await aborted).toMatchObject({ name: 'AbortError' });
    await expect(one.fetch(ORDERS, { signal: left.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(sent).toHaveBeenCalledTimes(2);
  });

  it('reports the error of a listener, calls the others that are left, and completes the sign-in', async () => {
    const one = client();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const called: string[] = [];
    one.on('signedIn', () => {
      off();
      throw new Error('of a listener');
    });
    const off = one.on('signedIn', () => called.push('removed'));
    one.on('signedIn', () => called.push('second'));
    const reports: (() => void)[] = [];
    timers.mockImplementation((work) => reports.push(work as () => void) as never);
    await one.login(LOGIN);
    expect(reports.find((work) => String(work).includes('throw'))).toThrow('of a listener');
    expect(called).toEqual(['second']);
  });
});
