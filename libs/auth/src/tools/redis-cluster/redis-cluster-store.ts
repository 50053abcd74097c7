/**
 * Redis Cluster as the store of the module.
 *
 * ```ts
 * import { clusterStore } from '@svc/auth/redis-cluster';
 * ```
 *
 * @module @svc/auth/redis-cluster
 */

import { Logger } from '@nestjs/common';
import { bestEffort, currentDeadline, withTimeout } from '../../foundation/platform/deadline';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { ClusterTopology, slotOf } from './cluster-topology';
import { type ClusterMaster, NodeStore, type RedisCluster, isSplit, replyOf } from './cluster-master';
import { connectionProblem } from '../../foundation/security-store/first-connection';
import { type RedisClient, StoreFactory, type StoreSettings } from '../../foundation/security-store/redis-client';
import { evictionProblem } from '../../foundation/security-store/store-proof';
import {
  type AttemptOutcome,
  type Bucket,
  type InstanceRead,
  type Limit,
  SecurityStore,
  type Tally,
  UNNAMED,
} from '../../foundation/security-store/security-store';

/** Groups of keys. They are spread over the masters, and each group is in one slot. */
const TAGS: readonly string[] = Array.from({ length: 256 }, (_, i) => `{svc-${i.toString(16).padStart(2, '0')}}`);

/** A key that never exists. While its slot moves, a master refuses to read it together with keys that it still has. */
const ABSENT = 'svc:absent';

/** How often one command follows a redirection to another master. */
const REDIRECTIONS = 5;

/** An attempt that a counter has counted, and the time of the answer. */
interface Taken {
  readonly limit: Limit;
  readonly bucket: Bucket;
  readonly at: number;
}

/** A counter without one of its attempts. */
function without({ counted, pending, secondsLeft }: Bucket, isPending: boolean): Bucket {
  const rest = isPending ? { counted, pending: pending - 1 } : { counted: counted - 1, pending };
  return { ...rest, secondsLeft: rest.counted + rest.pending > 0 ? secondsLeft : 0 };
}

/** The result of a counted attempt. */
interface Counted {
  readonly admitted: boolean;
  readonly buckets: ReadonlyMap<Limit, Bucket>;
}

/**
 * Stores the state in Redis Cluster with the cluster object of the host. Every command goes to the master of its key, with
 * the store of that master. A master that does not answer makes only its own keys unavailable.
 *
 * @internal
 */
export class RedisClusterStore extends SecurityStore {
  readonly shared = true;
  private readonly logger = new Logger('Auth');
  private readonly topology: ClusterTopology;
  private isWarned = false;

  /**
   * @param timeoutMs longest wait for a reply in milliseconds
   * @param prefix prefix of every key
   * @throws AuthConfigError for a prefix with which the keys of one group are not in one slot: a loss of the denials of a
   * group could not be detected
   */
  constructor(
    cluster: RedisCluster,
    private readonly timeoutMs: number,
    private readonly prefix = '',
  ) {
    super();
    if (slotOf(`${prefix}a${TAGS[0]}`) !== slotOf(`${prefix}b${TAGS[0]}`)) {
      throw new AuthConfigError(
        'keyPrefix has a brace that divides the keys of one session over the masters of Redis Cluster. Remove the brace, ' +
          'or write a whole hash tag, such as {app}:.',
      );
    }
    this.topology = new ClusterTopology(
      cluster,
      timeoutMs,
      (client, isOwn) =>
        new NodeStore(client, timeoutMs, prefix, {
          mayConnect: () => !isOwn && cluster.isOpen,
          mayBeReplica: true,
        }),
    );
  }

  override get slotTags(): readonly string[] {
    return TAGS;
  }

  /** The names of all masters. Each of them is the name of the store for the keys in its own slots only. */
  override get instance(): string | null {
    const names = this.topology.masters?.map(({ store }) => store.instance) ?? [null];
    if (names.includes(UNNAMED)) return UNNAMED;
    return names.includes(null) ? null : names.toSorted().join();
  }

  /** Throws only if no master answers: one that does not answer concerns its own keys only. */
  override async identify(): Promise<void> {
    await this.topology.connect();
    const asked = await Promise.allSettled(this.topology.connected.map(({ store }) => store.identify()));
    if (!asked.some(({ status }) => status === 'fulfilled')) throw new StoreUnavailable('Redis');
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    const { topology } = this;
    await topology.connect();
    const { version } = topology;
    const holders = await this.holders();
    // Twice: a slot may move from a master that was not read yet to one that was.
    for (const { store } of [...holders, ...holders]) yield* store.scan(prefix);
    await topology.refresh();
    const isSame = (await this.holders()).every((holder) => holders.includes(holder));
    if (version !== topology.version || !isSame) throw new StoreUnavailable('Redis');
  }

  private async holders(): Promise<ClusterMaster[]> {
    try {
      return await this.topology.holders();
    } catch (error) {
      if (!this.isWarned && replyOf(error).startsWith('NOPERM')) {
        this.isWarned = true;
        this.logger.warn(
          'Redis refuses CLUSTER NODES. Allow it for its user (ACL: +cluster|nodes). Until then an end of a session that ' +
            'PostgreSQL loses in a failover is not written back to it.',
        );
      }
      throw error;
    }
  }

  async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    const values = keys.map((): string | null => null);
    const groups = this.bySlot(keys.map((key, at) => ({ key, at })));
    const read = async (group: readonly { key: string; at: number }[]): Promise<void> => {
      const found = await this.readSlot(group.map(({ key }) => key));
      group.forEach(({ at }, i) => (values[at] = found.values[i] ?? null));
    };
    await Promise.all(groups.map(read));
    return values;
  }

  override async getWithInstance(keys: readonly string[]): Promise<InstanceRead> {
    const [group, ...others] = this.bySlot(keys.map((key) => ({ key })));
    if (!group || others.length) return { values: await this.getMany(keys), instance: null };
    // Otherwise the move of a slot would not be noticed while the master still has these keys.
    const tag = TAGS.find((one) => keys[0]!.includes(one));
    const { values, ...read } = await this.readSlot(tag ? [...keys, ABSENT + tag] : keys);
    return { ...read, values: values.slice(0, keys.length) };
  }

  async setMany(keys: readonly string[], value: string, ttlSeconds: number): Promise<void> {
    await Promise.all(keys.map((key) => this.route(key, (store) => store.setMany([key], value, ttlSeconds))));
  }

  add(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    return this.route(key, (store) => store.add(key, value, ttlSeconds));
  }

  take(key: string): Promise<string | null> {
    return this.route(key, (store) => store.take(key));
  }

  advance(key: string, to: number, ttlSeconds: number): Promise<boolean> {
    return this.route(key, (store) => store.advance(key, to, ttlSeconds));
  }

  async count(limits: readonly Limit[], pending = false): Promise<Tally> {
    const placed = limits.map((limit) => this.placed(limit));
    const { admitted, buckets } = await this.countAll(this.bySlot(placed), pending);
    return { admitted, buckets: placed.map((limit) => buckets.get(limit)!) };
  }

  async settle(limits: readonly Limit[], attemptOutcome: AttemptOutcome): Promise<void> {
    const settleSlot = (group: readonly Limit[]): Promise<unknown> =>
      this.route(group[0]!.key, (store) => store.settle(group, attemptOutcome)).catch((error: unknown) => {
        if (group.length === 1 || !isSplit(error)) throw error;
        return Promise.all(group.map((limit) => settleSlot([limit])));
      });
    await Promise.all(this.bySlot(limits.map((limit) => this.placed(limit))).map(settleSlot));
  }

  /**
   * The first policy of a master that evicts keys, or `noeviction`; null when a master is absent or does not report it.
   * From then on the policy of each master that is connected later is checked, and an evicting one is logged.
   */
  override async evictionPolicy(): Promise<string | null> {
    await this.topology.connect();
    this.topology.onConnected = ({ store }) => void this.logEviction(store);
    const { connected, masters } = this.topology;
    const policies = await Promise.all(connected.map(({ store }) => store.evictionPolicy()));
    const evicting = policies.find((policy) => policy !== null && policy !== 'noeviction');
    return evicting ?? (masters && !policies.includes(null) ? 'noeviction' : null);
  }

  private async logEviction(store: NodeStore): Promise<void> {
    const policy = await store.evictionPolicy();
    const problem = policy === null ? null : evictionProblem(policy);
    if (problem) this.logger.error(problem);
  }

  /**
   * Reads keys of one slot. While the slot moves, the keys are read one after the other, and those that have moved are read
   * from the importing master. No server holds all of them then.
   */
  private async readSlot(keys: readonly string[]): Promise<InstanceRead> {
    try {
      return await this.route(keys[0]!, async (store, isImporting) => {
        const read = await store.getWithInstance(keys);
        return isImporting ? { ...read, instance: null, isMoving: true } : read;
      });
    } catch (error) {
      if (keys.length === 1 || !isSplit(error)) throw error;
      const values: (string | null)[] = [];
      for (const key of keys) values.push(...(await this.readSlot([key])).values);
      return { values, instance: null, isMoving: true };
    }
  }

  /**
   * Counts an attempt under the limits of one slot after the other, in their order. If one slot refuses it or does not
   * answer, the attempt is not counted in the later ones, so that a client above its own limit uses up no other counter,
   * and it is taken back in the earlier ones.
   */
  private async countAll(groups: readonly (readonly Limit[])[], pending: boolean): Promise<Counted> {
    const buckets = new Map<Limit, Bucket>();
    const taken: Taken[] = [];
    for (const [i, group] of groups.entries()) {
      const one = await this.countSlot(group, pending).catch((error: unknown) => {
        void this.takeBack(taken, pending);
        throw error;
      });
      const at = performance.now();
      for (const [limit, bucket] of one.buckets) {
        buckets.set(limit, bucket);
        taken.push({ limit, bucket, at });
      }
      if (one.admitted) continue;
      const earlier = taken.slice(0, -one.buckets.size);
      const undoing = this.takeBack(earlier, pending);
      for (const { limit, bucket } of earlier) buckets.set(limit, without(bucket, pending));
      for (const [limit, bucket] of await this.countersOf(groups.slice(i + 1))) buckets.set(limit, bucket);
      await undoing;
      return { admitted: false, buckets };
    }
    return { admitted: true, buckets };
  }

  /** Takes an attempt back where it was counted. It stays counted if this fails. Does not wait for a slot that hangs. */
  private takeBack(taken: readonly Taken[], pending: boolean): Promise<void> {
    const undo = async ({ limit, bucket, at }: Taken): Promise<unknown> =>
      this.route(limit.key, async (store) => {
        const secondsLeft = bucket.secondsLeft - (performance.now() - at) / 1000;
        // Otherwise the attempt of another client in the next window would be taken back.
        return secondsLeft > 0 ? store.uncount(limit, pending, { ...bucket, secondsLeft }) : undefined;
      });
    // Not repeated: an attempt without an answer may have been taken back.
    return taken.length
      ? bestEffort('taking back a refused attempt', () => Promise.all(taken.map(undo)), 0)
      : Promise.resolve();
  }

  /** Reads counters without counting, and closes those that refuse the attempt: with the maximum 0, each of them does. */
  private async countersOf(groups: readonly (readonly Limit[])[]): Promise<[Limit, Bucket][]> {
    const refuse = async (limit: Limit, blockSeconds: number): Promise<Bucket> => {
      const { buckets } = await this.countSlot([{ ...limit, max: 0, blockSeconds }], false);
      return [...buckets.values()][0]!;
    };
    const read = async (limit: Limit): Promise<[Limit, Bucket]> => {
      const bucket = await refuse(limit, 0);
      const isExhausted = bucket.counted + bucket.pending >= limit.max;
      return [limit, isExhausted && limit.blockSeconds ? await refuse(limit, limit.blockSeconds) : bucket];
    };
    return Promise.all(groups.flat().map(read));
  }

  private async countSlot(group: readonly Limit[], pending: boolean): Promise<Counted> {
    try {
      const { admitted, buckets } = await this.route(group[0]!.key, (store) => store.count(group, pending));
      return { admitted, buckets: new Map(group.map((limit, i) => [limit, buckets[i]!])) };
    } catch (error) {
      if (group.length === 1 || !isSplit(error)) throw error;
      return this.countAll(
        group.map((limit) => [limit]),
        pending,
      );
    }
  }

  /** Limits of one group have the same tag. */
  private placed(limit: Limit): Limit {
    return { ...limit, key: limit.group === undefined ? limit.key : limit.key + this.slotTag(limit.group) };
  }

  private bySlot<T extends { readonly key: string }>(items: readonly T[]): T[][] {
    const groups = new Map<number, T[]>();
    for (const item of items) {
      const slot = this.slotOf(item.key);
      const group = groups.get(slot);
      if (group) group.push(item);
      else groups.set(slot, [item]);
    }
    return [...groups.values()];
  }

  private slotOf(key: string): number {
    return slotOf(this.prefix + key);
  }

  /**
   * Runs a command on the master of a key, and follows redirections. Its waits for a connection end with the store timeout.
   *
   * @param run its second parameter tells whether the master only imports the slot of the key
   */
  private async route<T>(key: string, run: (store: NodeStore, isImporting: boolean) => Promise<T>): Promise<T> {
    const { topology } = this;
    const slot = this.slotOf(key);
    const end = performance.now() + this.timeoutMs;
    // The deadline of a request contains the time that has passed already.
    const within = <R>(wait: Promise<R>): Promise<R> =>
      withTimeout('Redis', currentDeadline() ? this.timeoutMs : Math.max(0, end - performance.now()), wait);
    const found = (master: ClusterMaster | undefined): ClusterMaster => {
      if (!master) throw new StoreUnavailable('Redis');
      return master;
    };
    let { store } = topology.masterOf(slot) ?? found(await within(topology.find(slot)));
    let isImporting = false;
    for (let redirections = 0; ; redirections++) {
      try {
        return await within(run(store, isImporting));
      } catch (error) {
        const [, kind, address = ''] = /^(MOVED|ASK) \d+ (\S+)/.exec(replyOf(error)) ?? [];
        if (!kind || redirections === REDIRECTIONS || performance.now() > end) {
          topology.suspect();
          throw error;
        }
        isImporting = kind === 'ASK';
        if (!isImporting) topology.move(slot, address);
        const master = found(await within(topology.reach(address)));
        store = isImporting ? master.asking : master.store;
      }
    }
  }
}

class ClusterStoreFactory extends StoreFactory {
  constructor(private readonly cluster: RedisCluster) {
    super();
  }

  async create({ storeTimeoutMs, keyPrefix }: StoreSettings): Promise<SecurityStore> {
    const problem = await connectionProblem(this.cluster, this.cluster);
    if (problem) throw new AuthConfigError(`cache ${problem}`);
    return new RedisClusterStore(this.cluster, storeTimeoutMs, keyPrefix);
  }

  clients(): Promise<RedisClient[]> {
    const { cluster } = this;
    return Promise.all(cluster.masters.map(async (node) => cluster.nodeClient(node)));
  }
}

/**
 * The value of the option `cache` for a cluster object of node-redis 4, 5 or 6. Connect the object before the application starts,
 * and close it yourself.
 *
 * ```ts
 * AuthModule.forRoot({ cache: clusterStore(cluster) });
 * ```
 *
 * @param cluster the object of `createCluster`
 * @throws AuthConfigError for another object
 */
export function clusterStore(cluster: {
  readonly masters: readonly object[];
  getSlotMaster(slot: number): unknown;
}): StoreFactory {
  if (typeof (cluster as Partial<RedisCluster> | null)?.getSlotMaster !== 'function') {
    throw new AuthConfigError(
      'clusterStore needs the object of createCluster of node-redis. Set cache to any other client itself.',
    );
  }
  return new ClusterStoreFactory(cluster as RedisCluster);
}

export type { StoreFactory };
