import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { RedisCluster } from '../../../../../test/support/stores/redis-cluster';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { type ClusterTopology, slotOf } from './cluster-topology';
import { allOf, atomicWrites, contract } from '../../foundation/security-store/contract.testkit';
import { counting, expectLikeMemory, windows, withoutBlock } from '../../foundation/security-store/counters.testkit';
import { Reader, nameOf } from '../../foundation/security-store/instance.testkit';
import type { Limit, SecurityStore } from '../../foundation/security-store/security-store';
import type { TestedStore } from '../../foundation/security-store/stores.testkit';
import { throughCluster } from './cluster-object.testkit';

/** Milliseconds that a store may take to answer where a test waits for a refusal. */
const STORE_TIMEOUT_MS = 800;

describeWithOwnRedis('Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => void (cluster = await RedisCluster.start()));
  afterAll(() => cluster.stop());
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    jest.spyOn(console, 'log').mockReturnValue();
  });

  it('has the slots that the library computes', async () => {
    for (let i = 0; i < 300; i++) {
      const key = `${randomUUID()}${['', '{a}', '{}{b}', '{', 'ключ{🔑}'][i % 5]}`;
      expect([key, slotOf(key)]).toEqual([key, Number(await cluster.command(0, 'CLUSTER', 'KEYSLOT', key))]);
    }
  });

  describe.each([4, 5] as const)('with node-redis %d', (version) => {
    const start = () => throughCluster(cluster, version);
    describe('the store', () => contract(start));
    describe('atomic writes', () => atomicWrites(start));
    describe('counters', () => counting(start));
    describe('a counter`s window', () => windows(start));
    describe('a counter without a block', () => withoutBlock(start));

    it('counts like the store in memory for every sequence of commands', async () => {
      const tested = await start();
      await expectLikeMemory(tested, 50);
      await tested.close();
    });
  });

  describe.each([4, 5] as const)('with node-redis %d, the store', (version) => {
    let tested: TestedStore;
    let store: SecurityStore;
    /** A key in one slot of a pair. */
    const keyIn = async (pair: number, name = randomUUID() as string): Promise<string> => {
      for (let i = 0; ; i++) if ((await cluster.pairOf(slotOf(`${name}:${i}`))) === pair) return `${name}:${i}`;
    };

    beforeEach(async () => {
      tested = await throughCluster(cluster, version, STORE_TIMEOUT_MS);
      ({ store } = tested);
      await nameOf(store);
    });
    afterEach(() => tested.close());

    it('spreads the slot tags over all masters, and keeps keys with one tag in one slot', async () => {
      const pairs = new Map<number, number>();
      for (const tag of store.slotTags) {
        const pair = await cluster.pairOf(slotOf(tag));
        pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
        expect(slotOf(`svc:dl:fid:${tag}${randomUUID()}`)).toBe(slotOf(`svc:store${tag}`));
      }
      expect([...pairs.values()].reduce((sum, count) => sum + count)).toBe(256);
      for (const count of pairs.values()) expect(count).toBeGreaterThan(256 / 6);
      expect(pairs.size).toBe(3);
    });

    it('stores the counters of one group in one slot', async () => {
      const limits = ['a', 'b', 'c'].map((name) => ({
        key: `${randomUUID()}:${name}`,
        group: 'ada',
        max: 3,
        seconds: 60,
      }));
      expect(await store.count(limits)).toMatchObject({ admitted: true });
      const pair = await cluster.pairOf(slotOf(store.slotTag('ada')));
      const stored = await cluster.command<string[]>(pair, 'KEYS', `*${store.slotTag('ada')}`);
      expect(stored).toEqual(expect.arrayContaining(limits.map(({ key }) => key + store.slotTag('ada'))));
    });

    it('never admits more attempts than any of several limits on several masters', async () => {
      for (let round = 0; round < 20; round++) {
        const wide: Limit[] = [];
        for (const pair of [0, 1, 2]) wide.push({ key: await keyIn(pair), max: 20, seconds: 600 });
        const narrow = { key: await keyIn(round % 3), max: 1 + (round % 7), seconds: 600 };
        const pending = round % 2 === 1;
        // Some attempts have only the wide limits: they must not be crowded out by refused ones for good.
        const calls = Array.from({ length: 40 }, (_, i) => (i % 4 ? [...wide, narrow] : wide));
        const tallies = await Promise.all(calls.map((limits) => store.count(limits, pending)));
        const admitted = (limits: Limit[]) =>
          tallies.filter((tally, i) => tally.admitted && calls[i] === limits).length;
        const withNarrow = tallies.filter((tally, i) => tally.admitted && i % 4).length;
        expect(withNarrow).toBeLessThanOrEqual(narrow.max);
        expect(withNarrow + admitted(wide)).toBeLessThanOrEqual(20);
        // No attempt stays counted that was refused.
        const { buckets } = await store.count([...wide, narrow].map((limit) => ({ ...limit, max: 0 })));
        const field = pending ? 'pending' : 'counted';
        expect(buckets.map((bucket) => bucket[field])).toEqual([
          ...wide.map(() => withNarrow + admitted(wide)),
          withNarrow,
        ]);
      }
    });

    it('takes an attempt back, and throws, if one of the masters does not answer', async () => {
      const [live, silent] = [
        { key: await keyIn(0), max: 9, seconds: 600 },
        { key: await keyIn(1), max: 9, seconds: 600 },
      ];
      const other = await keyIn(2);
      const thaw = await cluster.freezeMaster(1);
      try {
        await expect(store.count([live, silent])).rejects.toBeInstanceOf(StoreUnavailable);
        await eventually(async () => {
          const { buckets } = await store.count([{ ...live, max: 0 }]);
          return buckets[0]!.counted === 0;
        });
        // The other masters are not affected.
        expect(await store.add(other, 'x', 60)).toBe(true);
      } finally {
        thaw();
      }
      await cluster.awaitPromotion();
      await eventually(async () => store.count([silent]).then(Boolean, () => false));
    });

    it('reads and writes the keys of a slot that moves to another master', async () => {
      const tag = store.slotTags.find((one) => slotOf(one) > 0)!;
      const slot = slotOf(tag);
      const from = await cluster.pairOf(slot);
      const keys = Array.from({ length: 200 }, (_, i) => `moving:${tag}${i}`);
      await store.setMany(keys, 'x', 600);
      const { instance } = await store.getWithInstance([keys[0]!]);
      expect(instance).not.toBeNull();
      const mixed = [keys[0]!, `absent:${tag}`, keys[199]!];
      const limits = ['a', 'b'].map((name) => ({ key: `${randomUUID()}:${name}${tag}`, max: 100, seconds: 600 }));
      await store.count([limits[0]!]);
      const moving = { isOver: false };
      let reads = 0;
      const reading = (async () => {
        while (!moving.isOver) {
          expect(await store.getMany(mixed)).toEqual(['x', null, 'x']);
          expect(await store.count(limits)).toMatchObject({ admitted: true });
          await store.settle(limits, 'succeeded');
          reads++;
        }
      })();
      await cluster.moveSlot(slot, (from + 1) % 3, async () => {
        const before = reads;
        await eventually(async () => reads > before + 3);
        expect(await store.getMany(keys)).toEqual(keys.map(() => 'x'));
        expect(await store.add(`new:${tag}`, 'x', 60)).toBe(true);
        expect(await store.add(`new:${tag}`, 'y', 60)).toBe(false);
        expect(await store.take(`new:${tag}`)).toBe('x');
        // One of the two masters holds a part of the keys only.
        expect((await store.getWithInstance(mixed)).instance).toBeNull();
        expect((await allOf(store.scan(`moving:${tag}`))).toSorted()).toEqual(keys.toSorted());
      });
      const after = reads;
      await eventually(async () => reads > after + 3);
      moving.isOver = true;
      await reading;
      expect(await cluster.pairOf(slot)).toBe((from + 1) % 3);
      expect(await store.getMany(keys)).toEqual(keys.map(() => 'x'));
      // Another server has the keys now.
      const { instance: target } = await store.getWithInstance([keys[0]!]);
      expect([null, instance]).not.toContain(target);
      await cluster.moveSlot(slot, from);
    });

    it('ends an attempt to connect to a server that accepts connections and never answers', async () => {
      const connections: Socket[] = [];
      const silent = createServer((socket) => connections.push(socket.on('error', () => undefined).resume()));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      // Its attempts last longer than this test waits.
      const other = await throughCluster(cluster, version, 60_000);
      await nameOf(other.store);
      const dial = (from: SecurityStore) =>
        (from as unknown as { topology: ClusterTopology }).topology.reach(
          `127.0.0.1:${(silent.address() as AddressInfo).port}`,
        );
      const isClosed = (i: number) => eventually(async () => connections[i]?.destroyed === true);
      try {
        expect(await dial(store)).toBeUndefined();
        await isClosed(0);
        // Also when the cluster object is closed in the middle of an attempt.
        void dial(other.store);
        await eventually(async () => connections.length > 1);
        await other.close();
        await isClosed(1);
      } finally {
        for (const one of connections) one.destroy();
        await new Promise((resolve) => silent.close(resolve));
      }
    });

    it('refuses the keys of a killed master within the timeout, and serves them after the promotion', async () => {
      const [lost, live] = [await keyIn(0), await keyIn(1)];
      await store.setMany([lost, live], 'x', 600);
      await cluster.awaitReplication(0);
      const { instance } = store;
      const { instance: named } = await store.getWithInstance([live]);
      expect(named).not.toBeNull();
      await cluster.killMaster(0);
      let longest = 0;
      const refusals: unknown[] = [];
      for (let i = 0; i < 20; i++) {
        const since = performance.now();
        await store.getMany([lost]).catch((error: unknown) => refusals.push(error));
        longest = Math.max(longest, performance.now() - since);
      }
      expect(refusals).toHaveLength(20);
      for (const error of refusals) expect(error).toBeInstanceOf(StoreUnavailable);
      expect(longest).toBeLessThan(10 * STORE_TIMEOUT_MS);
      expect(store.instance).toBeNull();
      await cluster.awaitPromotion();
      // The other masters did not change.
      await eventually(async () => (await store.getWithInstance([live])).instance === named);
      const promoted = performance.now();
      await eventually(async () =>
        store.getMany([lost]).then(
          ([value]) => value === 'x',
          () => false,
        ),
      );
      expect(performance.now() - promoted).toBeLessThan(30_000);
      expect(await nameOf(store)).not.toBe(instance);
      await cluster.restore();
    });

    it('distinguishes a promoted replica with older data, also while the former master runs', async () => {
      const key = await keyIn(2);
      await nameOf(store);
      await cluster.awaitReplication(2);
      await cluster.cutReplication(2);
      await store.setMany([key], 'x', 600);
      const reader = await Reader.of(store, [key]);
      await cluster.failover(2, true);
      await eventually(async () => reader.misses > 0);
      await reader.stop();
      expect(reader.wrong).toEqual([]);
      await cluster.restore();
    });
  });
});
