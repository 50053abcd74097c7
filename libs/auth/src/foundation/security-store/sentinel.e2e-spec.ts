import { Logger } from '@nestjs/common';
import { RedisSentinels } from '../../../../../test/support/stores/redis-sentinels';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { HELD_MS, whenTimedOut } from '../../../../../test/support/faults/store-timeouts';
import { TcpProxy } from '../../../../../test/support/faults/tcp-proxy';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';
import { StoreUnavailable } from '../platform/errors';
import { Reader, nameOf } from './instance.testkit';
import type { RedisSecurityStore } from './redis-security-store';
import { READ_FROM_REPLICAS, type TestedStore, throughSentinel } from './stores.testkit';

describeWithOwnRedis('the store on a sentinel object', () => {
  let sentinels: RedisSentinels;
  let tested: TestedStore;
  let store: RedisSecurityStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    // node-redis prints a message for an unreachable master.
    jest.spyOn(console, 'log').mockReturnValue();
    sentinels = await RedisSentinels.start();
    tested = await throughSentinel(sentinels, undefined, HELD_MS);
    store = tested.store as RedisSecurityStore;
  });
  afterEach(async () => {
    await tested.close();
    await sentinels.stop();
  });

  const isAnswering = () =>
    store.getMany(['any']).then(
      () => true,
      () => false,
    );

  it.each([
    ['is killed', true],
    ['stays alive and becomes a replica', false],
  ])('distinguishes a master that %s from a new master with older data', async (_, kill) => {
    const instance = await nameOf(store);
    await store.setMany(['before'], 'x', 600);
    await sentinels.awaitReplication();
    await sentinels.cutReplication();
    await store.setMany(['lost'], 'x', 600);
    const reader = await Reader.of(store, ['lost']);
    await sentinels.failover(kill);
    await eventually(async () => reader.misses > 0);
    await reader.stop();
    expect(reader.wrong).toEqual([]);
    expect(await nameOf(store)).not.toBe(instance);
    expect(await store.getMany(['before', 'lost'])).toEqual(['x', null]);
  });

  it('has another name for the same process after it was a replica', async () => {
    const [first, process] = [await nameOf(store), await sentinels.master()];
    await sentinels.failover(false);
    const second = await nameOf(store);
    // The sentinels would do this some seconds later.
    await process.command('REPLICAOF', '127.0.0.1', String((await sentinels.master()).port));
    await sentinels.awaitReplication();
    await sentinels.failover(false);
    expect(await sentinels.master()).toBe(process);
    await eventually(async () => ![null, second].includes((await nameOf(store)) as never));
    expect(store.instance).not.toBe(first);
  });

  it.each([
    ['opens another client', false as const],
    ['reconnects the same client', 50],
  ])('distinguishes the processes at one address after a restart of the master, when it %s', async (_, strategy) => {
    const reconnecting = await throughSentinel(sentinels, {
      nodeClientOptions: { socket: { reconnectStrategy: strategy } },
    });
    const { store: other } = reconnecting;
    const instance = await nameOf(other);
    await other.setMany(['lost'], 'x', 600);
    const reader = await Reader.of(other, ['lost']);
    const master = await sentinels.master();
    await master.stop();
    await master.start();
    await eventually(async () => reader.misses > 0);
    await reader.stop();
    expect(reader.wrong).toEqual([]);
    expect(await nameOf(other)).not.toBe(instance);
    await reconnecting.close();
  });

  it('sends all commands to the master, also when the sentinel object reads from replicas', async () => {
    const reading = await throughSentinel(sentinels, READ_FROM_REPLICAS);
    const all = reading.store as RedisSecurityStore;
    await sentinels.cutReplication();
    await (await sentinels.master()).command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
    await all.setMany(['new'], 'x', 600);
    expect(await all.getMany(['new'])).toEqual(['x']);
    expect(await all.add('new', 'y', 600)).toBe(false);
    const pages: string[][] = [];
    for await (const page of all.scan('new')) pages.push(page);
    expect(pages).toEqual([['new']]);
    expect(await all.evictionPolicy()).toBe('volatile-lru');
    expect(await nameOf(all)).toBe(await nameOf(store));
    expect(await all.take('new')).toBe('x');
    await reading.close();
  });

  it('finds the new master after the old one did not answer for a long time', async () => {
    const master = await sentinels.master();
    await store.setMany(['k'], 'x', 600);
    await sentinels.awaitReplication();
    master.freeze();
    // Longer than the time without a reply after which a single client is reconnected.
    for (let i = 0; i < 4; i++) {
      await expect(whenTimedOut(() => store.getMany(['k']))).rejects.toBeInstanceOf(StoreUnavailable);
    }
    await sentinels.failover(false);
    await eventually(isAnswering);
    expect(await store.getMany(['k'])).toEqual(['x']);
  });

  it('rejects in time without a master, and writes nothing later', async () => {
    const limits = [{ key: 'late counter', max: 5, seconds: 60 }];
    await (await sentinels.master()).stop();
    await eventually(async () => !(await whenTimedOut(isAnswering)));
    const calls = [
      () => store.getMany(['late']),
      () => store.setMany(['late'], 'x', 60),
      () => store.count(limits),
      () => store.settle(limits, 'failed'),
      () => store.identify(),
    ].map((call): Promise<unknown> => whenTimedOut<unknown>(call));
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailable) });
    }
    expect(store.instance).toBeNull();
    await sentinels.failover(true);
    await eventually(isAnswering);
    expect(await store.getMany(['late'])).toEqual([null]);
    const { buckets } = await store.count([{ ...limits[0]!, max: 0 }]);
    expect(buckets).toEqual([{ counted: 0, pending: 0, secondsLeft: 0 }]);
  });

  it('counts an attempt once, although node-redis repeats a command whose reply was lost', async () => {
    const { port } = await sentinels.master();
    const proxy = await TcpProxy.to(port);
    const behind = await throughSentinel(sentinels, {
      nodeAddressMap: { [`127.0.0.1:${port}`]: { host: '127.0.0.1', port: proxy.port } },
    });
    await nameOf(behind.store);
    const limit = { key: 'once', max: 5, seconds: 60 };
    proxy.resetAfter(0);
    await expect(behind.store.count([limit])).rejects.toBeInstanceOf(StoreUnavailable);
    await nameOf(behind.store);
    expect(await store.count([{ ...limit, max: 0 }])).toMatchObject({ buckets: [{ counted: 1 }] });
    await behind.close();
    await proxy.close();
  });
});
