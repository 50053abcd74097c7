import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { HELD_MS, whenTimedOut } from '../../../../../test/support/faults/store-timeouts';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { A, B, C, D, FakeCluster, type Words, keyIn, never } from './cluster-object.testkit';
import { slotOf } from './cluster-topology';
import type { RedisCluster } from './cluster-master';
import { RedisClusterStore } from './redis-cluster-store';

describe('the store on a cluster object', () => {
  let cluster: FakeCluster;
  let store: RedisClusterStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    cluster = new FakeCluster(A, B, C);
    store = new RedisClusterStore(cluster as unknown as RedisCluster, HELD_MS);
    await store.identify();
  });

  const refusal = (text: string): Error => new Error(text);

  it('sends each command to the master of its key, and reads several slots in the order of the keys', async () => {
    const [a, b, c] = [keyIn(0), keyIn(1), keyIn(2)];
    await store.setMany([a, b, c], 'x', 60);
    expect([0, 1, 2].map((i) => [...cluster.at(i).values.keys()])).toEqual([[a], [b], [c]]);
    cluster.at(1).values.set(b, 'y');
    expect(await store.getMany([c, b, a, keyIn(1, 'absent')])).toEqual(['x', 'y', 'x', null]);
  });

  it('reads the keys with one tag by one command to one master', async () => {
    const tag = store.slotTag('a session');
    await store.getMany([`svc:dl:complete${tag}`, `svc:dl:fid:${tag}1`, `svc:store${tag}`]);
    const reads = [0, 1, 2].flatMap((i) => cluster.at(i).data);
    expect(reads).toHaveLength(1);
    expect(reads[0]).toHaveLength(4);
  });

  it('has the names of all masters, and none while one of them is not known', async () => {
    expect(store.instance).toBe([A, B, C].join());
    cluster.at(1).emit('error', new Error('lost'));
    expect(store.instance).toBeNull();
  });

  it('names the master that answered a read, also while another master is away', async () => {
    await store.setMany([keyIn(0)], 'x', 60);
    cluster.at(1).isReady = false;
    cluster.at(1).emit('error', new Error('lost'));
    expect(await store.getWithInstance([keyIn(0)])).toEqual({ values: ['x'], instance: A });
    await store.identify();
    expect(await store.getWithInstance([keyIn(2)])).toEqual({ values: [null], instance: C });
    await expect(store.getWithInstance([keyIn(1)])).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('has no name for a read that two masters answered, or whose master changed its name', async () => {
    expect(await store.getWithInstance([keyIn(0), keyIn(1)])).toEqual({ values: [null, null], instance: null });
    cluster.at(0).replies.set('MGET', () => {
      cluster.at(0).replies.set('INFO', never);
      cluster.at(0).emit('error', new Error('lost'));
      return ['x'];
    });
    expect(await store.getWithInstance([keyIn(0)])).toEqual({ values: ['x'], instance: null });
  });

  it('cannot be identified if no master answers', async () => {
    for (const i of [0, 1, 2]) cluster.at(i).replies.set('INFO', refusal('LOADING'));
    await expect(store.identify()).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('follows a slot to another master', async () => {
    const key = keyIn(0);
    cluster.at(2).values.set(key, 'moved');
    cluster.at(0).replies.set('MGET', refusal(`MOVED ${slotOf(key)} ${C}`));
    const { instance } = store;
    expect(await store.getMany([key])).toEqual(['moved']);
    expect(store.instance).toBe(instance);
    const asked = cluster.at(0).data.length;
    await store.getMany([key]);
    expect(cluster.at(0).data).toHaveLength(asked);
  });

  it('follows a slot to a master that was not known, which has its own name', async () => {
    const key = keyIn(0);
    cluster.add(D).values.set(key, 'promoted');
    cluster.at(0).replies.set('MGET', refusal(`MOVED ${slotOf(key)} ${D}`));
    cluster.report(D, B, C);
    expect(await store.getMany([key])).toEqual(['promoted']);
    await eventually(async () => (await store.getWithInstance([key])).instance === D);
    expect((await store.getWithInstance([keyIn(1)])).instance).toBe(B);
    await store.identify();
    expect(store.instance).toBe([B, C, D].join());
  });

  it('asks the master that imports a slot, without another command in between', async () => {
    const key = keyIn(0);
    cluster.at(1).values.set(key, 'imported');
    cluster.at(0).replies.set('MGET', refusal(`ASK ${slotOf(key)} ${B}`));
    const reads = await Promise.all(Array.from({ length: 10 }, () => store.getMany([key])));
    expect(reads.flat()).toEqual(reads.map(() => 'imported'));
    const names = cluster.at(1).sent.map(([name]) => name);
    const before = names.flatMap((name, i) => (name === 'MGET' ? [names[i - 1]] : []));
    expect(before).toEqual(reads.map(() => 'ASKING'));
  });

  it('asks a new master that imports its first slot, and has no name for its answers', async () => {
    const key = keyIn(0);
    cluster.add(D).values.set(key, 'imported');
    cluster.at(0).replies.set(`MGET ${key}`, refusal(`ASK ${slotOf(key)} ${D}`));
    const { instance } = store;
    for (let i = 0; i < 3; i++) {
      const moving = { instance: null, isMoving: true };
      expect(await store.getWithInstance([key])).toEqual({ values: ['imported'], ...moving });
      await store.identify();
    }
    // One connection is kept while keys are asked for there. It concerns no other key.
    expect(cluster.dialed).toEqual([D]);
    expect(store.instance).toBe(instance);
    expect((await store.getWithInstance([keyIn(0, 'other')])).instance).toBe(A);
  });

  it('reads the keys of a slot that moves one after the other, in their order', async () => {
    const tag = store.slotTag('a session');
    const keys = ['complete', 'fid', 'nonce'].map((name) => `${name}${tag}`);
    const master = [0, 1, 2]
      .map((i) => cluster.at(i))
      .find(({ address }) => address === [A, B, C][Math.floor(slotOf(tag) / (16384 / 3))])!;
    master.replies.set(`MGET ${keys.join(' ')}`, refusal('TRYAGAIN Multiple keys request during rehashing of slot'));
    master.values.set(keys[1]!, 'denied');
    const moving = { instance: null, isMoving: true };
    expect(await store.getWithInstance(keys)).toEqual({ values: [null, 'denied', null], ...moving });
    expect(master.data.slice(1)).toEqual([...keys, `svc:absent${tag}`].map((key) => ['MGET', key]));
    // Also while the master still has all of them: it refuses to read them together with a key that does not exist.
    master.replies.set(`MGET ${keys[1]} svc:absent${tag}`, refusal('TRYAGAIN'));
    expect(await store.getWithInstance([keys[1]!])).toEqual({ values: ['denied'], ...moving });
  });

  it('does not send a command to a master without a connection, and uses its promoted replica', async () => {
    const key = keyIn(0);
    cluster.at(0).isReady = false;
    cluster.at(0).emit('error', new Error('lost'));
    const before = cluster.at(0).sent.length;
    await expect(store.getMany([key])).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await store.getMany([keyIn(1)])).toEqual([null]);
    expect(cluster.at(0).sent).toHaveLength(before);
    cluster.add(D).values.set(key, 'x');
    cluster.report(D, B, C);
    await eventually(async () =>
      store.getMany([key]).then(
        ([value]) => value === 'x',
        () => false,
      ),
    );
    expect(cluster.at(0).sent).toHaveLength(before);
  });

  it.each(['CLUSTERDOWN The cluster is down', 'READONLY You can not write against a read only replica.', 'TRYAGAIN'])(
    'is unavailable after the reply %j',
    async (reply) => {
      cluster.at(0).replies.set('SET', refusal(reply));
      await expect(store.add(keyIn(0), 'x', 60)).rejects.toBeInstanceOf(StoreUnavailable);
    },
  );

  it('is unavailable, and ends, when two masters redirect to each other', async () => {
    const key = keyIn(0);
    cluster.at(0).replies.set('MGET', refusal(`MOVED ${slotOf(key)} ${B}`));
    cluster.at(1).replies.set('MGET', refusal(`MOVED ${slotOf(key)} ${A}`));
    await expect(store.getMany([key])).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('ignores a former master that still believes to serve its slots', async () => {
    cluster.add(D).view = [D, B, C];
    for (const i of [1, 2]) cluster.at(i).view = [D, B, C];
    await store.identify();
    expect(store.instance).toBe([B, C, D].join());
  });

  it('closes the connections that it opened when the cluster object is closed, and no others', async () => {
    cluster.add(D);
    cluster.report(D, B, C);
    await store.identify();
    cluster.isOpen = false;
    await eventually(async () => !cluster.at(3).isOpen);
    expect([0, 1, 2].map((i) => cluster.at(i).isOpen)).toEqual([true, true, true]);
  });

  it('limits the wait for a master that a redirection names to the store timeout', async () => {
    const key = keyIn(0);
    cluster.dial = () => never;
    for (const kind of ['MOVED', 'ASK']) {
      cluster.at(0).replies.set('MGET', refusal(`${kind} ${slotOf(key)} ${D}`));
      await expect(whenTimedOut(() => store.getMany([key]))).rejects.toBeInstanceOf(StoreUnavailable);
      await store.identify();
    }
  });

  describe('that counts an attempt in several slots', () => {
    const limits = [0, 1, 2].map((third) => ({ key: keyIn(third), max: 5, seconds: 60 }));
    const bucketOf = (counted: number) => [counted, 0, 60_000];

    beforeEach(() => {
      for (const i of [0, 1, 2]) cluster.at(i).replies.set('EVAL', [1, ...bucketOf(1)]);
    });

    it('counts in none of the later slots after a refusal, and takes back the earlier ones', async () => {
      const sent: string[] = [];
      for (const [i, name] of ['first', 'second', 'third'].entries()) {
        cluster.at(i).replies.set('EVAL', (words: Words) => {
          const isUndo = words[1]!.includes('PTTL') && !words[1]!.includes('admitted');
          const isRead = words.at(-3) === '0';
          sent.push(`${isUndo ? 'undo' : isRead ? 'read' : 'count'} ${name}`);
          if (isUndo) return [0, 0, 0];
          return [i === 1 || isRead ? 0 : 1, ...bucketOf(i === 1 ? 5 : 3)];
        });
      }
      expect(await store.count(limits)).toEqual({
        admitted: false,
        buckets: [
          { counted: 2, pending: 0, secondsLeft: 60 },
          { counted: 5, pending: 0, secondsLeft: 60 },
          { counted: 3, pending: 0, secondsLeft: 60 },
        ],
      });
      expect(sent.toSorted()).toEqual(['count first', 'count second', 'read third', 'undo first']);
    });

    it('does not wait for a slot that hangs when it takes an attempt back, and logs it', async () => {
      const errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
      cluster.at(0).replies.set('EVAL', (words: Words) => (words.length > 6 ? [1, ...bucketOf(1)] : never));
      cluster.at(1).replies.set('EVAL', [0, ...bucketOf(5)]);
      // No timeout ends here, and the slot that hangs never answers.
      expect(await store.count(limits.slice(0, 2))).toMatchObject({ admitted: false, buckets: [{ counted: 0 }, {}] });
      expect(errors).not.toHaveBeenCalled();
      const quick = new RedisClusterStore(cluster as unknown as RedisCluster, 50);
      await quick.identify();
      await quick.count(limits.slice(0, 2)).catch(() => undefined);
      await eventually(async () => errors.mock.calls.length > 0);
    });

    it('does not take back an attempt whose window has ended: it could be that of another client', async () => {
      cluster.at(0).replies.set('EVAL', [1, 1, 0, 5]);
      cluster.at(1).replies.set('EVAL', async () => {
        await sleep(20);
        return [0, ...bucketOf(5)];
      });
      await store.count(limits.slice(0, 2));
      expect(cluster.at(0).data).toHaveLength(1);
    });
  });

  it.each(['app:', '{app}:', 'app}:', 'a{b}c{'])('accepts the key prefix "%s"', (prefix) => {
    expect(() => new RedisClusterStore(cluster as unknown as RedisCluster, 500, prefix)).not.toThrow();
  });

  it.each(['shop{eu:', 'x{}', '{'])('refuses the key prefix "%s", which divides the keys of one session', (prefix) => {
    expect(() => new RedisClusterStore(cluster as unknown as RedisCluster, 500, prefix)).toThrow(AuthConfigError);
  });
});
