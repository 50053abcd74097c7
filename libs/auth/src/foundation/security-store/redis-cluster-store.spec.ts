import { Logger } from '@nestjs/common';
import { EventEmitter } from 'node:events';
import { eventually } from '../../../../../test/support/eventually';
import { AuthConfigError, StoreUnavailable } from '../platform/errors';
import { slotOf } from './cluster-topology';
import type { RedisClient, RedisCluster, RedisClusterNode } from './redis-client';
import { RedisClusterStore } from './redis-cluster-store';

type Words = readonly string[];

/** A master whose replies the test can replace. */
class FakeMaster extends EventEmitter implements RedisClient {
  isOpen = true;
  isReady = true;
  readonly sent: Words[] = [];
  readonly values = new Map<string, string>();
  /** The owners of the slots in its replies: the first slots belong to the first address, and so on. */
  view: string[] = [];
  /** Replaces the reply to a command, or the error, by its first words. */
  readonly replies = new Map<string, unknown>();

  constructor(readonly address: string) {
    super();
  }

  async sendCommand(words: Words): Promise<unknown> {
    this.sent.push(words);
    const [name, ...args] = words;
    for (const [start, reply] of this.replies) {
      if (!words.join(' ').startsWith(start)) continue;
      if (reply instanceof Error) throw reply;
      return reply;
    }
    if (name === 'INFO') return `role:master\r\nrun_id:${this.address}`;
    if (name === 'MGET') return args.map((key) => this.values.get(key) ?? null);
    if (name === 'SET') return void this.values.set(args[0]!, args[1]!);
    if (name === 'CLUSTER') {
      const width = 16384 / this.view.length;
      return this.view.map((address, i) => {
        const [host, port] = address.split(':');
        return [Math.ceil(width * i), Math.ceil(width * (i + 1)) - 1, [host, Number(port)]];
      });
    }
    return 'OK';
  }

  /** The commands that read or write keys. */
  get data(): Words[] {
    return this.sent.filter(([name]) => !['INFO', 'CLUSTER'].includes(name!));
  }

  disconnect = async (): Promise<void> => void (this.isOpen = false);
}

/** A cluster object. Its own list of masters never changes, as that of node-redis after the death of a master. */
class FakeCluster extends EventEmitter {
  isOpen = true;
  readonly all = new Map<string, FakeMaster>();
  readonly nodeByAddress = new Map<string, RedisClusterNode>();

  constructor(...addresses: string[]) {
    super();
    for (const address of addresses) {
      this.nodeByAddress.set(address, { address, readonly: false });
      this.add(address).view = addresses;
    }
  }

  get masters(): RedisClusterNode[] {
    return [...this.nodeByAddress.values()];
  }

  add(address: string): FakeMaster {
    const master = new FakeMaster(address);
    this.all.set(address, master);
    return master;
  }

  at(i: number): FakeMaster {
    return [...this.all.values()][i]!;
  }

  /** Sets what all masters report. */
  report(...addresses: string[]): void {
    for (const master of this.all.values()) master.view = addresses;
  }

  getSlotMaster = (): unknown => undefined;
  nodeClient = async ({ address }: RedisClusterNode): Promise<RedisClient> => this.all.get(address)!;
}

/** A key in one of three thirds of the slots. */
function keyIn(third: number, tag = ''): string {
  for (let i = 0; ; i++) {
    const key = `${tag}${i}`;
    if (Math.floor(slotOf(key) / (16384 / 3)) === third) return key;
  }
}

const [A, B, C, D] = ['10.0.0.1:1', '10.0.0.2:2', '10.0.0.3:3', '10.0.0.4:4'] as const;

describe('the store on a cluster object', () => {
  let cluster: FakeCluster;
  let store: RedisClusterStore;

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    cluster = new FakeCluster(A, B, C);
    store = new RedisClusterStore(cluster as unknown as RedisCluster, 500);
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

  it('has another name when a slot moves to a master that was not known', async () => {
    const key = keyIn(0);
    const { instance } = store;
    cluster.add(D).values.set(key, 'promoted');
    cluster.at(0).replies.set('MGET', refusal(`MOVED ${slotOf(key)} ${D}`));
    cluster.report(D, B, C);
    expect(await store.getMany([key])).toEqual(['promoted']);
    expect(store.instance).not.toBe(instance);
    await eventually(async () => store.instance === [B, C, D].join());
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

  it('asks a new master that imports its first slot, and has another name from then on', async () => {
    const key = keyIn(0);
    cluster.add(D).values.set(key, 'imported');
    cluster.at(0).replies.set('MGET', refusal(`ASK ${slotOf(key)} ${D}`));
    expect(await store.getMany([key])).toEqual(['imported']);
    await eventually(async () => store.instance === [A, B, C, D].join());
    await store.identify();
    expect(store.instance).toBe([A, B, C, D].join());
    cluster.at(3).isReady = false;
    await store.identify();
    expect(store.instance).toBe([A, B, C].join());
  });

  it('forgets a new master that has become a replica, also while its connection stays open', async () => {
    const key = keyIn(0);
    cluster.add(D).values.set(key, 'imported');
    cluster.at(0).replies.set('MGET', refusal(`ASK ${slotOf(key)} ${D}`));
    await store.getMany([key]);
    await eventually(async () => store.instance === [A, B, C, D].join());
    cluster.at(3).replies.set('INFO', 'role:slave');
    cluster.at(0).replies.clear();
    await store.identify();
    // Before a refresh it is not certain whether the replica still serves a slot.
    expect(store.instance).toBeNull();
    await store.identify();
    expect(store.instance).toBe([A, B, C].join());
  });

  it('reads the keys of a slot that moves one after the other, in their order', async () => {
    const tag = store.slotTag('a session');
    const keys = ['complete', 'fid', 'nonce'].map((name) => `${name}${tag}`);
    const master = [0, 1, 2]
      .map((i) => cluster.at(i))
      .find(({ address }) => address === [A, B, C][Math.floor(slotOf(tag) / (16384 / 3))])!;
    master.replies.set(`MGET ${keys.join(' ')}`, refusal('TRYAGAIN Multiple keys request during rehashing of slot'));
    master.values.set(keys[1]!, 'denied');
    expect(await store.getMany(keys)).toEqual([null, 'denied', null]);
    expect(master.data.slice(1)).toEqual(keys.map((key) => ['MGET', key]));
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

  it.each(['app:', '{app}:', 'app}:', 'a{b}c{'])('accepts the key prefix "%s"', (prefix) => {
    expect(() => new RedisClusterStore(cluster as unknown as RedisCluster, 500, prefix)).not.toThrow();
  });

  it.each(['shop{eu:', 'x{}', '{'])('refuses the key prefix "%s", which divides the keys of one session', (prefix) => {
    expect(() => new RedisClusterStore(cluster as unknown as RedisCluster, 500, prefix)).toThrow(AuthConfigError);
  });
});
