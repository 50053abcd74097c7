import { Logger } from '@nestjs/common';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { HELD_MS } from '../../../../../test/support/faults/store-timeouts';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { A, B, C, D, FakeCluster, FakeMaster, keyIn, never } from './cluster-object.testkit';
import type { RedisClient } from '../../foundation/security-store/redis-client';
import type { RedisCluster } from './cluster-master';
import { RedisClusterStore } from './redis-cluster-store';

describe('a connection of the store on a cluster object', () => {
  let cluster: FakeCluster;
  let store: RedisClusterStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    cluster = new FakeCluster(A, B, C);
    store = new RedisClusterStore(cluster as unknown as RedisCluster, HELD_MS);
    await store.identify();
  });

  describe('that opens connections itself', () => {
    beforeEach(async () => {
      cluster.report(D, B, C);
    });

    /** Refreshes, and does not wait for the connection, which would take a store timeout. */
    const dialing = async (): Promise<void> => {
      void store.identify();
      await eventually(async () => cluster.dialed.length > 0);
    };

    it('uses the options of the host, and one attempt to connect', async () => {
      cluster.add(D);
      await store.identify();
      const { defaults } = cluster.ownOptions;
      expect(defaults).toMatchObject({ password: 'secret', socket: { tls: false, reconnectStrategy: false } });
    });

    it('closes one whose address has left the masters while it was connecting', async () => {
      let connect = (_: RedisClient): void => undefined;
      cluster.dial = () => new Promise((resolve) => (connect = resolve));
      await dialing();
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
      await dialing();
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
      await eventually(async () => (await store.getMany([keyIn(0)]).catch(() => undefined))?.[0] === null);
      expect(next.data).toHaveLength(1);
    });

    it('waits longer after each failed attempt', async () => {
      cluster.add(D);
      cluster.dial = async () => Promise.reject(new Error('refused'));
      await store.identify();
      // The time of the test: between two attempts, it passes in steps of 50 ms.
      let now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const dials: number[] = [];
      for (const start = now; dials.length < 4; now += 50) {
        const { length } = cluster.dialed;
        await store.getMany([keyIn(0)]).catch(() => undefined);
        if (cluster.dialed.length > length) dials.push(now - start);
        expect(now - start).toBeLessThan(10_000);
      }
      // After 200, 400 and 800 ms, and not after each 100 ms.
      for (const [i, pause] of [400, 800, 1000].entries()) {
        expect(Math.round(dials[i + 1]! - dials[i]!)).toBeGreaterThanOrEqual(pause);
      }
    });

    it('does not make others wait for a master that accepts no connection', async () => {
      cluster.dial = () => never;
      await dialing();
      const [E, key] = ['10.0.0.5:5', keyIn(1)];
      cluster.report(D, E, C);
      cluster.add(E).view = [D, E, C];
      cluster.dial = (address) => (address === E ? Promise.resolve(cluster.at(3)) : never);
      cluster.at(1).isReady = false;
      // The timeout is longer than a test may take: a wait for the other master would end in none.
      await eventually(async () =>
        store.getMany([key]).then(
          () => true,
          () => false,
        ),
      );
      expect(await store.getMany([key])).toEqual([null]);
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
    const times: number[] = [];
    const asks = jest.spyOn(replica, 'sendCommand').mockImplementation(async ([name, section]) => {
      if (name === 'INFO' && section === 'server') times.push(performance.now());
      return 'role:slave';
    });
    replica.emit('ready');
    await eventually(async () => times.length > 4);
    asks.mockRestore();
    const pauses = times.slice(1).map((at, i) => at - times[i]!);
    // Timers are never early: the pauses are at least 100, 200, 400 and 800 ms, whatever the machine is.
    for (const [i, shortest] of [100, 200, 400, 800].entries()) expect(pauses[i]).toBeGreaterThan(shortest - 5);
  });

  it.each([
    ['replaces a connection without answers', true, ['disconnect', 'connect']],
    ['does not connect again after the cluster object was closed', false, ['disconnect']],
  ])('%s', async (_, isOpen, calls) => {
    const quick = new RedisClusterStore(cluster as unknown as RedisCluster, 20);
    await quick.identify();
    // A server answers in order: after a command without an answer, it answers no later one on the connection.
    cluster.at(0).replies.set('', never);
    cluster.isOpen = isOpen;
    await eventually(async () => {
      await quick.getMany([keyIn(0)]).catch(() => undefined);
      return cluster.at(0).calls.length > 0;
    });
    if (isOpen) await eventually(async () => cluster.at(0).calls.length > 1);
    // The call of `connect` would follow in the microtasks after `disconnect`.
    await new Promise(setImmediate);
    expect(cluster.at(0).calls).toEqual(calls);
  });
});
