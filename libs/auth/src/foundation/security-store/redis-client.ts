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
