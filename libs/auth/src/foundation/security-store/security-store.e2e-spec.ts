import { randomUUID } from 'node:crypto';
import { createClientPool } from 'redis-5';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { MovableClock } from '../../../../../test/support/hosts/app';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { describeWithRedis, sharedRedisUrl } from '../../../../../test/support/stores/with-redis';
import { allOf, atomicWrites, contract } from './contract.testkit';
import { MemorySecurityStore } from './memory-security-store';
import { redisClientOf } from './first-connection';
import { RedisSecurityStore } from './redis-security-store';
import { ANSWER_MS, describeStores, inMemory, throughCacheManager, throughClient } from './stores.testkit';

describeStores('the store', contract);
describeStores('atomic writes', atomicWrites);

describe('the store in memory', () => {
  it('is not shared with another store', async () => {
    const { store: one } = inMemory();
    await one.setMany(['k'], 'x', 60);
    expect(one.shared).toBe(false);
    expect(await inMemory().store.getMany(['k'])).toEqual([null]);
  });

  it('removes expired entries without a read of them', async () => {
    const clock = new MovableClock();
    const store = new MemorySecurityStore(clock);
    await store.setMany(['live'], 'x', 600);
    for (let i = 0; i < 998; i++) await store.setMany([`expired ${i}`], 'x', 60);
    const { entries } = store as unknown as { entries: Map<string, unknown> };
    expect(entries.size).toBe(999);
    clock.advance(61);
    await store.setMany(['new'], 'x', 60);
    expect([...entries.keys()]).toEqual(['live', 'new']);
  });

  it('finds no expired key', async () => {
    const clock = new MovableClock();
    const store = new MemorySecurityStore(clock);
    await store.setMany(['k:live'], 'x', 600);
    await store.setMany(['k:expired'], 'x', 60);
    clock.advance(61);
    expect(await allOf(store.scan('k:'))).toEqual(['k:live']);
  });

  it.each([
    ['forward', 3600],
    ['back', -3600],
  ])(
    'keeps entries and counters for their time when the time of the machine is set %s by an hour',
    async (_, seconds) => {
      const clock = new MovableClock();
      clock.stop();
      const store = new MemorySecurityStore(clock);
      const limit = { key: 'counter', max: 1, seconds: 60 };
      await store.setMany(['k'], 'x', 60);
      expect(await store.count([limit])).toMatchObject({ admitted: true });
      const wall = clock.now() + seconds * 1000;
      jest.spyOn(clock, 'now').mockReturnValue(wall);
      clock.advance(59);
      expect(await store.getMany(['k'])).toEqual(['x']);
      expect(await store.count([limit])).toMatchObject({ admitted: false, buckets: [{ secondsLeft: 1 }] });
      clock.advance(1);
      expect(await store.getMany(['k'])).toEqual([null]);
      expect(await store.count([limit])).toMatchObject({ admitted: true });
    },
  );

  it('removes counters whose window has ended without a read of them', async () => {
    const clock = new MovableClock();
    const store = new MemorySecurityStore(clock);
    await store.count([{ key: 'live', max: 9, seconds: 600 }]);
    for (let i = 0; i < 998; i++) await store.count([{ key: `expired ${i}`, max: 9, seconds: 60 }]);
    const { counters } = store as unknown as { counters: Map<string, unknown> };
    expect(counters.size).toBe(999);
    clock.advance(61);
    await store.count([{ key: 'new', max: 9, seconds: 60 }]);
    expect([...counters.keys()]).toEqual(['live', 'new']);
  });
});

describeWithRedis('the store on a node-redis client', () => {
  it('is shared with every other client', async () => {
    const [one, other] = [await throughClient(sharedRedisUrl()!), await throughCacheManager(sharedRedisUrl()!)];
    const key = `shared:${randomUUID()}`;
    await one.store.setMany([key], 'x', 60);
    expect([one.store.shared, other.store.shared]).toEqual([true, true]);
    expect(await other.store.getMany([key])).toEqual(['x']);
    const limit = { key: `${key}:counter`, max: 1, seconds: 60 };
    expect(await one.store.count([limit])).toMatchObject({ admitted: true });
    expect(await other.store.count([limit])).toMatchObject({ admitted: false });
    await Promise.all([one.close(), other.close()]);
  });

  it('finds keys when its own prefix contains glob characters, and returns them without the prefix', async () => {
    const { client, cache } = await redisCache(sharedRedisUrl()!);
    const prefix = `app*[1]?:${randomUUID()}:`;
    const store = new RedisSecurityStore(redisClientOf(cache)!, ANSWER_MS, prefix);
    await store.setMany(['k:1', 'k:2', 'other'], 'x', 60);
    await client.set(`app1:${prefix}k:3`, 'x', { EX: 60 });
    await client.set(`${prefix.replace('*[1]?', 'x1x')}k:4`, 'x', { EX: 60 });
    expect((await allOf(store.scan('k:'))).toSorted()).toEqual(['k:1', 'k:2']);
    await client.disconnect();
  });
});

describeWithRedis('an attempt that is taken back', () => {
  it.each([false, true])('is not counted any more, pending: %s, and only in its own window', async (pending) => {
    const { store, age, close } = await throughClient(sharedRedisUrl()!);
    const redis = store as RedisSecurityStore;
    const limit = { key: `uncount:${randomUUID()}`, max: 9, seconds: 60 };
    const read = async () => (await redis.count([{ ...limit, max: 0 }])).buckets[0]!;
    const field = pending ? 'pending' : 'counted';
    const first = (await redis.count([limit], pending)).buckets[0]!;
    await redis.count([limit], pending);
    expect(await redis.uncount(limit, pending, first)).toMatchObject({ [field]: 1 });
    await age(60, limit.key);
    await redis.count([limit], pending);
    // The attempt of the first window had less time left than this one has.
    expect(await redis.uncount(limit, pending, { ...first, secondsLeft: 20 })).toMatchObject({ [field]: 1 });
    expect(await read()).toMatchObject({ [field]: 1 });
    expect(await redis.uncount(limit, pending, await read())).toEqual({ counted: 0, pending: 0, secondsLeft: 0 });
    expect(await redis.uncount(limit, pending, first)).toEqual({ counted: 0, pending: 0, secondsLeft: 0 });
    await close();
  });
});

describeWithRedis('a pool of clients of node-redis 5', () => {
  it('provides the common server of all its connections, and reads from it', async () => {
    const pool = createClientPool({ url: sharedRedisUrl()! }, { minimum: 2, cleanupDelay: 1 });
    await pool.on('error', () => undefined).connect();
    const store = new RedisSecurityStore(redisClientOf(pool)!, ANSWER_MS);
    const key = `pool:${randomUUID()}`;
    await store.setMany([key], 'x', 60);
    const values = await Promise.all(Array.from({ length: 10 }, () => store.getMany([key])));
    expect(values).toEqual(values.map(() => ['x']));
    await eventually(async () => store.instance !== null);
    pool.destroy();
    expect(store.instance).toBeNull();
  });
});

describe('the Redis client', () => {
  const client = { sendCommand: () => undefined };

  it.each<[string, unknown]>([
    ['a client', client],
    ['cache-manager 5', { store: { client } }],
    ['cache-manager 6 and 7 on @keyv/redis', { stores: [{ store: new Map() }, { store: { client } }] }],
    ['cache-manager 7 on an adapted older store', { stores: [{ store: { _cache: { client } } }] }],
  ])('is found below %s', (_, source) => expect(redisClientOf(source)).toBe(client));

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a cache in memory', { stores: [{ store: new Map() }] }],
    ['a cache without stores', { stores: [] }],
    ['invalid stores', { stores: [undefined, null, {}, { store: null }] }],
    ['a client of another library', { store: { client: { command: () => undefined } } }],
  ])('is not found below %s', (_, source) => expect(redisClientOf(source)).toBeUndefined());
});
