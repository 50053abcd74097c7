import { Logger } from '@nestjs/common';
import * as redis4 from '@redis/client';
import { type RedisClientOptions, createClient, createClientPool } from 'redis-5';
import * as redis5 from 'redis-5';
import * as redis6 from 'redis-6';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { RedisServer } from '../../../../../test/support/stores/redis';
import { TcpProxy } from '../../../../../test/support/faults/tcp-proxy';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { redisClientOf } from './first-connection';
import { OwnRedis, type RedisUrl } from './own-redis';
import type { RedisClient } from './redis-client';
import { RedisSecurityStore } from './redis-security-store';

const TIMEOUT_MS = 5000;

interface Opened {
  store: RedisSecurityStore;
  close: () => unknown;
}

type Open = (url: string, next?: RedisUrl) => Promise<Opened>;

/** The client of `redis.url`. */
const own =
  (library: unknown): Open =>
  async (url, next = url) => {
    const redis = new OwnRedis();
    const client = redis.create({ url: next }, () => library as never);
    await redis.open();
    const mayConnect = () => redis.connected !== undefined;
    return {
      store: new RedisSecurityStore(client, TIMEOUT_MS, '', { mayConnect }),
      close: () => redis.onApplicationShutdown(),
    };
  };

/** A client of a host. */
const given = async (client: object & { on(event: 'error', listener: () => void): unknown }) => {
  client.on('error', () => undefined);
  return new RedisSecurityStore(redisClientOf(client)!, TIMEOUT_MS);
};

const host4: Open = async (url) => {
  const { client } = await redisCache(url);
  return { store: await given(client), close: () => client.disconnect() };
};

const host5 =
  (options: RedisClientOptions = {}): Open =>
  async (url) => {
    const client = createClient({ url, ...options });
    await client.on('error', () => undefined).connect();
    return { store: await given(client), close: () => client.isOpen && client.destroy() };
  };

const pool: Open = async (url) => {
  const clients = createClientPool({ url });
  await clients.on('error', () => undefined).connect();
  return { store: await given(clients), close: () => clients.destroy() };
};

let warnings: string[];

beforeEach(() => {
  warnings = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((text) => void warnings.push(String(text)));
});

const succeeds = (call: () => Promise<unknown>): Promise<boolean> =>
  call().then(
    () => true,
    () => false,
  );

describeWithOwnRedis.each<[string, Open]>([
  ['of redis.url, with node-redis 4', own(redis4)],
  ['of redis.url, with node-redis 5', own(redis5)],
  ['of redis.url, with node-redis 6', own(redis6)],
  ['of a host, with node-redis 4', host4],
  ['of a host, with node-redis 5', host5()],
  ['of a host that does not connect again by itself', host5({ socket: { reconnectStrategy: false } })],
  ['that is a pool', pool],
])('after a failover that cuts no connection, a client %s', (_, open) => {
  let former: RedisServer;
  let promoted: RedisServer;
  let address: TcpProxy;
  let opened: Opened;

  beforeEach(async () => {
    former = await RedisServer.start();
    promoted = await RedisServer.start('--replicaof', '127.0.0.1', String(former.port));
    address = await TcpProxy.to(former.port);
    opened = await open(address.through(former.url));
    await opened.store.setMany(['before'], 'x', 600);
    await opened.store.identify();
    await eventually(async () => (await promoted.command('EXISTS', 'before')) === '1');
  });
  afterEach(async () => {
    await opened.close();
    await address.close();
    await promoted.stop();
    await former.stop();
  });

  /** The former master becomes a replica that gets no data any more, and its name leads to the new master. */
  async function failover(): Promise<void> {
    await promoted.command('REPLICAOF', 'NO', 'ONE');
    await former.command('REPLICAOF', '127.0.0.1', '1');
    address.target = promoted.port;
  }

  it('writes to the new master after a refused write, and the log has the code of the refusal once', async () => {
    const { store } = opened;
    await failover();
    await expect(store.add('after', 'x', 600)).rejects.toThrow('Redis answered READONLY');
    await eventually(() => succeeds(() => store.setMany(['after'], 'x', 600)));
    expect(await promoted.command('EXISTS', 'after')).toBe('1');
    expect(await store.getMany(['before'])).toEqual(['x']);
    expect(warnings.filter((line) => line.includes('READONLY'))).toEqual([
      'Redis: READONLY (the connection is replaced)',
    ]);
    expect(warnings.join()).not.toMatch(/did not answer|after/);
  });

  it('reads no key as absent with the name of the former master, and reads the new one without any write', async () => {
    const { store } = opened;
    await failover();
    await promoted.command('SET', 'denied', 'true', 'PX', '600000');
    const read = await store.getWithInstance(['denied']).catch((error: Error) => error.message);
    // A pool has no name while one of its connections is new.
    if (typeof read === 'object') expect(read.instance).toBeNull();
    else expect(read).toBe('Redis answered READONLY');
    // Known from here on: reads without the name are refused, too, until the next connection.
    await eventually(async () => {
      const values = await store.getMany(['denied']).catch(() => null);
      expect([undefined, 'true']).toContain(values?.[0]);
      return values !== null;
    });
  });
});

describeWithOwnRedis('the role of a server', () => {
  it('that the monitor reads replaces the connection, and no read of a replica is an answer', async () => {
    const server = await RedisServer.start();
    const { store, close } = await own(redis4)(server.url);
    await store.identify();
    await server.command('REPLICAOF', '127.0.0.1', '1');
    await store.identify();
    expect(store.instance).toBeNull();
    let connections = 0;
    (store as unknown as { client: RedisClient }).client.on('ready', () => connections++);
    const answers: unknown[] = [];
    // The address still leads to the replica: each connection to it is replaced, too.
    await eventually(async () => {
      const read = await store.getMany(['any']).catch(() => null);
      if (read) answers.push(read);
      return connections > 1;
    });
    expect(answers).toEqual([]);
    expect(warnings[0]).toBe('Redis: READONLY (the connection is replaced)');
    await server.command('REPLICAOF', 'NO', 'ONE');
    await eventually(() => succeeds(() => store.getMany(['any'])));
    await close();
    await server.stop();
  });
});

describeWithOwnRedis.each<[string, (url: () => string) => Open]>([
  ['a function, with node-redis 4', (url) => (first) => own(redis4)(first, url)],
  ['a function, with node-redis 5', (url) => (first) => own(redis5)(first, async () => url())],
  ['a function, with node-redis 6', (url) => (first) => own(redis6)(first, async () => url())],
  [
    'a provider of credentials of node-redis 5',
    (url) => (first) =>
      host5({
        credentialsProvider: {
          type: 'async-credentials-provider',
          credentials: async () => ({ password: new URL(url()).password }),
        },
      })(Object.assign(new URL(first), { password: '' }).toString()),
  ],
])('a rotated password of Redis that comes from %s', (_, open) => {
  it('is used by the next connection, and until then the log has the refusal', async () => {
    const server = await RedisServer.start('--requirepass', 'former-password');
    const url = (password: string): string => server.url.replace('//', `//:${password}@`);
    const send = async (password: string, ...words: string[]): Promise<void> => {
      const client = await createClient({ url: url(password) }).connect();
      await client.sendCommand(words).finally(() => client.destroy());
    };
    let password = 'former-password';
    const { store, close } = await open(() => url(password))(url(password));
    await store.setMany(['k'], 'x', 600);
    await send('former-password', 'CONFIG', 'SET', 'requirepass', 'rotated-password');
    await send('rotated-password', 'CLIENT', 'KILL', 'TYPE', 'normal');
    await eventually(() =>
      store.getMany(['k']).then(
        () => false,
        (error: Error) => error.message === 'Redis answered WRONGPASS',
      ),
    );
    password = 'rotated-password';
    await eventually(() => succeeds(() => store.getMany(['k'])));
    expect(await store.getMany(['k'])).toEqual(['x']);
    expect(warnings.filter((line) => line.startsWith('Redis: WRONGPASS'))).toHaveLength(1);
    expect(warnings.join()).not.toMatch(/-password@|former-|rotated-/);
    await close();
    await server.stop();
  });
});

describeWithOwnRedis.each<[string, Open]>([
  ['of redis.url, with node-redis 4', own(redis4)],
  ['of redis.url, with node-redis 5', own(redis5)],
  ['of redis.url, with node-redis 6', own(redis6)],
  ['of a host, with node-redis 4', host4],
  ['of a host, with node-redis 5', host5()],
])('after a process was suspended, the first command on a client %s', (_, open) => {
  it.each<[string, (address: TcpProxy) => void]>([
    ['was closed meanwhile', (address) => address.cut()],
    ['was lost without a packet', (address) => address.lose()],
    ['is still there', () => undefined],
  ])('is answered if its connection %s', async (__, end) => {
    const server = await RedisServer.start();
    const address = await TcpProxy.to(server.port);
    const { store, close } = await open(address.through(server.url));
    await store.setMany(['k'], 'x', 600);
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    end(address);
    const calls = [store.getMany(['k']), store.count([{ key: 'counter', max: 1, seconds: 60 }])] as const;
    expect(await Promise.all(calls)).toMatchObject([['x'], { admitted: true }]);
    expect(await store.count([{ key: 'counter', max: 1, seconds: 60 }])).toMatchObject({ admitted: false });
    await close();
    await address.close();
    await server.stop();
  });
});
