import { FakeServer, ORDERS, pass, useClock } from './server.testkit.js';

const HOURS = 3_600_000;

describe('a clock', () => {
  let server: FakeServer;

  beforeEach(() => {
    useClock();
    server = new FakeServer();
  });
  afterEach(() => {
    jest.useRealTimers();
    server.stop();
  });

  /** The clock of the machine is changed, and no time passes. */
  const set = (ms: number) => jest.setSystemTime(Date.now() + ms);

  it('that is set back by three hours gives no token that has expired', async () => {
    // The timer of the client does not run: the tab is in the background.
    jest.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never);
    const client = await server.signedIn();
    const { token } = client.session!;
    set(-3 * HOURS);
    await pass(890_000);
    expect(await client.accessToken()).toBe(token);
    await pass(6000);
    expect(await client.accessToken()).not.toBe(token);
    expect(server.count('/auth/refresh')).toBe(1);
  });

  it('that is set back does not keep the next scheduled renewal', async () => {
    await server.signedIn();
    set(-3 * HOURS);
    await pass(841_000);
    expect(server.count('/auth/refresh')).toBe(1);
    await pass(841_000);
    expect(server.count('/auth/refresh')).toBe(2);
  });

  it('that is set back does not lengthen `Retry-After`', async () => {
    const client = await server.signedIn();
    const headers = { 'Retry-After': '30' };
    server.answer = ({ path }) => (path === '/auth/refresh' ? { status: 429, body: {}, headers } : undefined);
    await expect(client.renew()).rejects.toMatchObject({ status: 429 });
    set(-3 * HOURS);
    server.answer = () => undefined;
    await expect(client.renew()).rejects.toMatchObject({ status: 429 });
    await pass(31_000);
    expect(await client.renew()).toMatchObject({ claims: { fid: 'session-1' } });
  });

  it('that stops while the machine sleeps gives no token that has expired', async () => {
    const client = await server.signedIn();
    const { token } = client.session!;
    // Fake timers do not move: only the clock of the machine does.
    set(HOURS);
    expect(await client.accessToken()).not.toBe(token);
  });

  it('that is set forward renews once', async () => {
    const client = await server.signedIn();
    set(HOURS);
    for (let request = 0; request < 5; request++) await client.fetch(ORDERS);
    expect(server.count('/auth/refresh')).toBe(1);
  });
});
