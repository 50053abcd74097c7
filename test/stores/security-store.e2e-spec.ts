import { StoreUnavailable } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemorySecurityStore } from '../../libs/auth/src/security-store/memory-security-store';
import { type RedisClient, redisClientOf } from '../../libs/auth/src/security-store/redis-client';
import type { SecurityStore } from '../../libs/auth/src/security-store/security-store';
import { MovableClock } from '../support/app';
import { RedisServer } from '../support/redis';
import { type Client, OUTCOMES, type Subject, inMemory, throughCacheManager, throughClient } from '../support/stores';
import { describeWithOwnRedis, describeWithRedis, sharedRedisUrl } from '../support/with-redis';

/** What every security store owes, whatever is below it. */
function contract(start: () => Promise<Subject>): void {
  let subject: Subject;
  let store: SecurityStore;
  const prefix = `contract:${randomUUID()}`;
  let n = 0;
  const key = () => `${prefix}:${n++}`;

  beforeAll(async () => {
    subject = await start();
    ({ store } = subject);
  });
  afterAll(() => subject.close());

  it('answers the values in the order of the keys, and null where there is none', async () => {
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
    await subject.expectToLive(keys[499]!, 60);
  });

  it.each([['true'], [''], ['0'], ['null'], ['{"a":1}'], ['ключ 🔑\n\0']])('takes %j to the letter', async (value) => {
    const odd = `${key()} ${value}`;
    await store.setMany([odd], value, 60);
    expect(await store.getMany([odd])).toEqual([value]);
  });

  it.each([[1], [60], [2_592_000], [0.75]])('keeps a key for %d seconds', async (seconds) => {
    const one = key();
    await store.setMany([one], 'x', seconds);
    await subject.expectToLive(one, seconds);
  });

  it('replaces the value and the time of a key that is there', async () => {
    const one = key();
    await store.setMany([one], 'old', 5);
    await store.setMany([one], 'new', 600);
    expect(await store.getMany([one])).toEqual(['new']);
    await subject.expectToLive(one, 600);
  });

  it('sees what it wrote, however much is written at once', async () => {
    const keys = Array.from({ length: 50 }, key);
    await Promise.all(keys.map((one, i) => store.setMany([one], String(i), 60)));
    expect(await store.getMany(keys)).toEqual(keys.map((_, i) => String(i)));
  });

  it('of nothing writes nothing', async () => {
    await expect(store.setMany([], 'x', 60)).resolves.not.toThrow();
  });
}

describe('the store in memory', () => {
  contract(async () => inMemory());

  it('is nobody else`s', async () => {
    const { store: one } = inMemory();
    await one.setMany(['k'], 'x', 60);
    expect(one.shared).toBe(false);
    expect(await inMemory().store.getMany(['k'])).toEqual([null]);
  });

  it('forgets what expired, though nobody asks for it', async () => {
    const clock = new MovableClock();
    const store = new MemorySecurityStore(clock);
    await store.setMany(['live'], 'x', 600);
    for (let i = 0; i < 998; i++) await store.setMany([`dead ${i}`], 'x', 60);
    const { entries } = store as unknown as { entries: Map<string, unknown> };
    expect(entries.size).toBe(999);
    clock.advance(61);
    await store.setMany(['new'], 'x', 60);
    expect([...entries.keys()]).toEqual(['live', 'new']);
  });

  it('forgets counters whose window is over, though nobody asks for them', async () => {
    const clock = new MovableClock();
    const store = new MemorySecurityStore(clock);
    await store.count([{ key: 'live', max: 9, seconds: 600 }]);
    for (let i = 0; i < 998; i++) await store.count([{ key: `dead ${i}`, max: 9, seconds: 60 }]);
    const { counters } = (store as unknown as { counters: { counters: Map<string, unknown> } }).counters;
    expect(counters.size).toBe(999);
    clock.advance(61);
    await store.count([{ key: 'new', max: 9, seconds: 60 }]);
    expect([...counters.keys()]).toEqual(['live', 'new']);
  });
});

describeWithRedis('the store on Redis below a cache-manager cache', () => {
  contract(() => throughCacheManager(sharedRedisUrl()!));
});

describeWithRedis('the store on a node-redis client', () => {
  contract(() => throughClient(sharedRedisUrl()!));

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
    ['stores that are none', { stores: [undefined, null, {}, { store: null }] }],
    ['a client of another library', { store: { client: { command: () => undefined } } }],
  ])('is not found below %s', (_, source) => expect(redisClientOf(source)).toBeUndefined());
});

describeWithOwnRedis.each([
  ['below a cache-manager cache', throughCacheManager],
  ['as a node-redis client', throughClient],
])('a Redis %s that does not answer', (_, connect) => {
  let redis: RedisServer;
  let subject: Subject;

  beforeAll(async () => {
    redis = await RedisServer.start();
    subject = await connect(redis.url);
    await subject.store.setMany(['k'], 'x', 600);
  });
  afterAll(async () => {
    await subject.close();
    await redis.stop();
  });

  async function expectUnavailable(): Promise<void> {
    const { store } = subject;
    const limits = [{ key: 'late counter', max: 5, seconds: 60 }];
    const calls = [
      store.getMany(['k', 'absent']),
      store.setMany(['a', 'b'], 'late', 60),
      store.count(limits),
      store.count(limits, true),
      ...OUTCOMES.map((outcome) => store.settle(limits, outcome)),
    ];
    const start = performance.now();
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailable) });
    }
    expect(performance.now() - start).toBeLessThan(1000);
  }

  async function expectBack(): Promise<void> {
    const deadline = performance.now() + 2000;
    while (!(await subject.store.getMany(['k']).catch(() => undefined))) {
      expect(performance.now()).toBeLessThan(deadline);
      await sleep(20);
    }
  }

  it('because it hangs, is an error within a second and never an empty answer', async () => {
    redis.freeze();
    await expectUnavailable();
    redis.thaw();
    await expectBack();
    expect(await subject.store.getMany(['k'])).toEqual(['x']);
  });

  it('because it is gone, is an error at once, and nothing is written later', async () => {
    await redis.stop();
    await sleep(50);
    await expectUnavailable();
    await redis.start();
    await expectBack();
    expect(await subject.store.getMany(['a', 'b'])).toEqual([null, null]);
    const { buckets } = await subject.store.count([{ key: 'late counter', max: 0, seconds: 60 }]);
    expect(buckets).toEqual([{ counted: 0, pending: 0, secondsLeft: 0 }]);
  });

  it('with yes to every write, is an error even where only the last one is refused', async () => {
    const { client } = subject.store as unknown as { client: RedisClient & Client };
    await client.sendCommand(['ACL', 'SETUSER', 'default', 'resetkeys', '~open:*']);
    await expect(subject.store.setMany(['open:1', 'open:2', 'closed:3'], 'x', 60)).rejects.toBeInstanceOf(
      StoreUnavailable,
    );
    await expect(subject.store.getMany(['open:1', 'closed:3'])).rejects.toBeInstanceOf(StoreUnavailable);
    const limits = ['open:4', 'closed:5'].map((key) => ({ key, max: 5, seconds: 60 }));
    await expect(subject.store.count(limits)).rejects.toBeInstanceOf(StoreUnavailable);
    for (const outcome of OUTCOMES) {
      await expect(subject.store.settle(limits, outcome)).rejects.toBeInstanceOf(StoreUnavailable);
    }
    await client.sendCommand(['ACL', 'SETUSER', 'default', 'allkeys']);
    expect(await subject.store.getMany(['closed:3'])).toEqual([null]);
    expect(await subject.store.count(limits)).toMatchObject({ buckets: [{ counted: 1 }, { counted: 1 }] });
  });
});
