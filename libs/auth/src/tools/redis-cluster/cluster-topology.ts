import { setTimeout as sleep } from 'node:timers/promises';
import { RequestScope } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { RedisClient } from '../../foundation/security-store/redis-client';
import { ClusterMaster, type RedisCluster, type StoreOn } from './cluster-master';

const SLOTS = 16384;

/** Number of masters that are asked for the slots. Most of them must agree, so one that is out of date has no effect. */
const VIEWS = 5;

/** Shortest time between two refreshes after failed commands, and between two checks of a closed cluster object. */
const PAUSE_MS = 100;
const CLOSE_CHECK_MS = 250;

/** Longest pause between two attempts to connect that fail, and the default `connectTimeout` of node-redis. */
const [MAX_PAUSE_MS, CONNECT_TIMEOUT_MS] = [1000, 5000];

/** How long the connection to a master without a slot in the view stays open after a key was last asked for there. */
const IDLE_MS = 60_000;

/** The slot of a key: CRC16 (XMODEM) of its hash tag, or of the whole key. */
export function slotOf(key: string): number {
  const start = key.indexOf('{');
  const end = start < 0 ? -1 : key.indexOf('}', start);
  let crc = 0;
  for (const byte of Buffer.from(end > start + 1 ? key.slice(start + 1, end) : key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}

/** The ranges of slots with the addresses of their masters, and a text that is equal for equal views. */
interface View {
  readonly ranges: readonly (readonly [from: number, to: number, address: string])[];
  readonly text: string;
}

/** Reads a reply to `CLUSTER SLOTS`: for each range the first and last slot, the master, and its replicas. */
export function viewIn(reply: unknown): View {
  const ranges = (reply as [number, number, [string, number]][])
    .map(([from, to, [host, port]]) => [from, to, `${host}:${port}`] as const)
    .toSorted(([one], [other]) => one - other);
  return { ranges, text: JSON.stringify(ranges) };
}

/**
 * The addresses of the masters to which the answering master moves slots, from its reply to `CLUSTER NODES`.
 *
 * @param known addresses in the form of `CLUSTER SLOTS`, which may have host names instead of IP addresses
 */
export function importersIn(reply: unknown, known: readonly string[] = []): string[] {
  const nodes = String(reply)
    .split('\n')
    .map((line) => line.split(' '));
  const addressOf = (node: string): string => {
    // `ip:port@cport,hostname`; the last two parts can be missing.
    const [, ip = '', port = '', host = ''] = /^(.*):(\d+)(?:@\d+)?(?:,([^,]*))?/.exec(node) ?? [];
    const named = `${host}:${port}`;
    return host && known.includes(named) ? named : `${ip}:${port}`;
  };
  const addresses = new Map(nodes.map(([id, node = '']) => [id, addressOf(node)]));
  const own = nodes.find(([, , flags]) => flags?.split(',').includes('myself')) ?? [];
  const targets = own.map((word) => /^\[\d+->-(\w+)\]$/.exec(word)?.[1]);
  return [...new Set(targets.filter((id) => id !== undefined).map((id) => addresses.get(id) ?? ''))];
}

/** The view that most masters have; undefined without a view. */
export function commonView(views: readonly View[]): View | undefined {
  const votes = ({ text }: View): number => views.filter((view) => view.text === text).length;
  return views.toSorted((one, other) => votes(other) - votes(one))[0];
}

/**
 * Knows which master serves which slot, and has a client for each of these masters.
 *
 * A cluster object of node-redis learns of a promotion only from the reply `MOVED`. A dead master sends none, so the
 * object would wait for it without end. Here the other masters are asked, after each failed command and once a second.
 */
export class ClusterTopology {
  /** Is called with each master after the connection to it. */
  onConnected: (master: ClusterMaster) => void = () => undefined;
  /** Changes with every change of a slot's master. */
  version = 0;
  private readonly owners = Array.from<string | undefined>({ length: SLOTS });
  private addresses: readonly string[] = [];
  /** When an address outside the view was last used: the first masters, and those that a redirection named. */
  private readonly redirected = new Map<string, number>();
  private view = '';
  private readonly nodes = new Map<string, ClusterMaster>();
  private readonly opening = new Map<string, Promise<void>>();
  /** The attempts to connect that failed, by address, since the last one that succeeded. */
  private readonly failed = new Map<string, { times: number; at: number }>();
  /** The masters with clients of the cluster object. A client can become that of a master again. */
  private readonly shared = new WeakMap<RedisClient, ClusterMaster>();
  /** Ends the attempts of own clients to connect. */
  private readonly dialing = new Set<AbortController>();
  private refreshing?: Promise<void>;
  private refreshedAt = -Infinity;
  private closing?: NodeJS.Timeout;
  /** The options of the clients of the cluster object. */
  private options?: NonNullable<RedisClient['options']>;
  private maker?: RedisCluster;
  /** Ends the attempt to connect that begins now. */
  private signal?: AbortSignal;

  constructor(
    private readonly cluster: RedisCluster,
    private readonly timeoutMs: number,
    private readonly storeOn: StoreOn,
  ) {
    // Without a listener, an error of a node ends the process. The stores of the nodes log it.
    cluster.on('error', () => undefined);
  }

  /** The masters of the slots; null while there is no connection to one of them. */
  get masters(): ClusterMaster[] | null {
    const masters = this.addresses.map((address) => this.nodes.get(address));
    return masters.length && masters.every((node) => node !== undefined) ? masters : null;
  }

  /** Those masters of the slots to which there is a connection. */
  get connected(): ClusterMaster[] {
    return this.addresses.map((address) => this.nodes.get(address)).filter((node) => node !== undefined);
  }

  /** The master of a slot; undefined while it is not known, and while there is no connection to it. */
  masterOf(slot: number): ClusterMaster | undefined {
    const master = this.nodes.get(this.owners[slot] ?? '');
    return master?.isReady ? master : undefined;
  }

  /** The master of a slot after a refresh, and after the attempt to connect to it that the refresh has begun. */
  async find(slot: number): Promise<ClusterMaster | undefined> {
    if (this.isDue) await this.refresh();
    await this.openOne(this.owners[slot] ?? '');
    return this.masterOf(slot);
  }

  /** Connects to a master that a redirection named. A new one may have no slot in any view. */
  async reach(address: string): Promise<ClusterMaster | undefined> {
    if (!this.addresses.includes(address)) this.redirected.set(address, performance.now());
    await this.openOne(address);
    return this.nodes.get(address);
  }

  /** Records that a slot is served by another master. */
  move(slot: number, address: string): void {
    this.owners[slot] = address;
    this.view = '';
    this.version++;
    // The other slots of the former master have a new master, too.
    if (!this.addresses.includes(address)) this.suspect();
  }

  /** Refreshes soon, after a command that failed. */
  suspect(): void {
    if (this.isDue) void this.refresh();
  }

  /**
   * Reads the slots from the masters, and begins to connect to new masters. Concurrent calls share one refresh. Never
   * rejects.
   */
  refresh(): Promise<void> {
    return (this.refreshing ??= RequestScope.detached(() => this.discover())
      .catch(() => undefined)
      .finally(() => {
        this.refreshing = undefined;
        this.refreshedAt = performance.now();
      }));
  }

  /** Refreshes, and connects to all masters. Does not wait longer than the timeout for a master that accepts no connection. */
  async connect(): Promise<void> {
    await this.refresh();
    await this.open(this.addresses);
  }

  /**
   * The masters that have keys: those of the slots, and those that import their first slot.
   *
   * @throws StoreUnavailable if one of them does not answer
   */
  async holders(): Promise<ClusterMaster[]> {
    const { masters } = this;
    if (!masters) throw new StoreUnavailable('Redis');
    const importers = await Promise.all(
      masters.map(async ({ store }) => importersIn(await store.clusterNodes(), this.addresses)),
    );
    const added = [...new Set(importers.flat())].filter((address) => !this.addresses.includes(address));
    const others = await Promise.all(added.map((address) => this.reach(address)));
    if (others.includes(undefined)) throw new StoreUnavailable('Redis');
    return [...masters, ...others.filter((node) => node !== undefined)];
  }

  private async discover(): Promise<void> {
    if (!this.cluster.isOpen) return;
    const first = this.ready.length ? [] : this.firstAddresses();
    await this.open(first);
    const asked = this.ready.toSorted(() => Math.random() - 0.5).slice(0, VIEWS);
    const views = await Promise.all(asked.map(({ store }) => store.clusterSlots().then(viewIn, () => undefined)));
    const view = commonView(views.filter((one) => one !== undefined));
    if (view && view.text !== this.view) this.apply(view);
    if (view) for (const address of first) this.redirected.delete(address);
    for (const address of this.addresses) void this.openOne(address);
    for (const address of [...this.redirected.keys(), ...this.failed.keys()]) {
      if (!this.isUsed(address)) this.failed.delete(address);
    }
    for (const [address, node] of this.nodes) {
      if (this.isUsed(address)) continue;
      node.close();
      this.nodes.delete(address);
    }
  }

  /** The masters that the cluster object knows. They are used until a view is known. */
  private firstAddresses(): string[] {
    const addresses = this.cluster.masters.map(({ address }) => address);
    for (const address of addresses) this.redirected.set(address, performance.now());
    return addresses;
  }

  private get isDue(): boolean {
    return performance.now() - this.refreshedAt > PAUSE_MS;
  }

  private isUsed(address: string): boolean {
    const isIdle = performance.now() - (this.redirected.get(address) ?? -Infinity) > IDLE_MS;
    // A master that has slots is not used any more when it has lost them.
    const hasSlots = this.addresses.includes(address);
    if (isIdle || hasSlots) this.redirected.delete(address);
    return hasSlots || !isIdle;
  }

  private get ready(): ClusterMaster[] {
    return [...this.nodes.values()].filter(({ isReady }) => isReady);
  }

  private apply({ ranges, text }: View): void {
    this.owners.fill(undefined);
    for (const [from, to, address] of ranges) this.owners.fill(address, from, to + 1);
    this.addresses = [...new Set(ranges.map(([, , address]) => address))];
    this.view = text;
    this.version++;
  }

  private async open(addresses: readonly string[]): Promise<void> {
    const closed = addresses.filter((address) => !this.nodes.get(address)?.isOpen);
    if (!closed.length) return;
    const opened = Promise.all(closed.map((address) => this.openOne(address)));
    await Promise.race([opened, sleep(this.timeoutMs, undefined, { ref: false })]);
  }

  /** Connects to a master. Never rejects. */
  private openOne(address: string): Promise<void> {
    if (!address || this.nodes.get(address)?.isOpen) return Promise.resolve();
    if (this.opening.has(address)) return this.opening.get(address)!;
    const { times, at } = this.failed.get(address) ?? { times: 0, at: -Infinity };
    if (performance.now() - at < Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** times)) return Promise.resolve();
    const opening = RequestScope.detached(() => this.connectTo(address))
      .then(
        () => void this.failed.delete(address),
        () => void this.failed.set(address, { times: times + 1, at: performance.now() }),
      )
      .finally(() => this.opening.delete(address));
    this.opening.set(address, opening);
    return opening;
  }

  private async connectTo(address: string): Promise<void> {
    const node = (await this.sharedMaster(address)) ?? (await this.ownMaster(address));
    // Without the name of its server, the first reads would be uncertain.
    await node.store.identify().catch(() => undefined);
    if (!this.cluster.isOpen || !this.isUsed(address)) {
      node.close();
      return;
    }
    this.nodes.set(address, node);
    this.onConnected(node);
  }

  /** A master with the client of the cluster object. */
  private async sharedMaster(address: string): Promise<ClusterMaster | undefined> {
    const node = this.cluster.nodeByAddress.get(address);
    // The client of a former replica would read old data if this master became a replica again.
    if (!node || node.readonly) return undefined;
    const client = await this.cluster.nodeClient(node);
    this.options ??= client.options;
    if (client.isOpen === false) return undefined;
    if (!this.shared.has(client)) this.shared.set(client, new ClusterMaster(client, false, this.storeOn));
    return this.shared.get(client);
  }

  private async ownMaster(address: string): Promise<ClusterMaster> {
    // Without the options of another client, this one would have no password and no TLS.
    if (!this.cluster.isOpen || !this.options) throw new StoreUnavailable('Redis');
    this.closing ??= setInterval(() => this.closeWithCluster(), CLOSE_CHECK_MS).unref();
    const colon = address.lastIndexOf(':');
    const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
    const node = { address, host, port, readonly: false, client: undefined };
    // `connectTimeout` of node-redis ends with the TCP connection. A server that hangs accepts one and then never answers.
    const attempt = new AbortController();
    const { connectTimeout = CONNECT_TIMEOUT_MS } = (this.options.socket ?? {}) as { connectTimeout?: number };
    const timer = setTimeout(() => attempt.abort(), connectTimeout + this.timeoutMs);
    this.dialing.add(attempt);
    try {
      this.signal = attempt.signal;
      return new ClusterMaster(await this.makerOfClients().nodeClient(node), true, this.storeOn);
    } finally {
      clearTimeout(timer);
      this.dialing.delete(attempt);
    }
  }

  /**
   * Makes clients with the options of the host. They make one attempt to connect, and the next refresh makes the next one:
   * a client of node-redis that is still connecting cannot be closed, and would try without end.
   */
  private makerOfClients(): RedisCluster {
    if (this.maker) return this.maker;
    const signal = (): AbortSignal | undefined => this.signal;
    const socket = {
      ...this.options?.socket,
      reconnectStrategy: false,
      // node-redis copies the options for each client when it begins to connect.
      get signal() {
        return signal();
      },
    };
    this.maker = this.cluster.duplicate({ defaults: { ...this.options, socket, maintNotifications: 'disabled' } });
    this.maker.on('error', () => undefined);
    return this.maker;
  }

  /** node-redis 4 has no event for the end of a cluster object. */
  private closeWithCluster(): void {
    if (this.cluster.isOpen) return;
    clearInterval(this.closing);
    this.closing = undefined;
    for (const attempt of this.dialing) attempt.abort();
    for (const node of this.nodes.values()) node.close();
  }
}
