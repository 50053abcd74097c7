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
