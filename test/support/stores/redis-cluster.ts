import { createCluster as createCluster4 } from '@redis/client';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, createCluster as createCluster5 } from 'redis-5';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { eventually } from '../runtime/eventually';
import { RedisServer } from './redis';

const SLOTS = 16384;
const MASTERS = 3;

/** Milliseconds after which the other masters declare a master dead: longer than a pause of a slow machine. */
const NODE_TIMEOUT_MS = 3000;

/** Milliseconds in which a server answers. */
const ANSWER_MS = 60_000;

/** `createClient` builds a class with all commands for each new address, which takes 20 ms of CPU. A duplicate does not. */
const unconnected = createClient();

type Connection = Awaited<ReturnType<typeof unconnected.connect>>;

/** A server of the cluster, with a connection for the commands of the test. */
class ClusterServer {
  private connection?: Connection;

  private constructor(
    readonly server: RedisServer,
    readonly bus: number,
    private readonly file: string,
  ) {}

  static async start(): Promise<ClusterServer> {
    const file = join(tmpdir(), `svc-cluster-${process.pid}-${await freePort()}.conf`);
    const bus = await freePort();
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-config-file': file,
      'cluster-port': bus,
      'cluster-node-timeout': NODE_TIMEOUT_MS,
      'cluster-announce-ip': '127.0.0.1',
      // A replica is promoted however long ago it was linked to its master.
      'cluster-replica-validity-factor': 0,
    };
    const server = await RedisServer.start(
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
    return new ClusterServer(server, bus, file);
  }

  get port(): number {
    return this.server.port;
  }

  get isRunning(): boolean {
    return this.server.isRunning;
  }

  async command<T = string>(...words: (string | number)[]): Promise<T> {
    if (!this.connection?.isReady) {
      this.connection?.destroy();
      const client = unconnected.duplicate({
        socket: { host: '127.0.0.1', port: this.port, reconnectStrategy: false },
      });
      this.connection = await client.on('error', () => undefined).connect();
    }
    const waiting = new AbortController();
    // A frozen server never answers.
    const silence = sleep(ANSWER_MS, undefined, waiting).then((): never => {
      throw new Error(`port ${this.port} did not answer ${words[0]}`);
    });
    silence.catch(() => undefined);
    const reply = await Promise.race([this.connection.sendCommand(words.map(String)), silence]);
    waiting.abort();
    return reply as T;
  }

  async id(): Promise<string> {
    return this.command('CLUSTER', 'MYID');
  }

  /** Whether the server sees a complete cluster in which every replica is linked to its master. */
  async isSettled(nodes: number): Promise<boolean> {
    const [state, replication] = [await this.command('CLUSTER', 'INFO'), await this.command('INFO', 'replication')];
    const isLinked = !replication.includes('role:slave') || replication.includes('master_link_status:up');
    return state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${nodes}`) && isLinked;
  }

  async isMaster(): Promise<boolean> {
    return (await this.command('INFO', 'replication')).includes('role:master');
  }

  async stop(): Promise<void> {
    this.connection?.destroy();
    this.connection = undefined;
    await this.server.stop();
  }

  remove(): void {
    rmSync(this.file, { force: true });
  }
}

/** A Redis Cluster with three masters, each with a replica, for one test. */
export class RedisCluster {
  private constructor(
    /** Pairs of servers: at any time one of a pair is the master of the same third of the slots. */
    private readonly pairs: readonly (readonly [ClusterServer, ClusterServer])[],
  ) {}

  /** Resolves when every slot is served and every replica has its data. */
  static async start(): Promise<RedisCluster> {
    const servers: ClusterServer[] = [];
    for (let i = 0; i < 2 * MASTERS; i++) servers.push(await ClusterServer.start());
    const pairs = Array.from({ length: MASTERS }, (_, i) => [servers[i]!, servers[MASTERS + i]!] as const);
    const cluster = new RedisCluster(pairs);
    for (const [i, server] of servers.entries()) await server.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    for (const { port, bus } of servers.slice(1)) await servers[0]!.command('CLUSTER', 'MEET', '127.0.0.1', port, bus);
    for (const [i, [master]] of pairs.entries()) {
      const first = Math.floor((SLOTS * i) / MASTERS);
      const slots = Array.from({ length: Math.floor((SLOTS * (i + 1)) / MASTERS) - first }, (_, n) => first + n);
      await master.command('CLUSTER', 'ADDSLOTS', ...slots);
    }
    await cluster.settled();
    for (const [master, replica] of pairs) {
      const id = await master.id();
      await eventually(async () => (await replica.command('CLUSTER', 'NODES')).includes(id));
      await replica.command('CLUSTER', 'REPLICATE', id);
    }
    await cluster.settled();
    return cluster;
  }

  get rootNodes(): { url: string }[] {
    return this.pairs.flat().map(({ server: { url } }) => ({ url }));
  }

  /** A connected cluster object of node-redis. */
  async connect(version: 4 | 5): Promise<ClusterClient> {
    const { rootNodes } = this;
    const socket = { connectTimeout: 60_000, reconnectStrategy: (retries: number) => Math.min(retries * 50, 500) };
    const defaults = { disableOfflineQueue: true, socket };
    const cluster = version === 4 ? createCluster4({ rootNodes, defaults }) : createCluster5({ rootNodes, defaults });
    // Prevents unhandled error events: a store adds its listeners later.
    cluster.on('error', () => undefined);
    await cluster.connect();
    return cluster as unknown as ClusterClient;
  }

  /** Sends a command to the master of a pair. */
  async command<T = string>(pair: number, ...words: (string | number)[]): Promise<T> {
    return (await this.master(pair)).command<T>(...words);
  }

  /** Kills the master of a pair: 0, 1 or 2. The other masters promote its replica after some seconds. */
  async killMaster(pair: number): Promise<void> {
    await (await this.master(pair)).stop();
  }

  /** The running master does not answer until the returned function is called. */
  async freezeMaster(pair: number): Promise<() => void> {
    const { server } = await this.master(pair);
    server.freeze();
    return () => server.thaw();
  }

  /**
   * Makes the replica of a pair the master while its master runs.
   *
   * @param isForced without the consent of the master, so that the replica may lack its latest writes
   */
  async failover(pair: number, isForced = false): Promise<void> {
    const master = await this.master(pair);
    const replica = this.pairs[pair]!.find((one) => one !== master)!;
    await replica.command('CLUSTER', 'FAILOVER', ...(isForced ? ['TAKEOVER'] : []));
    await eventually(async () => !(await master.isMaster()));
    await master.command('ACL', 'SETUSER', 'default', '+psync', '+sync', '+replconf');
    await this.awaitPromotion();
  }

  /** Stops the replication of a pair. The replica lacks later writes when it is promoted. */
  async cutReplication(pair: number): Promise<void> {
    const master = await this.master(pair);
    await master.command('ACL', 'SETUSER', 'default', '-psync', '-sync', '-replconf');
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
  }

  /** Resolves when the replica of a pair has all the data of its master. */
  async awaitReplication(pair: number): Promise<void> {
    await eventually(async () => Number(await this.command(pair, 'WAIT', 1, 100)) === 1);
  }

  /** Resolves when every slot is served by a running master. */
  async awaitPromotion(): Promise<void> {
    await eventually(async () => {
      const masters = await Promise.all(this.pairs.map((_, i) => this.master(i).catch(() => null)));
      const states = await Promise.all(masters.map((one) => one?.command('CLUSTER', 'INFO').catch(() => '')));
      return states.every((state) => state?.includes('cluster_state:ok'));
    });
  }

  /** Starts the killed servers again. Resolves when they are linked replicas. */
  async restore(): Promise<void> {
    for (const { server, isRunning } of this.pairs.flat()) if (!isRunning) await server.start();
    await this.settled();
  }

  /** Moves a slot to the master of another pair with its keys, as `redis-cli --cluster reshard` does. */
  async moveSlot(slot: number, pair: number, halfway: () => Promise<unknown> = async () => undefined): Promise<void> {
    const { source, target, keys, move, to } = await this.beginMove(slot, pair);
    await move(keys.slice(0, keys.length / 2));
    await halfway();
    await move(await source.command<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100_000));
    for (const one of [target, source]) await one.command('CLUSTER', 'SETSLOT', slot, 'NODE', to);
  }

  /** Begins to move a slot. The importing master loses the keys that were moved, and the move is cancelled. */
  async cancelMove(
    slot: number,
    pair: number,
    isMoved: (key: string) => boolean,
    halfway: () => Promise<unknown>,
  ): Promise<void> {
    const { source, target, keys, move } = await this.beginMove(slot, pair);
    await move(keys.filter(isMoved));
    await halfway();
    await target.command('FLUSHALL');
    for (const one of [target, source]) await one.command('CLUSTER', 'SETSLOT', slot, 'STABLE');
  }

  private async beginMove(slot: number, pair: number) {
    const [source, target] = [await this.master(await this.pairOf(slot)), await this.master(pair)];
    const [from, to] = [await source.id(), await target.id()];
    await target.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from);
    await source.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to);
    const keys = await source.command<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100_000);
    const move = (moved: string[]): Promise<unknown> =>
      moved.length
        ? source.command('MIGRATE', '127.0.0.1', target.port, '', 0, 5000, 'REPLACE', 'KEYS', ...moved)
        : Promise.resolve();
    return { source, target, keys, move, to };
  }

  /** The pair whose master serves a slot. */
  async pairOf(slot: number): Promise<number> {
    for (let i = 0; i < this.pairs.length; i++) {
      const nodes = await this.command(i, 'CLUSTER', 'NODES');
      const [, ranges = ''] = /myself[^\n]*connected ?([^\n]*)/.exec(nodes) ?? [];
      const isHere = ranges.split(' ').some((range) => {
        const [from, to = from] = range.split('-').map(Number);
        return from! <= slot && slot <= to!;
      });
      if (isHere) return i;
    }
    throw new Error(`no master serves the slot ${slot}`);
  }

  async stop(): Promise<void> {
    for (const one of this.pairs.flat()) {
      await one.stop();
      one.remove();
    }
  }

  private async master(pair: number): Promise<ClusterServer> {
    let found: ClusterServer | undefined;
    // On a slow machine, the servers may promote a replica by themselves.
    await eventually(async () => {
      for (const one of this.pairs[pair]!) if (one.isRunning && (await one.isMaster().catch(() => false))) found = one;
      return found !== undefined;
    });
    return found!;
  }

  private async settled(): Promise<void> {
    const servers = this.pairs.flat();
    await eventually(async () => {
      const settled = await Promise.all(servers.map((one) => one.isSettled(servers.length).catch(() => false)));
      return settled.every(Boolean);
    });
  }
}

/** A cluster object of node-redis 4 or 5, as far as the tests use it. */
export interface ClusterClient {
  readonly isOpen: boolean;
  readonly masters: readonly object[];
  getSlotMaster(slot: number): unknown;
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[]): Promise<unknown>;
  disconnect(): Promise<unknown>;
}
