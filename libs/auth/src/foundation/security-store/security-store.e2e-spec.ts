import { randomUUID } from 'node:crypto';
import { createClientPool } from 'redis-5';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { MovableClock } from '../../../../../test/support/app';
import { eventually } from '../../../../../test/support/eventually';
import { describeWithRedis, sharedRedisUrl } from '../../../../../test/support/with-redis';
import { MemorySecurityStore } from './memory-security-store';
import { redisClientOf } from './redis-client';
import { RedisSecurityStore } from './redis-security-store';
import type { SecurityStore } from './security-store';
import {
  type TestedStore,
  ANSWER_MS,
  describeStores,
  inMemory,
  throughCacheManager,
  throughClient,
} from './stores.testkit';

/** The behaviour that every security store must have. */
function contract(start: () => Promise<TestedStore>): void {
  let tested: TestedStore;
  let store: SecurityStore;
  const prefix = `contract:${randomUUID()}`;
  let n = 0;
  const key = () => `${prefix}:${n++}`;

  beforeAll(async () => {
    tested = await start();
    ({ store } = tested);
  });
  afterAll(() => tested.close());

  it('returns the values in the order of the keys, and null for an absent key', async () => {
    const [a, b, absent] = [key(), key(), key()];
    await store.setMany([a], 'first', 60);
    await store.setMany([b], 'second', 60);
    expect(await store.getMany([b, absent, a])).toEqual(['second', null, 'first']);
    expect(await store.getMany([a, b])).toEqual(['first', 'second']);
    expect(await store.getMany([a, a])).toEqual(['first', 'first']);
    expect(await store.getMany([absent])).toEqual([null]);
  });

  it('writes one value under every key', async () => {
    const keys = Array.from({ length: 500 }, key);
    await store.setMany(keys, 'revoked', 60);
    expect(await store.getMany(keys)).toEqual(keys.map(() => 'revoked'));
    await tested.expectToLive(keys[499]!, 60);
  });

  it.each([['true'], [''], ['0'], ['null'], ['{"a":1}'], ['ключ 🔑\n\0']])(
    'stores %j unchanged, as key and as value',
    async (value) => {
      const unusual = `${key()} ${value}`;
      await store.setMany([unusual], value, 60);
      expect(await store.getMany([unusual])).toEqual([value]);
    },
  );

  it.each([[1], [60], [2_592_000], [0.75]])('keeps a key for %d seconds', async (seconds) => {
    const one = key();
    await store.setMany([one], 'x', seconds);
    await tested.expectToLive(one, seconds);
  });

  it('replaces the value and the time to live of an existing key', async () => {
    const one = key();
    await store.setMany([one], 'old', 5);
    await store.setMany([one], 'new', 600);
    expect(await store.getMany([one])).toEqual(['new']);
    await tested.expectToLive(one, 600);
  });

  it('reads its own writes after many concurrent writes', async () => {
    const keys = Array.from({ length: 50 }, key);
    await Promise.all(keys.map((one, i) => store.setMany([one], String(i), 60)));
    expect(await store.getMany(keys)).toEqual(keys.map((_, i) => String(i)));
  });

  it('accepts a write without keys', async () => {
    await expect(store.setMany([], 'x', 60)).resolves.not.toThrow();
  });

  it('finds all keys with a literal prefix, and no others', async () => {
    const globs = `${key()}:a*[b-c]?\\{d}^`;
    const keys = Array.from({ length: 5000 }, (_, i) => `${globs}:${i}`);
    const others = [globs.replace('*', 'x'), globs.replace('[b-c]', 'b'), globs.replace('?', 'x'), globs.slice(0, -1)];
    await store.setMany(keys, 'x', 60);
    await store.setMany(others, 'x', 60);
    expect((await allOf(store.scan(globs))).toSorted()).toEqual(keys.toSorted());
    expect(await allOf(store.scan(`${globs}:none`))).toEqual([]);
  });

  it('provides the name of the server, also after a repeated query', async () => {
    await eventually(async () => store.instance !== null);
    const { instance } = store;
    await store.identify();
    await store.getMany([key()]);
    expect(store.instance).toBe(instance);
  });
}

describeStores('the store', contract);

/** Returns the keys of all pages of a scan, without duplicates. */
async function allOf(pages: AsyncIterable<string[]>): Promise<string[]> {
  const found = new Set<string>();
  for await (const page of pages) for (const key of page) found.add(key);
  return [...found];
}

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
    const { counters } = (store as unknown as { counters: { counters: Map<string, unknown> } }).counters;
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

const MANY = 50;
const many = <T>(run: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, i) => run(i)));

describeStores('atomic writes', (start) => {
  let tested: TestedStore;
  const key = () => `claims:${randomUUID()}`;

  beforeAll(async () => void (tested = await start()));
  afterAll(() => tested.close());

  it('add a value once with its time to live, and keep the first value', async () => {
    const one = key();
    expect(await tested.store.add(one, 'first', 60)).toBe(true);
    expect(await tested.store.add(one, 'second', 600)).toBe(false);
    expect(await tested.store.getMany([one])).toEqual(['first']);
    await tested.expectToLive(one, 60);
  });

  it('add the value of one of many concurrent calls', async () => {
    const one = key();
    const added = await many((i) => tested.store.add(one, String(i), 60));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await tested.store.getMany([one])).toEqual([String(added.indexOf(true))]);
  });

  it('take a value once', async () => {
    const one = key();
    await tested.store.setMany([one], 'ceremony', 60);
    expect((await many(() => tested.store.take(one))).filter((value) => value === 'ceremony')).toHaveLength(1);
    expect(await tested.store.getMany([one])).toEqual([null]);
    expect(await tested.store.take(one)).toBeNull();
    expect(await tested.store.add(one, 'again', 60)).toBe(true);
  });

  it('take an empty value like any other value', async () => {
    const one = key();
    await tested.store.setMany([one], '', 60);
    expect([await tested.store.take(one), await tested.store.take(one)]).toEqual(['', null]);
  });

  it('only increase a number, and apply the time to live of the last increase', async () => {
    const one = key();
    expect(await tested.store.advance(one, 9, 5)).toBe(true);
    for (const to of [9, 8, 0, -1]) expect(await tested.store.advance(one, to, 600)).toBe(false);
    expect(await tested.store.advance(one, 10, 90)).toBe(true);
    expect(await tested.store.getMany([one])).toEqual(['10']);
    await tested.expectToLive(one, 90);
  });

  it('reach each number at most once with many concurrent calls', async () => {
    const one = key();
    const moved = await many((i) => tested.store.advance(one, i % 5, 60));
    for (const step of [0, 1, 2, 3, 4]) {
      expect(moved.filter((did, i) => did && i % 5 === step).length).toBeLessThanOrEqual(1);
    }
    expect(moved[4]! || moved.some((did, i) => did && i % 5 === 4)).toBe(true);
    expect(await tested.store.getMany([one])).toEqual(['4']);
  });

  it('accept a smaller number after the time to live', async () => {
    const one = key();
    await tested.store.advance(one, 9, 0.05);
    await tested.age(1, one);
    expect(await tested.store.advance(one, 1, 60)).toBe(true);
  });
});
