import { Logger } from '@nestjs/common';
import { type AddressInfo, createServer } from 'node:net';
import {
  type Endpoint,
  IdentityProviderHost,
  json,
} from '../../../../../../test/support/identity-provider/identity-provider';
import { CALLBACK, REFUSED, TestClients, unavailable } from './clients.testkit';
import { guardedFetch, mayConnect } from './guarded-fetch';

/** A document that is larger than any that is read. */
const HUGE = { padding: 'x'.repeat(300_000) };

describe('a provider that is away, slow or hostile', () => {
  let host: IdentityProviderHost;
  let t: TestClients;
  let lines: string[];

  beforeAll(async () => (host = await IdentityProviderHost.start()));
  afterAll(() => host.stop());
  beforeEach(() => {
    host.reset();
    t = new TestClients(host);
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void lines.push(line));
  });

  it.each<[string, string, () => void]>([
    ['is huge', 'sent more than 262144 bytes', () => (host.wrong.discovery = HUGE)],
    ['is of another issuer', 'issuer', () => (host.wrong.discovery = { issuer: 'https://evil.example.com' })],
    ['has no issuer', 'issuer', () => (host.wrong.discovery = { issuer: undefined })],
    ['has no endpoint', 'authorization_endpoint', () => (host.wrong.discovery = { authorization_endpoint: undefined })],
    [
      'sends the browser to a script',
      'no usable authorization_endpoint',
      () => (host.wrong.discovery = { authorization_endpoint: 'javascript:alert(1)' }),
    ],
    ['is a list', 'top level object', () => host.answer('discovery', (_, response) => json(response, []))],
    ['is no JSON', 'JSON', () => host.answer('discovery', (_, response) => response.end('<html>'))],
    ['is missing', 'answered 404', () => host.answer('discovery', (_, response) => json(response, {}, 404))],
    ['cannot be made', 'answered 500', () => host.answer('discovery', (_, response) => json(response, {}, 500))],
    [
      'is elsewhere',
      'redirects',
      () => host.answer('discovery', (_, response) => response.writeHead(302, { Location: '/me' }).end()),
    ],
  ])('answers 503 when its discovery document %s, and works when it is right again', async (_, cause, make) => {
    make();
    await expect(t.clients.begin('main', CALLBACK)).rejects.toMatchObject(unavailable(false));
    expect(lines).toEqual([expect.stringContaining(cause)]);
    expect(lines[0]).toMatch(/^The identity provider "main" is unavailable: /);
    host.reset();
    expect(await t.signIn()).toMatchObject({ subject: 'ada' });
  });

  it.each<[string, (jwks: unknown) => unknown]>([
    ['huge', () => HUGE],
    ['a text', () => 'keys'],
    ['without keys', () => ({})],
    ['with entries that are no keys', () => ({ keys: [null, 1, {}] })],
    ['with ten thousand keys', () => ({ keys: Array.from({ length: 10_000 }, () => ({ kty: 'EC', crv: 'P-256' })) })],
  ])('signs no person in with a key set that is %s', async (_, make) => {
    host.answer('jwks', (__, response) => json(response, make({})));
    await expect(t.signIn()).rejects.toMatchObject(unavailable(false));
  });

  it.each<[Endpoint, boolean]>([
    ['discovery', false],
    ['token', true],
    ['jwks', false],
    ['userinfo', true],
  ])('answers 503 when its %s endpoint fails, and says whether the code was sent', async (endpoint, codeSent) => {
    const { parameters, checks } = await t.answered();
    host.answer(endpoint, (_, response) => json(response, { error: 'server_error' }, 503));
    const later = endpoint === 'discovery' ? new TestClients(host) : t;
    await expect(later.exchange(parameters, checks)).rejects.toMatchObject(unavailable(codeSent));
  });

  it.each<[Endpoint, boolean]>([
    ['discovery', false],
    ['token', true],
    ['jwks', false],
    ['userinfo', true],
  ])('answers 503 when its %s endpoint does not answer in time', async (endpoint, codeSent) => {
    const { parameters, checks } = await t.answered();
    const later = endpoint === 'discovery' ? new TestClients(host) : t;
    const stop = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValue(stop.signal);
    const arrived = host.hold(endpoint);
    const exchanged = later.exchange(parameters, checks);
    exchanged.catch(() => undefined);
    await arrived;
    stop.abort(new DOMException('late', 'TimeoutError'));
    await expect(exchanged).rejects.toMatchObject(unavailable(codeSent));
  });

  it('can be used again with the same attempt when it was not reached', async () => {
    const { parameters, checks } = await t.answered();
    await host.down();
    await expect(t.exchange(parameters, checks)).rejects.toMatchObject(unavailable(false));
    await host.up();
    expect(await t.exchange(parameters, checks)).toMatchObject({ subject: 'ada' });
  });

  it('does not get the code at another address by a redirect', async () => {
    const { parameters, checks } = await t.answered();
    host.answer('token', (_, response) => response.writeHead(307, { Location: '/me' }).end());
    await expect(t.exchange(parameters, checks)).rejects.toMatchObject(unavailable(true));
    expect(host.requests).not.toContain('userinfo');
  });

  it('is asked once for its discovery document by attempts at the same time', async () => {
    await Promise.all(Array.from({ length: 5 }, () => t.clients.begin('main', CALLBACK)));
    expect(host.requests).toEqual(['discovery']);
  });

  it('is asked for its discovery document again after ten minutes', async () => {
    await t.signIn();
    host.wrong.discovery = { token_endpoint: `${host.issuer}/gone` };
    expect(await t.signIn()).toMatchObject({ subject: 'ada' });
    await t.clock.advance(600);
    await expect(t.signIn()).rejects.toMatchObject({ failure: { status: 503 } });
  });

  it('refuses an answer that the token endpoint does not give', async () => {
    host.answer('token', (_, response) => json(response, { token_type: 'bearer' }));
    await expect(t.signIn()).rejects.toMatchObject(REFUSED);
  });
});

describe('the addresses that a provider may state', () => {
  afterEach(() => (process.env.NODE_ENV = 'test'));

  /** Counts the connections to a port of loopback. */
  async function listening() {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { port, count: () => connections, stop: () => new Promise((resolve) => server.close(resolve)) };
  }

  const request = (href: string, allowPrivate: boolean, allowHttp = false): Promise<Response> =>
    guardedFetch(href, {}, { allowHttp, allowPrivate, signal: AbortSignal.timeout(30_000) });

  it('are not connected to in a private network, by address or by name, unless the option allows it', async () => {
    const server = await listening();
    try {
      for (const name of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'localhost'])
        await expect(request(`https://${name}:${server.port}/`, false)).rejects.toThrow('private network');
      expect(server.count()).toBe(0);
      await expect(request(`https://127.0.0.1:${server.port}/`, true)).rejects.not.toThrow('private network');
      await expect(request(`https://localhost:${server.port}/`, true)).rejects.not.toThrow('private network');
      expect(server.count()).toBe(2);
    } finally {
      await server.stop();
    }
  });

  it('are used with https only', async () => {
    for (const href of ['http://id.example.com/', 'file:///etc/passwd', 'ftp://id.example.com/'])
      await expect(request(href, true)).rejects.toThrow('is not https:');
  });

  it.each([
    ['8.8.8.8', true, true],
    ['2001:4860:4860::8888', true, true],
    ['10.0.0.1', false, true],
    ['172.16.0.1', false, true],
    ['192.168.1.1', false, true],
    ['100.64.0.1', false, true],
    ['127.0.0.1', false, true],
    ['::1', false, true],
    ['fd00::1', false, true],
    ['::ffff:10.0.0.1', false, true],
    ['169.254.169.254', false, false],
    ['::ffff:169.254.169.254', false, false],
    ['fe80::1', false, false],
    ['0.0.0.0', false, false],
    ['::', false, false],
    ['224.0.0.1', false, false],
    ['255.255.255.255', false, false],
    ['64:ff9b::a00:1', false, false],
    ['id.example.com', false, false],
  ])('%s: public %s, in the own network %s', (address, inPublic, inOwn) => {
    expect([mayConnect(address, false), mayConnect(address, true)]).toEqual([inPublic, inOwn]);
  });

  it('are checked in production for each provider, and allowed in the own network by its option', async () => {
    const server = await listening();
    const provider = { issuer: `https://127.0.0.1:${server.port}` } as IdentityProviderHost;
    const lines: string[] = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: string) => void lines.push(line));
    process.env.NODE_ENV = 'production';
    try {
      await expect(new TestClients(provider).clients.begin('main', CALLBACK)).rejects.toMatchObject(unavailable(false));
      expect(lines[0]).toContain('allowPrivateNetwork');
      expect(server.count()).toBe(0);
      const internal = new TestClients(provider, { allowPrivateNetwork: true });
      await expect(internal.clients.begin('main', CALLBACK)).rejects.toMatchObject(unavailable(false));
      expect(server.count()).toBe(1);
    } finally {
      await server.stop();
    }
  });
});
