import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../../test/support/eventually';
import { StoreUnavailable } from '../platform/errors';
import { A, B, C, D, FakeCluster, FakeMaster, keyIn, never } from './cluster-object.testkit';
import type { RedisClient, RedisCluster } from './redis-client';
import { RedisClusterStore } from './redis-cluster-store';

describe('a connection of the store on a cluster object', () => {
  let cluster: FakeCluster;
  let store: RedisClusterStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    cluster = new FakeCluster(A, B, C);
    store = new RedisClusterStore(cluster as unknown as RedisCluster, 500);
    await store.identify();
  });

  describe('that opens connections itself', () => {
    beforeEach(async () => {
      cluster.report(D, B, C);
    });

    it('uses the options of the host, and one attempt to connect', async () => {
      cluster.add(D);
      await store.identify();
      const { defaults } = cluster.ownOptions;
      expect(defaults).toMatchObject({ password: 'secret', socket: { tls: false, reconnectStrategy: false } });
    });

    it('closes one whose address has left the masters while it was connecting', async () => {
      let connect = (_: RedisClient): void => undefined;
      cluster.dial = () => new Promise((resolve) => (connect = resolve));
      await store.identify();
      cluster.report(A, B, C);
      await store.identify();
      const late = new FakeMaster(D);
      connect(late);
      await eventually(async () => !late.isOpen);
      expect(store.instance).toBe([A, B, C].join());
    });

    it('closes one that connects after the cluster object was closed, and opens no other', async () => {
      let connect = (_: RedisClient): void => undefined;
      cluster.dial = () => new Promise((resolve) => (connect = resolve));
      await store.identify();
      cluster.isOpen = false;
      const late = new FakeMaster(D);
      connect(late);
      await eventually(async () => !late.isOpen);
      await expect(store.getMany([keyIn(0)])).rejects.toBeInstanceOf(StoreUnavailable);
      await store.identify().catch(() => undefined);
      await expect(store.getMany([keyIn(0)])).rejects.toBeInstanceOf(StoreUnavailable);
      expect(cluster.dialed).toEqual([D]);
    });

    it('opens another one after a loss, for the next command', async () => {
      const lost = cluster.add(D);
      await store.identify();
      lost.isOpen = lost.isReady = false;
      const next = cluster.add(D);
      next.view = [D, B, C];
      await sleep(120);
      expect(await store.getMany([keyIn(0)])).toEqual([null]);
      expect(next.data).toHaveLength(1);
    });

    it('waits longer after each failed attempt', async () => {
      cluster.add(D);
      cluster.dial = async () => Promise.reject(new Error('refused'));
      await store.identify();
      const started = performance.now();
      while (performance.now() - started < 1000) {
        await store.getMany([keyIn(0)]).catch(() => undefined);
        await sleep(5);
      }
      // After 200, 400 and 800 ms, and not after each 100 ms.
      expect(cluster.dialed.length).toBeGreaterThan(1);
      expect(cluster.dialed.length).toBeLessThan(5);
    });

    it('does not make others wait for a master that accepts no connection', async () => {
      cluster.dial = () => never;
      await store.identify();
      const [E, key] = ['10.0.0.5:5', keyIn(1)];
      cluster.report(D, E, C);
      cluster.add(E).view = [D, E, C];
      cluster.dial = (address) => (address === E ? Promise.resolve(cluster.at(3)) : never);
      cluster.at(1).isReady = false;
      const started = performance.now();
      await eventually(async () =>
        store.getMany([key]).then(
          () => true,
          () => false,
        ),
      );
      // Without the limit of one store timeout, which is the wait for the other master.
      expect(performance.now() - started).toBeLessThan(500);
    });
  });

  it('uses the client of the cluster object with the same listeners when its server is a master again', async () => {
    for (let i = 0; i < 3; i++) {
      cluster.add(D);
      cluster.report(D, B, C);
      await store.identify();
      cluster.report(A, B, C);
      await store.identify();
    }
    expect(['error', 'ready'].map((event) => cluster.at(0).listenerCount(event))).toEqual([2, 2]);
    expect((await store.getWithInstance([keyIn(0)])).instance).toBe(A);
  });

  it('asks a server that has become a replica for its name less and less often', async () => {
    const replica = cluster.at(0);
    replica.replies.set('INFO', 'role:slave');
    replica.emit('ready');
    await sleep(1500);
    const asked = replica.sent.filter(([name]) => name === 'INFO').length;
    // After 100, 200, 400 and 800 ms, with two commands each, and not after each 100 ms.
    expect(asked).toBeLessThan(2 * 8);
  });

  it.each([
    ['replaces a connection without answers', true, ['disconnect', 'connect']],
    ['does not connect again after the cluster object was closed', false, ['disconnect']],
  ])('%s', async (_, isOpen, calls) => {
    const quick = new RedisClusterStore(cluster as unknown as RedisCluster, 20);
    await quick.identify();
    cluster.at(0).replies.set('MGET', never);
    cluster.isOpen = isOpen;
    await eventually(async () => {
      await quick.getMany([keyIn(0)]).catch(() => undefined);
      return cluster.at(0).calls.length > 0;
    });
    await sleep(10);
    expect(cluster.at(0).calls).toEqual(calls);
  });
});
