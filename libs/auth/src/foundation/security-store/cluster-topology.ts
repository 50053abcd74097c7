import { setTimeout as sleep } from 'node:timers/promises';
import { RequestScope } from '../platform/deadline';
import type { RedisClient, RedisCluster } from './redis-client';
import type { RedisSecurityStore } from './redis-security-store';

const SLOTS = 16384;

/** Number of masters that are asked for the slots. Most of them must agree, so one that is out of date has no effect. */
const VIEWS = 5;

/** Shortest time between two refreshes after failed commands, and between two checks of a closed cluster object. */
const PAUSE_MS = 100;
const CLOSE_CHECK_MS = 250;

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

/** A client whose commands are accepted by a master that imports the slot of their key. */
const askingClient = (client: RedisClient): RedisClient => ({
  get isOpen() {
    return client.isOpen;
  },
  get isReady() {
    return client.isReady;
  },
  sendCommand: (args) => {
    // Sent in one tick, so that no other command is in between: the flag applies to the next command only.
    client.sendCommand(['ASKING']).catch(() => undefined);
    return client.sendCommand(args);
  },
  on: () => undefined,
});

/** A master of the cluster. */
export class ClusterMaster {
  readonly store: RedisSecurityStore;
  private askingStore?: RedisSecurityStore;

  constructor(
    private readonly client: RedisClient,
    /** Whether the client is not one of the cluster object, which closes its own clients only. */
    readonly isOwn: boolean,
    private readonly storeOn: (client: RedisClient) => RedisSecurityStore,
  ) {
    this.store = storeOn(client);
  }

  /** For keys of a slot that this master imports. */
  get asking(): RedisSecurityStore {
    return (this.askingStore ??= this.storeOn(askingClient(this.client)));
  }

  get isOpen(): boolean {
    return this.client.isOpen !== false;
  }

  get isReady(): boolean {
    return this.client.isReady !== false;
  }

  close(): void {
    if (this.isOwn && this.isOpen) void this.client.disconnect?.().catch(() => undefined);
  }
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
  /** Changes with every change of a slot's master. */
  version = 0;
  private readonly owners = Array.from<string | undefined>({ length: SLOTS });
  private addresses: readonly string[] = [];
  /** Masters that imported a slot before they had one. */
  private readonly visited = new Set<string>();
  private view = '';
  private readonly nodes = new Map<string, ClusterMaster>();
  private readonly opening = new Map<string, Promise<void>>();
  private refreshing?: Promise<void>;
  private refreshedAt = -Infinity;
  private closing?: NodeJS.Timeout;

  constructor(
    private readonly cluster: RedisCluster,
    private readonly timeoutMs: number,
    private readonly storeOn: (client: RedisClient) => RedisSecurityStore,
  ) {
    // Without a listener, an error of a node ends the process. The stores of the nodes log it.
    cluster.on('error', () => undefined);
  }

  /** All masters that store keys; null while one of them is not known. */
  get masters(): ClusterMaster[] | null {
    const masters = this.used.map((address) => this.nodes.get(address));
    return masters.length && masters.every((node) => node !== undefined) ? masters : null;
  }

  /** The master of a slot; undefined while it is not known. */
  masterOf(slot: number): ClusterMaster | undefined {
    return this.nodes.get(this.owners[slot] ?? '');
  }

  at(address: string): ClusterMaster | undefined {
    return this.nodes.get(address);
  }

  /** A master that imports a slot. A new one has no slot yet, so no view contains it. */
  async importer(address: string): Promise<ClusterMaster | undefined> {
    if (!this.addresses.includes(address)) this.visited.add(address);
    await this.open([address]);
    return this.nodes.get(address);
  }

  /** Records that a slot is served by another known master. */
  move(slot: number, address: string): void {
    this.owners[slot] = address;
    this.view = '';
    this.version++;
  }

  /** Refreshes soon, after a command that failed. */
  suspect(): void {
    if (performance.now() - this.refreshedAt > PAUSE_MS) void this.refresh();
  }

  /** Reads the slots from the masters, and connects to new masters. Concurrent calls share one refresh. Never rejects. */
  refresh(): Promise<void> {
    return (this.refreshing ??= RequestScope.detached(() => this.discover())
      .catch(() => undefined)
      .finally(() => {
        this.refreshing = undefined;
        this.refreshedAt = performance.now();
      }));
  }

  private async discover(): Promise<void> {
    if (!this.ready.length) await this.open(this.cluster.masters.map(({ address }) => address));
    const asked = this.ready.toSorted(() => Math.random() - 0.5).slice(0, VIEWS);
    const views = await Promise.all(asked.map(({ store }) => store.clusterSlots().then(viewIn, () => undefined)));
    const view = commonView(views.filter((one) => one !== undefined));
    if (view && view.text !== this.view) this.apply(view);
    await this.open(this.addresses);
    for (const address of this.visited) {
      const node = this.nodes.get(address);
      // A node without a name is no master any more. It is added again when it is asked for a key.
      const isMaster = node?.isReady && node.store.instance !== null;
      if (!isMaster || this.addresses.includes(address)) this.visited.delete(address);
    }
    for (const [address, node] of this.nodes) {
      if (this.used.includes(address)) continue;
      node.close();
      this.nodes.delete(address);
    }
  }

  private get used(): string[] {
    return [...new Set([...this.addresses, ...this.visited])];
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

  /** Connects to masters. Does not wait longer than the timeout: a dead master may accept no connection. */
  private async open(addresses: readonly string[]): Promise<void> {
    const closed = addresses.filter((address) => !this.nodes.get(address)?.isOpen);
    if (!closed.length) return;
    const opened = Promise.all(closed.map((address) => this.openOne(address)));
    await Promise.race([opened, sleep(this.timeoutMs, undefined, { ref: false })]);
  }

  private openOne(address: string): Promise<void> {
    const known = this.opening.get(address);
    if (known) return known;
    const opening = this.connect(address)
      .catch(() => undefined)
      .finally(() => this.opening.delete(address));
    this.opening.set(address, opening);
    return opening;
  }

  private async connect(address: string): Promise<void> {
    const node = (await this.sharedMaster(address)) ?? (await this.ownMaster(address));
    this.nodes.set(address, node);
    // Queries the name of the server in the background.
    node.store.identify().catch(() => undefined);
  }

  /** A master with the client of the cluster object. */
  private async sharedMaster(address: string): Promise<ClusterMaster | undefined> {
    const node = this.cluster.nodeByAddress.get(address);
    // The client of a former replica would read old data if this master became a replica again.
    if (!node || node.readonly) return undefined;
    const client = await this.cluster.nodeClient(node);
    return client.isOpen === false ? undefined : new ClusterMaster(client, false, this.storeOn);
  }

  private async ownMaster(address: string): Promise<ClusterMaster> {
    const colon = address.lastIndexOf(':');
    const [host, port] = [address.slice(0, colon), Number(address.slice(colon + 1))];
    const node = { address, host, port, readonly: false, client: undefined };
    const client = await this.cluster.nodeClient(node);
    this.closing ??= setInterval(() => this.closeWithCluster(), CLOSE_CHECK_MS).unref();
    return new ClusterMaster(client, true, this.storeOn);
  }

  /** node-redis 4 has no event for the end of a cluster object. */
  private closeWithCluster(): void {
    if (this.cluster.isOpen) return;
    clearInterval(this.closing);
    this.closing = undefined;
    for (const node of this.nodes.values()) node.close();
  }
}
