import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UNNAMED } from './security-store';

/** The common interface of the clients of `@redis/client` 1.x (node-redis 4) and 5.x. */
export interface RedisClient {
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
  /** The options with which it was created. */
  readonly options?: { readonly socket?: object };
  connect?(): Promise<unknown>;
  disconnect?(): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

/** A sentinel object of node-redis 5 (`createSentinel`). It opens a new client for every master. */
export interface RedisSentinel {
  /** True from `connect` to `close`, also without a master. */
  readonly isReady: boolean;
  getSentinelNode(): unknown;
  /**
   * Runs a command on a client of the master or of a replica. After a lost connection or a refused write, it searches
   * for the master and repeats the command. Every command of a sentinel object uses this method.
   */
  _execute<T>(isReadonly: boolean, command: (client: RedisClient) => Promise<T>): Promise<T>;
  on(event: 'error', listener: (error: Error | string) => void): unknown;
  /** Emitted when the sentinels report other servers. */
  on(event: 'topology-change', listener: () => void): unknown;
}

/** A node of a cluster object, as the object lists it. */
export interface RedisClusterNode {
  readonly address: string;
  /** Whether its client reads from a replica. */
  readonly readonly: boolean;
}

/** A cluster object of node-redis 4 or 5 (`createCluster`). Commands are sent with the clients of its nodes only. */
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

/** A pool of node-redis 5 (`createClientPool`). */
interface RedisPool extends RedisClient {
  execute<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
}

export type RedisSource = RedisClient | RedisCluster | RedisSentinel;

const isRedisSource = (value: unknown): value is RedisSource =>
  typeof (value as { sendCommand?: unknown } | null)?.sendCommand === 'function';

export const isSentinel = (source: RedisSource): source is RedisSentinel =>
  typeof (source as Partial<RedisSentinel>).getSentinelNode === 'function';

export const isCluster = (source: RedisSource): source is RedisCluster =>
  typeof (source as Partial<RedisCluster>).getSlotMaster === 'function';

const isPool = (source: RedisSource): source is RedisPool =>
  typeof (source as Partial<RedisPool>).execute === 'function';

/**
 * Runs a command on a client with a single connection to the master. A sentinel object and a pool emit no event when
 * such a connection breaks; the client does.
 */
export function onMaster<T>(source: RedisSource, command: (client: RedisClient) => Promise<T>): Promise<T> {
  if (isSentinel(source)) return source._execute(false, command);
  return isPool(source) ? source.execute(command) : command(source);
}

/**
 * Finds the node-redis client below a cache-manager cache: version 5 (`cache.store.client`), version 6
 * and 7 with `@keyv/redis` (`cache.stores[i].store.client`) or with `KeyvAdapter` around
 * cache-manager-redis-yet (`cache.stores[i].store._cache.client`). A client itself is returned as it is.
 * A client is one of node-redis 4 or 5, a cluster object of both, or a sentinel object of node-redis 5.
 *
 * cache-manager has no atomic operations. From version 7 it returns `undefined` for a read error, so that revoked
 * tokens would be accepted. Therefore the library uses the client below the cache.
 */
export function redisClientOf(source: unknown): RedisSource | undefined {
  const { store, stores } = (source ?? {}) as { store?: { client?: unknown }; stores?: unknown };
  const keyvs = Array.isArray(stores) ? stores : [];
  const below = keyvs.flatMap((keyv: { store?: { client?: unknown; _cache?: { client?: unknown } } }) => [
    keyv?.store?.client,
    keyv?.store?._cache?.client,
  ]);
  return [source, store?.client, ...below].find(isRedisSource);
}

const CONNECTED = 'a connected client of node-redis: await createClient({ url }).connect()';

/**
 * Returns why the option of the host, or the client found below it, is not a usable Redis client, with the correction;
 * undefined if it is one, or something else than Redis. The text contains no URL, which may contain a password.
 */
export function clientProblem(source: unknown, client: unknown): string | undefined {
  if (typeof source === 'string' || source instanceof URL) return `is a URL. Set it to ${CONNECTED}.`;
  const has = (value: unknown, name: string): boolean =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';
  // The clients of node-redis have no `then`.
  if (has(source, 'then')) return `is a promise. Await it: set it to ${CONNECTED}.`;
  if (has(client, 'defineCommand'))
    return `is a client of ioredis, whose commands are different. Set it to ${CONNECTED}.`;
  return undefined;
}

/** Milliseconds that a client below a cache has for its first connection. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Returns why a client is not connected, with the correction. A client below a cache is connected here, because caches such
 * as `@keyv/redis` connect at their first use. The connection of a client that the host set itself is the host's.
 */
export async function connectionProblem(source: unknown, client: RedisSource | undefined): Promise<string | undefined> {
  const { isOpen, connect } = (client ?? {}) as Partial<RedisClient>;
  if (!client || isOpen !== false) return undefined;
  if (client === source || !connect) {
    return 'is a Redis client that is not connected. Await client.connect() before the application starts.';
  }
  const failure = await connectionFailure(client as RedisClient);
  return failure === null ? undefined : `has a Redis client that ${failure}`;
}

/**
 * Connects a client. Returns why it could not be connected, with the correction; null if it is connected. The text has the
 * last error of the client, which names the host and the port, and no other part of a URL.
 */
export async function connectionFailure(client: RedisClient): Promise<string | null> {
  let last: Error | undefined;
  // Without a listener, an error of the connection would end the process.
  client.on('error', (error) => (last = error));
  const waiting = new AbortController();
  const timeout = sleep(CONNECT_TIMEOUT_MS, false, { signal: waiting.signal }).catch(() => false);
  const connected = Promise.resolve(client.connect!()).then(
    () => true,
    (error: Error) => {
      last ??= error;
      return false;
    },
  );
  const isConnected = await Promise.race([connected, timeout]);
  waiting.abort();
  if (isConnected) return null;
  // Otherwise node-redis tries again without end.
  await disconnected(client);
  const { message, code } = (last ?? {}) as { message?: string; code?: string };
  return (
    `could not be connected within ${CONNECT_TIMEOUT_MS / 1000} seconds${last ? ` (${message || code})` : ''}. ` +
    'Check its URL, and that Redis is reachable when the application starts.'
  );
}

/** Closes a client. One that is not connected refuses it: node-redis 4 with a promise that rejects, 5 with an error at once. */
export async function disconnected(client: RedisClient): Promise<void> {
  try {
    await client.disconnect?.();
  } catch {
    // It is closed.
  }
}

/**
 * Replaces a connection on which no command is answered any more. The server may be unreachable without an error on the
 * connection. TCP detects this only after about 15 minutes, and until then every request would be refused.
 *
 * A sentinel object is not reconnected. It replaces its connections when the sentinels report another master. If its
 * connection is closed before that, it waits for the old master and does not search for the new one.
 */
export class Liveness {
  private silentSince?: number;

  /**
   * @param maxSilenceMs longest time without any reply, in milliseconds
   * @param mayConnect whether the client is connected again after it was disconnected
   */
  constructor(
    private readonly client: RedisSource,
    private readonly maxSilenceMs: number,
    private readonly mayConnect: () => boolean,
  ) {}

  /** Records when a reply arrives, also when the caller no longer waits for it. */
  watch(reply: Promise<unknown>): void {
    const replied = (): void => void (this.silentSince = undefined);
    reply.then(replied, replied);
  }

  /** Records that a command sent at `at` was not answered in time. Reconnects after {@link maxSilenceMs}. */
  missed(at: number): void {
    this.silentSince ??= at;
    if (performance.now() - this.silentSince < this.maxSilenceMs || this.client.isReady === false) return;
    this.silentSince = undefined;
    const { client } = this;
    if (isSentinel(client)) return;
    // Pending commands are rejected. The `reconnectStrategy` of the host applies to the new connection.
    void client
      .disconnect?.()
      .then(() => (this.mayConnect() ? client.connect?.() : undefined))
      .catch(() => undefined);
  }
}

/** The reply parser of node-redis 4 (`@redis/client` 1.x), with the state that its own `reset` does not clear. */
interface ReplyParser {
  reset(): void;
  integer: number;
  isNegativeInteger?: boolean;
  bulkStringRemainingLength?: number;
  arraysInProcess: unknown[];
  initializeArray: boolean;
  arrayItemType?: number;
}

const PARSER_FILE = /[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]RESP2[\\/]decoder\.js$/;
const patched = new WeakSet<object>();

/**
 * Patches the reply parser of node-redis 4, so that it discards a reply of which a broken connection delivered a part.
 *
 * A client uses one parser for all its connections and clears only a part of its state between them. It then reads the
 * replies of the next connection as the rest of the broken reply. As a result the client never becomes ready, or the
 * process ends, or commands receive the replies of other commands: a revoked token is not found on the denylist. The
 * parser of node-redis 5 clears its whole state.
 *
 * @returns whether a parser was found. There is none in a bundled application
 */
export function mendReplyParser(loaded: NodeJS.Dict<NodeJS.Module> = require.cache ?? {}): boolean {
  let isFound = false;
  for (const file of Object.keys(loaded).filter((name) => PARSER_FILE.test(name))) {
    const parser = (loaded[file]?.exports as { default?: { prototype: ReplyParser } } | undefined)?.default?.prototype;
    if (!parser) continue;
    isFound = true;
    if (patched.has(parser)) continue;
    patched.add(parser);
    const reset = parser.reset;
    parser.reset = function (this: ReplyParser): void {
      reset.call(this);
      this.integer = 0;
      this.isNegativeInteger = undefined;
      this.bulkStringRemainingLength = undefined;
      this.arraysInProcess = [];
      this.initializeArray = false;
      this.arrayItemType = undefined;
    };
  }
  return isFound;
}

/**
 * Derives the name of a server from its replies to `INFO server` and `INFO replication`. The name consists of the
 * process (`run_id`) and the history of its data (`master_replid`): when a process takes over the data of another one,
 * `run_id` stays and `master_replid` changes. Null for a replica, because its data may be older than the last write.
 * Empty when the reply contains neither.
 */
export function serverNameIn(info: string): string | null {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  if (field('role') === 'slave') return null;
  return [field('run_id'), field('master_replid')].filter(Boolean).join(':');
}

/** Milliseconds before the first repetition of a query, and the longest pause, as for a connection to a replica. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 1000];

/** The errors of a server that forbids or does not support `INFO`. */
const REFUSED = /^(NOPERM|ERR)\b/;

/** Tracks the name of the server process behind the connection of a client. */
export class ServerName {
  /** Null while the name is not known. */
  name: string | null = null;
  /** Identifies the current connection. */
  private connection: string = randomUUID();
  /** The connection on which a background query runs. */
  private learning?: string;

  constructor(readonly client: RedisClient) {
    // Also on `error`: node-redis sends queued commands on a new connection before the event `ready`.
    client.on('error', () => this.changed());
    client.on('ready', () => this.changed());
    void this.learn();
  }

  /** Discards the name and queries it again in the background. */
  forget(): void {
    this.name = null;
    void this.learn();
  }

  /** Queries the name. */
  async ask(): Promise<void> {
    const { connection } = this;
    const name = serverNameIn(await this.info());
    // A reply from an earlier connection does not apply to this one.
    if (this.connection === connection) this.name = name === '' ? UNNAMED : name;
  }

  private changed(): void {
    this.connection = randomUUID();
    this.forget();
  }

  /** Repeats the query until the name is known or the connection is lost. Never throws. */
  private async learn(): Promise<void> {
    const { connection } = this;
    if (this.learning === connection) return;
    this.learning = connection;
    for (let pause = RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
      if (this.connection !== connection || this.name !== null || this.client.isReady === false) break;
      await this.ask().catch(() => undefined);
      if (this.name === null) await sleep(pause, undefined, { ref: false });
    }
    if (this.learning === connection) this.learning = undefined;
  }

  private async info(): Promise<string> {
    try {
      // Two commands in one pipeline: Redis 6 does not support INFO with two sections.
      const sections = ['server', 'replication'].map((section) => this.client.sendCommand(['INFO', section]));
      return (await Promise.all(sections)).join('\n');
    } catch (error) {
      if (REFUSED.test((error as Error).message)) return '';
      throw error;
    }
  }
}

/** Tracks the name of the server process behind a client, a pool or a sentinel object. */
export class ServerNames {
  private readonly names = new Map<RedisClient, ServerName>();

  /**
   * The name that all connections have in common; null while the names differ or one is not known. A command on a
   * connection that breaks may be answered on the next one, so every connection is included until it is closed.
   */
  get common(): string | null {
    const [first, ...others] = this.open();
    return first && others.every(({ name }) => name === first.name) ? first.name : null;
  }

  /** Starts to track the server of a client. Call it before a command, so that the name is queried first. */
  watch(client: RedisClient): void {
    if (this.names.has(client)) return;
    for (const known of this.names.keys()) if (known.isOpen === false) this.names.delete(known);
    this.names.set(client, new ServerName(client));
  }

  /** Queries the name again on every connection. */
  async ask(): Promise<void> {
    await Promise.all(this.open().map((server) => server.ask()));
  }

  /** Discards all names and queries them again in the background. */
  forget(): void {
    for (const server of this.open()) server.forget();
  }

  private open(): ServerName[] {
    return [...this.names.values()].filter(({ client }) => client.isOpen !== false);
  }
}
