import { Logger } from '@nestjs/common';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { A, B, C, D, FakeCluster, never } from './cluster-object.testkit';
import { importersIn } from './cluster-topology';
import type { RedisCluster } from './cluster-master';
import { RedisClusterStore } from './redis-cluster-store';

describe('the store on a cluster object', () => {
  let cluster: FakeCluster;
  let store: RedisClusterStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    cluster = new FakeCluster(A, B, C);
    store = new RedisClusterStore(cluster as unknown as RedisCluster, 500);
    await store.identify();
  });

  describe('that is scanned', () => {
    const all = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const page of store.scan('')) keys.push(...page);
      return [...new Set(keys)].toSorted();
    };
    const moving = `a ${A}@1 myself,master - 0 0 1 connected 0-5460 [7->-d]\nd ${D}@1,host master - 0 0 4 connected`;

    it('reads the keys of a master that imports its first slot', async () => {
      cluster.at(0).values.set('stays', 'x');
      cluster.add(D).values.set('moved', 'x');
      cluster.at(0).replies.set('CLUSTER NODES', moving);
      expect(await all()).toEqual(['moved', 'stays']);
    });

    it('fails if a slot begins to move to another master meanwhile', async () => {
      cluster.add(D).values.set('moved', 'x');
      cluster.at(2).replies.set('SCAN', () => {
        cluster.at(0).replies.set('CLUSTER NODES', moving);
        return ['0', []];
      });
      await expect(all()).rejects.toBeInstanceOf(StoreUnavailable);
    });

    it('fails if a master is away', async () => {
      cluster.report(D, B, C);
      cluster.dial = () => never;
      await expect(all()).rejects.toBeInstanceOf(StoreUnavailable);
    });

    it('logs once that it may not ask for the importing masters', async () => {
      const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
      cluster
        .at(1)
        .replies.set('CLUSTER NODES', new Error("NOPERM User library has no permissions to run 'cluster|nodes'"));
      for (let i = 0; i < 2; i++) await expect(all()).rejects.toBeInstanceOf(StoreUnavailable);
      expect(warned.mock.calls).toEqual([[expect.stringContaining('Allow it for its user (ACL: +cluster|nodes)')]]);
    });

    it('knows an importing master by its host name, if the slots have host names', () => {
      const reply = `a 10.0.0.1:1@1,one myself,master - 0 0 1 connected 0-9 [7->-d] [8->-e]\nd 10.0.0.4:4@1,four master -\ne ${C}@1, master -`;
      expect(importersIn(reply, ['four:4'])).toEqual(['four:4', C]);
      expect(importersIn(reply)).toEqual(['10.0.0.4:4', C]);
    });

    it.each([
      [moving, [D]],
      [`a ${A}@1 myself,master - 0 0 1 connected 0-5460 [7-<-d]\nd ${D}@1 master - 0 0 4 connected`, []],
      [`a ${A}@1 master - 0 0 1 connected 0-5460 [7->-d]\nd ${D}@1 myself,master - 0 0 4 connected`, []],
      ['', []],
    ])('reads from %j the importing masters %j', (reply, addresses) => {
      expect(importersIn(reply)).toEqual(addresses);
    });
  });

  describe('whose eviction policy is read', () => {
    const policy = (i: number, text: string) => cluster.at(i).replies.set('CONFIG GET', ['maxmemory-policy', text]);

    it('reports a master that evicts keys, also while another master is away', async () => {
      for (const i of [0, 1, 2]) policy(i, 'noeviction');
      expect(await store.evictionPolicy()).toBe('noeviction');
      cluster.report(D, B, C);
      cluster.dial = () => never;
      expect(await store.evictionPolicy()).toBeNull();
      policy(2, 'allkeys-lru');
      expect(await store.evictionPolicy()).toBe('allkeys-lru');
    });

    it('logs that a master evicts keys, which was not there when the policy was read', async () => {
      for (const i of [0, 1, 2]) policy(i, 'noeviction');
      await store.evictionPolicy();
      const errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
      cluster.add(D);
      policy(3, 'allkeys-lru');
      cluster.report(D, B, C);
      await store.identify();
      await eventually(async () => errors.mock.calls.length > 0);
      expect(errors.mock.calls).toEqual([[expect.stringContaining('The maxmemory-policy of Redis is allkeys-lru')]]);
    });
  });
});
