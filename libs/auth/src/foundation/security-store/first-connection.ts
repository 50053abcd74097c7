import { withTimeout } from '../platform/deadline';
import { StoreUnavailable } from '../platform/errors';
import type { RedisClient, RedisSource } from './redis-client';

const isRedisSource = (value: unknown): value is RedisSource =>
  typeof (value as { sendCommand?: unknown } | null)?.sendCommand === 'function';

/**
 * Finds the node-redis client below a cache-manager cache: version 5 (`cache.store.client`), version 6
 * and 7 with `@keyv/redis` (`cache.stores[i].store.client`) or with `KeyvAdapter` around
 * cache-manager-redis-yet (`cache.stores[i].store._cache.client`). A client itself is returned as it is.
 * A client is one of node-redis 4, 5 or 6, or a sentinel object of node-redis 5 or 6.
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
  if (has(client, 'getSlotMaster')) {
    return 'is a cluster object of node-redis. Set it to clusterStore(cluster) of @svc/auth/redis-cluster.';
  }
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
  try {
    await withTimeout('Redis', CONNECT_TIMEOUT_MS, Promise.resolve(client.connect!()));
    return null;
  } catch (error) {
    last ??= (error instanceof StoreUnavailable ? error.cause : error) as Error | undefined;
  }
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

/** Returns why a value of `redis.url` is no URL for node-redis, with the correction; null for one that is. */
export function urlProblem(redisUrl: unknown): string | null {
  const url = typeof redisUrl === 'string' && URL.canParse(redisUrl) ? new URL(redisUrl) : null;
  if (!url?.hostname || !['redis:', 'rediss:'].includes(url.protocol)) {
    return 'is not a URL of Redis. Set it to one, such as redis://localhost:6379.';
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return (
      'has a percent sign in its user or password that encodes no character. Encode both with encodeURIComponent: a ' +
      'percent sign is %25.'
    );
  }
  if (/^\/?\d*$/.test(url.pathname)) return null;
  return (
    'has a path that is not the number of a database. Set it to a URL such as redis://localhost:6379/0. In a password, a ' +
    'slash is %2F.'
  );
}
