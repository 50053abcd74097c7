/** The part of node-redis that is the same in its client 1.x (redis 4) and 5.x. */
export interface RedisClient {
  readonly isReady?: boolean;
  connect?(): Promise<unknown>;
  disconnect?(): Promise<unknown>;
  mGet(keys: string[]): Promise<(string | null)[]>;
  set(key: string, value: string, options: { PX: number; NX?: true }): Promise<unknown>;
  getDel(key: string): Promise<string | null>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  sendCommand(args: string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

const isRedisClient = (value: unknown): value is RedisClient =>
  typeof (value as { sendCommand?: unknown } | null)?.sendCommand === 'function';

/**
 * Finds the node-redis client below a cache-manager cache: version 5 (`cache.store.client`), version 6
 * and 7 with `@keyv/redis` (`cache.stores[i].store.client`) or with `KeyvAdapter` around
 * cache-manager-redis-yet (`cache.stores[i].store._cache.client`). A client itself is returned as it is.
 *
 * cache-manager offers no atomic operation, and from version 7 on it swallows read errors into
 * `undefined`, which would open a denylist; therefore the library talks to the client below it.
 */
export function redisClientOf(source: unknown): RedisClient | undefined {
  const { store, stores } = (source ?? {}) as { store?: { client?: unknown }; stores?: unknown };
  const keyvs = Array.isArray(stores) ? stores : [];
  const below = keyvs.flatMap((keyv: { store?: { client?: unknown; _cache?: { client?: unknown } } }) => [
    keyv?.store?.client,
    keyv?.store?._cache?.client,
  ]);
  return [source, store?.client, ...below].find(isRedisClient);
}
