import { randomUUID } from 'node:crypto';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { MovableClock } from '../../../../../test/support/hosts/app';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { type RedisClient, RedisServer } from '../../../../../test/support/stores/redis';
import { TcpProxy } from '../../../../../test/support/faults/tcp-proxy';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { MemorySecurityStore } from '../../foundation/security-store/memory-security-store';
import { redisClientOf } from '../../foundation/security-store/first-connection';
import { RedisSecurityStore } from '../../foundation/security-store/redis-security-store';
import type { SecurityStore } from '../../foundation/security-store/security-store';
import { currentOf } from './nodes.testkit';
import { StoreContinuity } from './store-continuity';

const TIMEOUT_MS = 20_000;

const continuityOf = (store: SecurityStore, storeTimeoutMs = TIMEOUT_MS): StoreContinuity =>
  new StoreContinuity(store, { storeTimeoutMs } as AuthConfig);

describeWithOwnRedis('the continuity of a Redis', () => {
  let redis: RedisServer;
  let address: TcpProxy;
  const clients: RedisClient[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    address = await TcpProxy.to(redis.port);
  });
  beforeEach(() => redis.flush());
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.disconnect();
  });
  afterAll(async () => {
    await address.close();
    await redis.stop();
  });

  /** The continuity as one node reads it. */
  async function node(url = redis.url): Promise<{ store: SecurityStore; continuity: StoreContinuity }> {
    const { client } = await redisCache(url);
    clients.push(client);
    const store = new RedisSecurityStore(redisClientOf(client)!, TIMEOUT_MS);
    await eventually(async () => store.identify().then(() => store.instance !== null));
    return { store, continuity: continuityOf(store) };
  }

  it('is unknown before the first call of current, and then the same for every node', async () => {
    const [one, other] = [await node(), await node()];
    expect(await one.continuity.read([], '')).toMatchObject({ values: [], continuity: null });
    const id = await currentOf(one.continuity);
    for (const { continuity } of [one, other, one]) {
      expect(await currentOf(continuity)).toBe(id);
      expect(await continuity.read([], '')).toMatchObject({ values: [], continuity: id });
    }
  });

  it('is the same for nodes that request it concurrently from an empty Redis', async () => {
    const nodes = await Promise.all(Array.from({ length: 5 }, () => node()));
    for (let round = 0; round < 20; round++) {
      await redis.flush();
      const ids = await Promise.all(nodes.flatMap(({ continuity }) => [currentOf(continuity), currentOf(continuity)]));
      expect(new Set(ids).size).toBe(1);
    }
  });

  it('is read together with the requested values, in their order', async () => {
    const { store, continuity } = await node();
    await store.setMany(['a'], 'first', 60);
    await store.setMany(['b'], 'second', 60);
    const id = await currentOf(continuity);
    expect(await continuity.read(['b', 'none', 'a'], '')).toMatchObject({
      values: ['second', null, 'first'],
      continuity: id,
    });
  });

  it('changes with every flush', async () => {
    const { continuity } = await node();
    const ids: (string | null)[] = [];
    for (let round = 0; round < 3; round++) {
      ids.push(await currentOf(continuity));
      await redis.flush();
      expect((await continuity.read([], '')).continuity).toBeNull();
    }
    expect(new Set(ids).size).toBe(3);
  });

  it('is different for another process with the same data', async () => {
    const { store, continuity } = await node(address.through(redis.url));
    const id = await currentOf(continuity);
    const copy = await RedisServer.start('--replicaof', '127.0.0.1', String(redis.port));
    const { client } = await redisCache(copy.url);
    await eventually(async () => (await client.exists('svc:store')) === 1);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    address.target = copy.port;
    address.cut();
    await eventually(async () =>
      store.identify().then(
        () => true,
        () => false,
      ),
    );
    expect(await currentOf(continuity)).not.toBe(id);
    expect(await store.getMany(['svc:store'])).not.toEqual([null]);
    await client.disconnect();
    await copy.stop();
  });

  it('is unknown at a replica, which may have older data, and current() rejects', async () => {
    const primary = await RedisServer.start();
    await currentOf((await node(primary.url)).continuity);
    const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(primary.port));
    const { client } = await redisCache(replica.url);
    clients.push(client);
    await eventually(async () => (await client.exists('svc:store')) === 1);
    const store = new RedisSecurityStore(redisClientOf(client)!, TIMEOUT_MS);
    await store.identify();
    const continuity = continuityOf(store);
    await expect(continuity.read([], '')).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(currentOf(continuity)).rejects.toBeInstanceOf(StoreUnavailable);
    await primary.stop();
    await replica.stop();
  });

  it('does not contain the name of the server', async () => {
    const { store, continuity } = await node();
    const id = await currentOf(continuity);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(store.instance!.split(':').some((part) => part.includes(id) || id.includes(part))).toBe(false);
  });
});

describe('the continuity of any store', () => {
  /** A store that changes its server while it is read. */
  class ChangingServerStore extends MemorySecurityStore {
    names: (string | null)[] = ['a'];

    override get instance(): string | null {
      return this.names.length > 1 ? this.names.shift()! : this.names[0]!;
    }
  }

  const nonce = 'svc:store';

  it.each<[what: string, names: (string | null)[]]>([
    ['was unknown before it', [null, 'a']],
    ['was unknown after it', ['a', null]],
    ['was unknown before and after it', [null, null]],
    ['changed during it', ['a', 'b']],
  ])('is unknown for a read if the server %s', async (_, names) => {
    const store = new ChangingServerStore(new MovableClock());
    await store.setMany([nonce], randomUUID(), 60);
    const continuity = continuityOf(store);
    expect((await continuity.read([], '')).continuity).not.toBeNull();
    store.names = names;
    expect((await continuity.read([], '')).continuity).toBeNull();
  });

  it('depends on both the random key and the server', async () => {
    const store = new ChangingServerStore(new MovableClock());
    const continuity = continuityOf(store);
    const continuities = new Set<string>();
    for (const server of ['a', 'b', '']) {
      for (const value of ['1', '2']) {
        store.names = [server];
        await store.setMany([nonce], value, 60);
        continuities.add(await currentOf(continuity));
      }
    }
    expect(continuities.size).toBe(6);
  });

  it('causes StoreUnavailable within the time limit if the server never reports its name', async () => {
    const store = new ChangingServerStore(new MovableClock());
    store.names = [null];
    await expect(currentOf(continuityOf(store, 100))).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
