import { RequestScope, withTimeout } from '../platform/deadline';
import { AuthConfigError, StoreUnavailable } from '../platform/errors';
import { ClusterTopology, slotOf } from './cluster-topology';
import type { RedisCluster } from './redis-client';
import { RedisSecurityStore } from './redis-security-store';
import { type AttemptOutcome, type Bucket, type Limit, SecurityStore, type Tally, UNNAMED } from './security-store';

/** Groups of keys. They are spread over the masters, and each group is in one slot. */
const TAGS: readonly string[] = Array.from({ length: 256 }, (_, i) => `{svc-${i.toString(16).padStart(2, '0')}}`);

/** How often one command follows a redirection to another master. */
const REDIRECTIONS = 5;

/** The error reply of Redis that made a command fail. */
const replyOf = (error: unknown): string => String((error as { cause?: { message?: unknown } } | null)?.cause?.message);

/** Whether a command with several keys was refused because their slot moves to another master. */
const isSplit = (error: unknown): boolean => replyOf(error).startsWith('TRYAGAIN');

/** The result of a counted attempt. */
interface Counted {
  readonly admitted: boolean;
  readonly buckets: ReadonlyMap<Limit, Bucket>;
}

/**
 * Stores the state in Redis Cluster with the cluster object of the host. Every command goes to the master of its key, with
 * the store of that master. A master that does not answer makes only its own keys unavailable.
 */
export class RedisClusterStore extends SecurityStore {
  readonly shared = true;
  private readonly topology: ClusterTopology;

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
      (client) => new RedisSecurityStore(client, timeoutMs, prefix),
    );
  }

  override get slotTags(): readonly string[] {
    return TAGS;
  }

  /** The names of all masters: it changes with a restart or a promotion of any master, and when a master is added. */
  override get instance(): string | null {
    const names = this.topology.masters?.map(({ store }) => store.instance) ?? [null];
    if (names.includes(null)) return null;
    return names.includes(UNNAMED) ? UNNAMED : names.toSorted().join();
  }

  override async identify(): Promise<void> {
    await this.topology.refresh();
    const { masters } = this.topology;
    if (!masters) throw new StoreUnavailable('Redis');
    await Promise.all(masters.map(({ store }) => store.identify()));
  }

  async *scan(prefix: string): AsyncGenerator<string[]> {
    await this.topology.refresh();
    const { masters, version } = this.topology;
    if (!masters) throw new StoreUnavailable('Redis');
    // Twice: a slot may move from a master that was not read yet to one that was.
    for (const { store } of [...masters, ...masters]) yield* store.scan(prefix);
    await this.topology.refresh();
    if (version !== this.topology.version) throw new StoreUnavailable('Redis');
  }

  async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    const values = keys.map((): string | null => null);
    const groups = this.bySlot(keys.map((key, at) => ({ key, at })));
    const read = async (group: readonly { key: string; at: number }[]): Promise<void> => {
      const found = await this.readSlot(group.map(({ key }) => key));
      group.forEach(({ at }, i) => (values[at] = found[i] ?? null));
    };
    await Promise.all(groups.map(read));
    return values;
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

  /** The first policy of a master that evicts keys, or `noeviction`; null when a master does not report it. */
  async evictionPolicy(): Promise<string | null> {
    await this.topology.refresh();
    const masters = this.topology.masters ?? [];
    const policies = await Promise.all(masters.map(({ store }) => store.evictionPolicy()));
    const evicting = policies.find((policy) => policy !== null && policy !== 'noeviction');
    return evicting ?? (policies.length && !policies.includes(null) ? 'noeviction' : null);
  }

  /** Reads keys of one slot. While the slot moves, the keys are read one after the other. */
  private readSlot(keys: readonly string[]): Promise<(string | null)[]> {
    return this.route(keys[0]!, (store) => store.getMany(keys)).catch(async (error: unknown) => {
      if (keys.length === 1 || !isSplit(error)) throw error;
      const values: (string | null)[] = [];
      for (const key of keys) values.push(...(await this.readSlot([key])));
      return values;
    });
  }

  /**
   * Counts an attempt under the limits of every slot in parallel. If one slot refuses it or does not answer, the attempt is
   * taken back in the others.
   */
  private async countAll(groups: readonly (readonly Limit[])[], pending: boolean): Promise<Counted> {
    const results = await Promise.allSettled(groups.map((group) => this.countSlot(group, pending)));
    const counted = results.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
    const buckets = new Map(counted.flatMap((one) => [...one.buckets]));
    const failure = results.find((result) => result.status === 'rejected');
    const admitted = !failure && counted.every((one) => one.admitted);
    if (admitted) return { admitted, buckets };
    const undone = RequestScope.detached(() =>
      Promise.all(
        counted
          .filter((one) => one.admitted)
          .flatMap((one) => [...one.buckets])
          .map(async ([limit, bucket]) => {
            const uncounted = this.route(limit.key, (store) => store.uncount(limit, pending, bucket));
            // The attempt stays counted if this fails.
            buckets.set(limit, await uncounted.catch(() => bucket));
          }),
      ),
    );
    if (failure) throw failure.reason;
    await undone;
    return { admitted, buckets };
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

  /** Runs a command on the master of a key, and follows redirections. */
  private async route<T>(key: string, run: (store: RedisSecurityStore) => Promise<T>): Promise<T> {
    const { topology } = this;
    const slot = this.slotOf(key);
    const end = performance.now() + this.timeoutMs;
    let store = await this.storeOf(slot);
    for (let redirections = 0; ; redirections++) {
      try {
        return await run(store);
      } catch (error) {
        const [, kind, address = ''] = /^(MOVED|ASK) \d+ (\S+)/.exec(replyOf(error)) ?? [];
        if (!kind || redirections === REDIRECTIONS || performance.now() > end) {
          topology.suspect();
          throw error;
        }
        // A master that is not known yet may be a promoted replica. Its name becomes a part of `instance`.
        const importer = kind === 'ASK' ? await topology.importer(address) : undefined;
        if (kind === 'MOVED' && topology.at(address)) topology.move(slot, address);
        else if (!importer) await topology.refresh();
        store = importer ? importer.asking : await this.storeOf(slot);
      }
    }
  }

  /** The store of a slot's master. It refuses commands while its client is not connected. */
  private async storeOf(slot: number): Promise<RedisSecurityStore> {
    const { topology } = this;
    if (!topology.masterOf(slot)) await withTimeout('Redis', this.timeoutMs, topology.refresh());
    const master = topology.masterOf(slot);
    if (!master) throw new StoreUnavailable('Redis');
    return master.store;
  }
}
