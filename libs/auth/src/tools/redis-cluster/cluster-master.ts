import type { RedisClient } from '../../foundation/security-store/redis-client';
import { RedisSecurityStore } from '../../foundation/security-store/redis-security-store';

/** A node of a cluster object, as the object lists it. */
export interface RedisClusterNode {
  readonly address: string;
  /** Whether its client reads from a replica. */
  readonly readonly: boolean;
}

/** A cluster object of node-redis 4, 5 or 6 (`createCluster`). Commands are sent with the clients of its nodes only. */
export interface RedisCluster extends RedisClient {
  readonly isOpen: boolean;
  readonly masters: readonly RedisClusterNode[];
  readonly nodeByAddress: ReadonlyMap<string, RedisClusterNode>;
  getSlotMaster(slot: number): unknown;
  /** The client of a node. A node that is not in the list of the cluster gets a new one, with the options of the cluster. */
  nodeClient(node: RedisClusterNode): RedisClient | Promise<RedisClient>;
  /** Another cluster object with the same options, except for these. */
  duplicate(overrides: object): RedisCluster;
}

/** The store of one node. */
export class NodeStore extends RedisSecurityStore {
  /** The slots of the cluster, as this server knows them: the reply to `CLUSTER SLOTS`. */
  clusterSlots(): Promise<unknown> {
    return this.send('CLUSTER', 'SLOTS');
  }

  /** The nodes of the cluster, and the slots that this server moves: the reply to `CLUSTER NODES`. */
  clusterNodes(): Promise<unknown> {
    return this.send('CLUSTER', 'NODES');
  }
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
  connect: async () => client.connect?.(),
  disconnect: async () => client.disconnect?.(),
  on: () => undefined,
});

/** Makes the store of a client. An own client is one that is not a client of the cluster object. */
export type StoreOn = (client: RedisClient, isOwn: boolean) => NodeStore;

/** A master of the cluster. */
export class ClusterMaster {
  readonly store: NodeStore;
  private askingStore?: NodeStore;

  constructor(
    private readonly client: RedisClient,
    /** Whether the client is not one of the cluster object, which closes its own clients only. */
    readonly isOwn: boolean,
    private readonly storeOn: StoreOn,
  ) {
    this.store = storeOn(client, isOwn);
  }

  /** For keys of a slot that this master imports. */
  get asking(): NodeStore {
    return (this.askingStore ??= this.storeOn(askingClient(this.client), this.isOwn));
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

/** The error reply of Redis that made a command fail. */
export const replyOf = (error: unknown): string =>
  String((error as { cause?: { message?: unknown } } | null)?.cause?.message);

/** Whether a command with several keys was refused because their slot moves to another master. */
export const isSplit = (error: unknown): boolean => replyOf(error).startsWith('TRYAGAIN');
