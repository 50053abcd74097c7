import { Logger } from '@nestjs/common';
import * as redis4 from '@redis/client';
import * as redis5 from 'redis-5';
import * as redis6 from 'redis-6';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { RedisServer, startRedisWithTls } from '../../../../../test/support/stores/redis';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { AuthConfigError, StoreUnavailable } from '../platform/errors';
import { type RedisConnection, OwnRedis } from './own-redis';
import { RedisSecurityStore } from './redis-security-store';

type NodeRedis = NonNullable<ReturnType<NonNullable<Parameters<OwnRedis['create']>[1]>>>;

const VERSIONS = [
  ['4', redis4],
  ['5', redis5],
  ['6', redis6],
] as [string, NodeRedis][];

describe('the client of redis.url', () => {
  it('needs a package of the host, and the error has the command that installs it', () => {
    const create = () => new OwnRedis().create({ url: 'redis://localhost' }, () => undefined);
    expect(create).toThrow(AuthConfigError);
    expect(create).toThrow(/redis\.url \(SVC_REDIS_URL\).*npm install @redis\/client/);
  });
});

describeWithOwnRedis.each(VERSIONS)('the client of redis.url with node-redis %s', (_, library) => {
  let server: RedisServer;
  let own: OwnRedis;

  beforeEach(async () => {
    [server, own] = [await RedisServer.start(), new OwnRedis()];
  });
  afterEach(async () => {
    await own.onApplicationShutdown();
    await server.stop();
  });

  const client = (url = server.url) => own.create({ url }, () => library);

  async function store(timeoutMs = 5000): Promise<RedisSecurityStore> {
    const created = new RedisSecurityStore(client(), timeoutMs, '', { mayConnect: () => own.connected !== undefined });
    await own.open();
    return created;
  }

  it('refuses commands at once while Redis is away, and is used again when it is back', async () => {
    const used = await store();
    await used.setMany(['a'], '1', 60);
    await server.stop();
    await eventually(() =>
      used.getMany(['a']).then(
        () => false,
        (error) => error instanceof StoreUnavailable,
      ),
    );
    await server.start();
    await eventually(() =>
      used.getMany(['a']).then(
        () => true,
        () => false,
      ),
    );
  });

  it('is closed at the end', async () => {
    const used = await store(50);
    const { connected } = own;
    await own.onApplicationShutdown();
    await expect(used.getMany(['a'])).rejects.toThrow(StoreUnavailable);
    expect([connected!.isOpen, own.connected]).toEqual([false, undefined]);
  });

  it('is opened by the first commands of an application that is not initialized', async () => {
    const mayConnect = () => own.connected !== undefined;
    const used = new RedisSecurityStore(client(), 5000, '', { mayConnect, opened: () => own.open() });
    await Promise.all([used.setMany(['a'], '1', 60), used.setMany(['b'], '2', 60)]);
    expect(await used.getMany(['a', 'b'])).toEqual(['1', '2']);
    await own.open();
    await own.onApplicationShutdown();
    await expect(used.getMany(['a'])).rejects.toThrow(StoreUnavailable);
  });

  it('does not stay open if the application ends while it connects', async () => {
    const created = client();
    const opened = own.open();
    await own.onApplicationShutdown();
    await opened.catch(() => undefined);
    expect([created.isOpen, own.connected]).toEqual([false, undefined]);
  });

  it('has no connection before it is opened, and can be closed then', async () => {
    expect([client().isOpen, own.connected]).toEqual([false, undefined]);
    await own.onApplicationShutdown();
  });

  it('does not stay open if no connection is possible', async () => {
    const { port } = server;
    await server.stop();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const created = client(`redis://ada:hidden-password@127.0.0.1:${port}/1`);
    const used = new RedisSecurityStore(created, 500, '', { mayConnect: () => own.connected !== undefined });
    const { message } = await own.open().then(
      () => new Error('connected'),
      (error: Error) => error,
    );
    // No user and no password.
    expect(message.replaceAll(String(port), 'PORT')).toMatch(
      /^Redis at 127\.0\.0\.1:PORT \(redis\.url\) could not be connected within 5 seconds \(.*ECONNREFUSED.*Check its URL/,
    );
    expect(message).not.toMatch(/ada|hidden-password/);
    expect([created.isOpen, own.connected]).toEqual([false, undefined]);
    // The error has the cause. Each attempt would log it again.
    expect(warn).not.toHaveBeenCalled();
    await expect(used.getMany(['a'])).rejects.toThrow(StoreUnavailable);
  });
});

describeWithOwnRedis('the client of redis.url, over TLS', () => {
  const PASSWORD = 'a password with % and /';
  let server: Awaited<ReturnType<typeof startRedisWithTls>>;

  beforeAll(async () => void (server = await startRedisWithTls(PASSWORD)));
  afterAll(() => server.stop());

  /** The answer to a command, or the error of the start. */
  async function answer(library: NodeRedis, options: RedisConnection): Promise<string> {
    const own = new OwnRedis();
    own.create({ password: PASSWORD, ...options }, () => library);
    try {
      await own.open();
      return String(await own.connected!.sendCommand(['PING']));
    } catch (error) {
      return (error as Error).message.replaceAll(/:\d+ \(/g, ' (');
    } finally {
      await own.onApplicationShutdown();
    }
  }

  it.each(VERSIONS)('takes an authority and the credentials beside the URL, with node-redis %s', async (_, library) => {
    const { tlsPort, ca } = server;
    for (const scheme of ['redis', 'rediss'])
      for (const url of [`${scheme}://localhost:${tlsPort}`, () => `${scheme}://former:wrong@localhost:${tlsPort}`])
        expect(await answer(library, { url, username: 'default', tls: { ca } })).toBe('PONG');
  });

  it('refuses a certificate that is not trusted, and says which protocol the port uses', async () => {
    const { port, tlsPort, ca } = server;
    const refused = /^Redis at localhost \(redis\.url\) could not be connected within 5 seconds/;
    await Promise.all(
      VERSIONS.map(async ([, library]) => {
        const [untrusted, plain, tls] = await Promise.all([
          answer(library, { url: `rediss://localhost:${tlsPort}` }),
          answer(library, { url: `rediss://localhost:${port}`, tls: { ca } }),
          answer(library, { url: `redis://localhost:${tlsPort}` }),
        ]);
        for (const text of [untrusted, plain, tls]) expect(text).toMatch(refused);
        expect(untrusted).toMatch(/\(self[- ]signed certificate\)/);
        expect(plain).toMatch(/This port does not use TLS: set redis\.url to a URL with redis:\/\//);
        expect(tls).toMatch(/This port uses TLS: set redis\.url to a URL with rediss:\/\/\.$/);
      }),
    );
  });
});
