import { randomUUID } from 'node:crypto';
import { createClient } from 'redis-5';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { MemorySecurityStore } from './memory-security-store';
import { redisClientOf } from './first-connection';
import { RedisSecurityStore } from './redis-security-store';
import type { Bucket, Limit, AttemptOutcome, SecurityStore, Tally } from './security-store';
import { MovableClock } from '../../../../../test/support/hosts/app';
import { RedisSentinels } from '../../../../../test/support/stores/redis-sentinels';
import { describeWithOwnRedis, describeWithRedis, sharedRedisUrl } from '../../../../../test/support/stores/with-redis';

export type Client = Awaited<ReturnType<typeof redisCache>>['client'];

/** A store under test, with a check for the lifetime of a key and a method that ages counters. */
export interface TestedStore {
  store: SecurityStore;
  expectToLive(key: string, seconds: number): Promise<void>;
  age(seconds: number, ...counters: string[]): Promise<void>;
  close(): Promise<unknown>;
}

/** Milliseconds that a store may take to answer in tests of silent stores. */
export const TIMEOUT_MS = 3000;

/** Milliseconds that a store may take to answer in the tests of every store: they must not depend on the machine's speed. */
export const ANSWER_MS = 10_000;
let timeoutMs = TIMEOUT_MS;

/** Start of the current test. A time to live is shorter by at most the time since then. */
let began = 0;
beforeEach(() => void (began = performance.now()));

/** Checks the remaining seconds, minus the duration of the test. */
export function expectLeft(secondsLeft: number, seconds: number): void {
  expect(secondsLeft).toBeGreaterThanOrEqual(seconds - (performance.now() - began) / 1000 - 0.1);
  expect(secondsLeft).toBeLessThanOrEqual(Math.ceil(seconds * 1000) / 1000);
}

/** All outcomes of an attempt. */
export const OUTCOMES: AttemptOutcome[] = ['failed', 'succeeded', 'undone'];

export function inMemory(): TestedStore {
  const clock = new MovableClock();
  clock.stop();
  const store = new MemorySecurityStore(clock);
  return {
    store,
    async expectToLive(key, seconds) {
      clock.advance(seconds - 0.5);
      expect(await store.getMany([key])).not.toEqual([null]);
      clock.advance(1);
      expect(await store.getMany([key])).toEqual([null]);
    },
    age: async (seconds) => clock.advance(seconds),
    close: async () => undefined,
  };
}

export const onRedis = (
  source: unknown,
  send: (words: string[]) => Promise<unknown>,
  close: () => Promise<unknown>,
  storeTimeoutMs = timeoutMs,
  store: SecurityStore = new RedisSecurityStore(redisClientOf(source)!, storeTimeoutMs),
): TestedStore => ({
  store,
  async expectToLive(key, seconds) {
    expectLeft(Number(await send(['PTTL', key])) / 1000, seconds);
  },
  async age(seconds, ...counters) {
    for (const key of counters) {
      const left = Number(await send(['PTTL', key])) - seconds * 1000;
      await send(['PEXPIRE', key, String(left)]);
    }
  },
  close,
});

export async function throughCacheManager(url: string, storeTimeoutMs?: number): Promise<TestedStore> {
  const { cache, client } = await redisCache(url);
  expect(redisClientOf(cache)).toBe(client);
  return onRedis(
    cache,
    (words) => client.sendCommand(words),
    () => client.disconnect(),
    storeTimeoutMs,
  );
}

export async function throughClient(url: string, storeTimeoutMs?: number): Promise<TestedStore> {
  const { client } = await redisCache(url);
  expect(redisClientOf(client)).toBe(client);
  return onRedis(
    client,
    (words) => client.sendCommand(words),
    () => client.disconnect(),
    storeTimeoutMs,
  );
}

/** A client of node-redis 5 with features that version 4 does not have: RESP 3 and the client-side cache. */
export async function throughClient5(url: string, storeTimeoutMs?: number): Promise<TestedStore> {
  const client = createClient({
    url,
    RESP: 3,
    clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' },
    socket: { connectTimeout: 60_000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) },
  });
  // Before the store adds its listener, an error event without a listener would end the process.
  await client.on('error', () => undefined).connect();
  expect(redisClientOf(client)).toBe(client);
  return onRedis(
    client,
    (words) => client.sendCommand(words),
    async () => client.destroy(),
    storeTimeoutMs,
  );
}

/** A sentinel object of node-redis 5. */
export async function throughSentinel(
  servers: RedisSentinels,
  options?: Parameters<RedisSentinels['connect']>[0],
  storeTimeoutMs?: number,
): Promise<TestedStore> {
  const sentinel = await servers.connect(options);
  expect(redisClientOf(sentinel)).toBe(sentinel);
  return onRedis(
    sentinel,
    (words) => sentinel.sendCommand(false, words),
    () => sentinel.destroy() as unknown as Promise<void>,
    storeTimeoutMs,
  );
}

/** Makes a sentinel object send read-only commands to a replica. */
export const READ_FROM_REPLICAS = { replicaPoolSize: 1 };

let sentinels: Promise<RedisSentinels> | undefined;
afterAll(async () => (await sentinels)?.stop());

/** Runs one suite for every store. */
export function describeStores(what: string, suite: (start: () => Promise<TestedStore>) => void): void {
  timeoutMs = ANSWER_MS;
  describe(`${what} in memory`, () => suite(async () => inMemory()));
  describeWithRedis(`${what} on Redis below a cache-manager cache`, () =>
    suite(() => throughCacheManager(sharedRedisUrl()!)),
  );
  describeWithRedis(`${what} on a node-redis client`, () => suite(() => throughClient(sharedRedisUrl()!)));
  describeWithRedis(`${what} on a client of node-redis 5`, () => suite(() => throughClient5(sharedRedisUrl()!)));
  describeWithOwnRedis(`${what} on a sentinel object`, () =>
    suite(async () => throughSentinel(await (sentinels ??= RedisSentinels.start()), READ_FROM_REPLICAS)),
  );
}

/** A counter without an attempt. */
export const EMPTY: Bucket = { counted: 0, pending: 0, secondsLeft: 0 };

/** Counts attempts on the store under test, with unique keys. */
export class Counters {
  private tested!: TestedStore;
  private readonly prefix = `counters:${randomUUID()}`;
  private n = 0;

  private constructor() {}

  static of(start: () => Promise<TestedStore>): Counters {
    const counters = new Counters();
    beforeAll(async () => void (counters.tested = await start()));
    afterAll(() => counters.tested.close());
    return counters;
  }

  get store(): SecurityStore {
    return this.tested.store;
  }

  count(limits: Limit[], pending?: boolean): Promise<Tally> {
    return this.store.count(limits, pending);
  }

  settle(limits: Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    return this.store.settle(limits, attemptOutcome);
  }

  key(): string {
    return `${this.prefix}:${this.n++}`;
  }

  limit(max: number, seconds = 60, blockSeconds?: number): Limit {
    return { key: this.key(), max, seconds, ...(blockSeconds !== undefined && { blockSeconds }) };
  }

  read(limit: Limit): Promise<Bucket> {
    return this.store.peek(limit);
  }

  async fill(limit: Limit): Promise<void> {
    for (let i = 0; i < limit.max; i++) expect(await this.count([limit])).toMatchObject({ admitted: true });
  }

  age(seconds: number, ...limits: Limit[]): Promise<void> {
    return this.tested.age(seconds, ...limits.map(({ key }) => key));
  }

  async expectSecondsLeft(limit: Limit, seconds: number): Promise<void> {
    const { secondsLeft } = await this.read(limit);
    expectLeft(secondsLeft, seconds);
  }
}
