import { EventEmitter } from 'node:events';
import { slotOf } from './cluster-topology';
import type { RedisClient } from '../../foundation/security-store/redis-client';
import type { RedisClusterNode } from './cluster-master';
import { ANSWER_MS, onRedis, type TestedStore } from '../../foundation/security-store/stores.testkit';
import type { RedisCluster } from '../../../../../test/support/stores/redis-cluster';
import { clusterStore } from './redis-cluster-store';

export type Words = readonly string[];

/** A master whose replies the test can replace. */
export class FakeMaster extends EventEmitter implements RedisClient {
  isOpen = true;
  isReady = true;
  readonly options = { password: 'secret', socket: { host: 'a', port: 1, tls: false } };
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
      return typeof reply === 'function' ? reply(words) : reply;
    }
    if (name === 'INFO') return `role:master\r\nrun_id:${this.address}`;
    if (name === 'MGET') return args.map((key) => this.values.get(key) ?? null);
    if (name === 'SET') return void this.values.set(args[0]!, args[1]!);
    if (name === 'SCAN') return ['0', [...this.values.keys()]];
    if (words[1] === 'NODES') return `id ${this.address}@1 myself,master - 0 0 1 connected 0-5460`;
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

  /** The calls of `connect` and `disconnect`. */
  readonly calls: string[] = [];

  disconnect = async (): Promise<void> => {
    this.calls.push('disconnect');
    this.isOpen = false;
  };

  connect = async (): Promise<void> => {
    this.calls.push('connect');
    this.isOpen = true;
  };
}

/** A cluster object. Its own list of masters never changes, as that of node-redis after the death of a master. */
export class FakeCluster extends EventEmitter {
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

  /** The options of the clients that the library makes itself, and the addresses to which they connect. */
  ownOptions: { defaults?: Record<string, unknown> } = {};
  readonly dialed: string[] = [];
  /** Replaces the connection of a client that the library makes. */
  dial = async (address: string): Promise<RedisClient> => this.all.get(address)!;

  duplicate(options: { defaults?: Record<string, unknown> }): unknown {
    this.ownOptions = options;
    const nodeClient = ({ address }: RedisClusterNode) => {
      this.dialed.push(address);
      return this.dial(address);
    };
    return { on: () => undefined, nodeClient };
  }
}

/**
 * The answer of a server that hangs: none until the end of the test, when it fails. A wait for it has a timer of the store's
 * timeout, which would keep the process running.
 */
export let never: Promise<never>;
let endTest: () => void;

beforeEach(() => {
  never = new Promise((_, reject) => (endTest = () => reject(new Error('the test is over'))));
  never.catch(() => undefined);
});
afterEach(() => endTest());

/** A key in one of three thirds of the slots. */
export function keyIn(third: number, tag = ''): string {
  for (let i = 0; ; i++) {
    const key = `${tag}${i}`;
    if (Math.floor(slotOf(key) / (16384 / 3)) === third) return key;
  }
}

/** Addresses of masters. */
export const [A, B, C, D] = ['10.0.0.1:1', '10.0.0.2:2', '10.0.0.3:3', '10.0.0.4:4'] as const;

/** The store on a cluster object of node-redis 4 or 5. */
export async function throughCluster(
  cluster: RedisCluster,
  version: 4 | 5,
  storeTimeoutMs = ANSWER_MS,
): Promise<TestedStore> {
  const client = await cluster.connect(version);
  const send = (words: string[]) => client.sendCommand(words[1], false, words);
  const store = await clusterStore(client).create({ storeTimeoutMs, keyPrefix: '' });
  return onRedis(client, send, () => client.disconnect(), storeTimeoutMs, store);
}
