import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UNNAMED } from './security-store';
/** The part of a client of node-redis that is the same in `@redis/client` 1.x (redis 4) and 5.x. */
export interface RedisClient {
  readonly isOpen?: boolean;
  readonly isReady?: boolean;
  connect?(): Promise<unknown>;
  disconnect?(): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

/** A sentinel object of node-redis 5 (`createSentinel`): it opens another client for every master. */
export interface RedisSentinel {
  /** True from `connect` to `close`, also while there is no master. */
  readonly isReady: boolean;
  getSentinelNode(): unknown;
  /**
   * Runs a command on a client of the master, or of a replica. After a lost connection, or a refused write, it looks
   * for the master and runs it again. Every command of a sentinel object goes through it.
   */
  _execute<T>(isReadonly: boolean, command: (client: RedisClient) => Promise<T>): Promise<T>;
  on(event: 'error', listener: (error: Error | string) => void): unknown;
}

/** A pool of node-redis 5 (`createClientPool`). */
interface RedisPool extends RedisClient {
  execute<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
}

export type RedisSource = RedisClient | RedisSentinel;

const isRedisSource = (value: unknown): value is RedisSource =>
  typeof (value as { sendCommand?: unknown } | null)?.sendCommand === 'function';

export const isSentinel = (source: RedisSource): source is RedisSentinel =>
  typeof (source as Partial<RedisSentinel>).getSentinelNode === 'function';

const isPool = (source: RedisSource): source is RedisPool =>
  typeof (source as Partial<RedisPool>).execute === 'function';

/**
 * Runs a command on a client that has one connection, and has it to the master. A sentinel object and a pool tell
 * nobody when such a connection breaks; the client does.
 */
export function onMaster<T>(source: RedisSource, command: (client: RedisClient) => Promise<T>): Promise<T> {
  if (isSentinel(source)) return source._execute(false, command);
  return isPool(source) ? source.execute(command) : command(source);
}

/**
 * Finds the node-redis client below a cache-manager cache: version 5 (`cache.store.client`), version 6
 * and 7 with `@keyv/redis` (`cache.stores[i].store.client`) or with `KeyvAdapter` around
 * cache-manager-redis-yet (`cache.stores[i].store._cache.client`). A client itself is returned as it is.
 * A client is one of node-redis 4 or 5, or a sentinel object of node-redis 5.
 *
 * cache-manager offers no atomic operation, and from version 7 on it swallows read errors into
 * `undefined`, which would open a denylist; therefore the library talks to the client below it.
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

/**
 * Replaces a connection on which nothing is answered any more. Its peer may have gone without a word, which TCP
 * notices after a quarter of an hour; until then the client would send into the void, and nobody be let in.
 *
 * A sentinel object is left alone. It replaces its connections when the sentinels name another master; one whose
 * connection is closed meanwhile waits for the old master, and does not look for the new one.
 */
export class Liveness {
  private silentSince?: number;

  /** @param patienceMs how long nothing at all may be answered */
  constructor(
    private readonly client: RedisSource,
    private readonly patienceMs: number,
  ) {}

  /** Waits for a reply, to know that there was one, also when nobody waits for it any more. */
  watch(reply: Promise<unknown>): void {
    const heard = (): void => void (this.silentSince = undefined);
    reply.then(heard, heard);
  }

  /** A command that was sent at `at` has not been answered in its time. */
  missed(at: number): void {
    this.silentSince ??= at;
    if (performance.now() - this.silentSince < this.patienceMs || this.client.isReady === false) return;
    this.silentSince = undefined;
    const { client } = this;
    if (isSentinel(client)) return;
    // What waits on it is refused; the host's `reconnectStrategy` decides how the new one is made.
    void client
      .disconnect?.()
      .then(() => client.connect?.())
      .catch(() => undefined);
  }
}

/** The parser of replies of node-redis 4 (`@redis/client` 1.x): the state that its own `reset` leaves behind. */
interface ReplyParser {
  reset(): void;
  integer: number;
  isNegativeInteger?: boolean;
  bulkStringRemainingLength?: number;
  arraysInProcess: unknown[];
  initializeArray: boolean;
  arrayItemType?: number;
}

const FILE = /[\\/]@redis[\\/]client[\\/]dist[\\/]lib[\\/]client[\\/]RESP2[\\/]decoder\.js$/;
const mended = new WeakSet<object>();

/**
 * Has node-redis 4 forget a reply of which a broken connection delivered a part.
 *
 * A client keeps one parser for all its connections, and forgets half of its state between them. The next
 * connection's replies are then read as the rest of that one; it never becomes ready, the process dies of it, or
 * commands get each other's replies: a token that was revoked is not found on the denylist. node-redis 5
 * has a parser that forgets everything.
 *
 * @returns whether there was one; a bundler leaves none to be found
 */
export function mendReplyParser(loaded: NodeJS.Dict<NodeJS.Module> = require.cache ?? {}): boolean {
  let isFound = false;
  for (const file of Object.keys(loaded).filter((name) => FILE.test(name))) {
    const parser = (loaded[file]?.exports as { default?: { prototype: ReplyParser } } | undefined)?.default?.prototype;
    if (!parser) continue;
    isFound = true;
    if (mended.has(parser)) continue;
    mended.add(parser);
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
 * Names the server process that gave this answer to `INFO server` and `INFO replication`, and the history of its
 * data: `master_replid` changes where a process takes over the data of another one, which `run_id` survives. Null
 * for a replica, whose data is older than what was written. Empty where the answer names nothing.
 */
export function serverNameIn(info: string): string | null {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  if (field('role') === 'slave') return null;
  return [field('run_id'), field('master_replid')].filter(Boolean).join(':');
}

const RETRY_MS = 100;

/** What a server answers that lets nobody ask, or does not know the command. */
const REFUSED = /^(NOPERM|ERR)\b/;

/** Knows which server process is at the other end of a client's connection. */
export class ServerName {
  /** Null while it is not known. */
  name: string | null = null;
  /** Names the connection. */
  private connection: string = randomUUID();
  /** The connection that is being asked over in the background. */
  private learning?: string;

  constructor(readonly client: RedisClient) {
    // At `error`, too: node-redis sends what waits in its queue over a new connection before that is ready.
    client.on('error', () => this.changed());
    client.on('ready', () => this.changed());
    void this.learn();
  }

  /** Unknown from now on, and asked for in the background. */
  forget(): void {
    this.name = null;
    void this.learn();
  }

  async ask(): Promise<void> {
    const { connection } = this;
    const name = serverNameIn(await this.info());
    // The answer of a former connection says nothing of this one.
    if (this.connection === connection) this.name = name === '' ? UNNAMED : name;
  }

  private changed(): void {
    this.connection = randomUUID();
    this.forget();
  }

  /** Asks until there is a name, or no connection to ask over. Never throws. */
  private async learn(): Promise<void> {
    const { connection } = this;
    if (this.learning === connection) return;
    this.learning = connection;
    while (this.connection === connection && this.name === null && this.client.isReady !== false) {
      await this.ask().catch(() => undefined);
      if (this.name === null) await sleep(RETRY_MS, undefined, { ref: false });
    }
    if (this.learning === connection) this.learning = undefined;
  }

  private async info(): Promise<string> {
    try {
      // In one pipeline. A single INFO with two sections is unknown to Redis 6.
      const sections = ['server', 'replication'].map((section) => this.client.sendCommand(['INFO', section]));
      return (await Promise.all(sections)).join('\n');
    } catch (error) {
      if (REFUSED.test((error as Error).message)) return '';
      throw error;
    }
  }
}

/** Knows which server process is behind a client, a pool or a sentinel object. */
export class ServerNames {
  private readonly names = new Map<RedisClient, ServerName>();

  /**
   * The name that all connections agree on; null while they do not, or one is not known. A command that was given to
   * one of them before it broke may be answered over the next one, so each counts until it is closed.
   */
  get common(): string | null {
    const [first, ...others] = this.open();
    return first && others.every(({ name }) => name === first.name) ? first.name : null;
  }

  /** To be called before a command is given to a client: its server is asked first. */
  watch(client: RedisClient): void {
    if (this.names.has(client)) return;
    for (const known of this.names.keys()) if (known.isOpen === false) this.names.delete(known);
    this.names.set(client, new ServerName(client));
  }

  /** Asks every connection again. */
  async ask(): Promise<void> {
    await Promise.all(this.open().map((server) => server.ask()));
  }

  forget(): void {
    for (const server of this.open()) server.forget();
  }

  private open(): ServerName[] {
    return [...this.names.values()].filter(({ client }) => client.isOpen !== false);
  }
}
