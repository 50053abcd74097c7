import { createAuthClient } from './client.js';
import { FakeServer, LOGIN, URL_OF_GUARD } from './server.testkit.js';
import { define } from './tabs.testkit.js';

const PAGE = 'https://shop.test';

describe('the client', () => {
  let server: FakeServer;
  beforeEach(() => void (server = new FakeServer()));
  afterEach(() => {
    server.stop();
    for (const name of ['origin', 'location', 'document']) define(name, undefined);
  });

  describe('on a server', () => {
    it('has no session, sends nothing, and opens no channel that another user of the process could hear', async () => {
      const opened = jest.spyOn(globalThis, 'BroadcastChannel');
      for (const refreshToken of ['cookie', 'localStorage', 'memory'] as const) {
        const client = server.client({ url: '/auth', refreshToken });
        expect([await client.restore(), await client.accessToken()]).toEqual([null, null]);
      }
      expect(opened).not.toHaveBeenCalled();
      expect(server.seen).toEqual([]);
    });

    it('takes no lock of the process, which all users of the server would share', async () => {
      const request = jest.fn();
      define('navigator', { locks: { request } });
      expect(await (await server.signedIn({ refreshToken: 'localStorage' })).renew()).not.toBeNull();
      expect(request).not.toHaveBeenCalled();
      define('navigator', undefined);
    });

    it('sends a token to no origin for a path, which has none there', async () => {
      const client = server.client({ url: '/auth' });
      await expect(client.fetch('http://localhost/auth/sessions')).rejects.toThrow('The access token is not sent');
      await expect(client.fetch('/auth/sessions')).rejects.toThrow(TypeError);
    });

    it('keeps no process alive until the token is renewed', async () => {
      const timers = jest.spyOn(globalThis, 'setTimeout');
      await server.signedIn();
      expect(timers.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
    });
  });

  describe('in a frame', () => {
    const frame = (origin: string) => {
      define('origin', origin);
      define('location', new URL('about:srcdoc'));
      define('document', { baseURI: `${PAGE}/page` });
    };

    it.each([PAGE, 'null'])('about:srcdoc of the origin %s, sends the token to the page', async (origin) => {
      frame(origin);
      const client = createAuthClient({ url: '/auth', refreshToken: 'memory' });
      await expect(client.fetch('https://elsewhere.test/')).rejects.toThrow('The access token is not sent');
      expect((await client.fetch(`${PAGE}/orders`)).status).toBe(401);
      client.close();
    });

    it.each([PAGE, 'null'])('about:srcdoc of the origin %s, signs in at another origin', async (origin) => {
      frame(origin);
      const client = server.client({ url: URL_OF_GUARD });
      expect(await client.login(LOGIN)).toBeNull();
      expect(await client.sessions().catch(() => [])).toBeUndefined();
      expect(server.last.headers.get('Authorization')).toMatch(/^Bearer/);
    });
  });

  it('does not take the base of a page for its origin', async () => {
    define('origin', PAGE);
    define('document', { baseURI: 'https://cdn.test/' });
    const client = createAuthClient({ refreshToken: 'memory' });
    await expect(client.fetch('https://cdn.test/orders')).rejects.toThrow('The access token is not sent');
    client.close();
  });
});
