import { ConnectionTimeoutError, createClient } from '@redis/client';
import { type Cache, KeyvAdapter, createCache } from 'cache-manager';
import { type RedisStore, redisInsStore } from 'cache-manager-redis-yet';
import { Keyv } from 'keyv';

/** A connection that takes longer is tried again. */
const CONNECT_MS = 5000;

/** The first connection gives up after this number of attempts that took too long. */
const MAX_SLOW_ATTEMPTS = 12;

/**
 * A cache-manager cache on Redis for the option `cache`, and its Redis client.
 *
 * @throws Error if the first connection is refused: the caller knows whether it should be tried again
 */
export async function redisCache(url: string): Promise<{ cache: Cache; client: RedisStore['client'] }> {
  let isConnected = false;
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: 10_000,
    socket: {
      connectTimeout: CONNECT_MS,
      // The pause between two attempts is at most 500 ms: the client reconnects soon after an outage of any length.
      reconnectStrategy: (retries, cause) =>
        isConnected || (cause instanceof ConnectionTimeoutError && retries < MAX_SLOW_ATTEMPTS)
          ? Math.min(retries * 50, 500)
          : false,
    },
  });
  const ignore = (): void => undefined;
  // Without a listener, the first error would end the attempts.
  client.on('error', ignore);
  await client.connect();
  isConnected = true;
  client.off('error', ignore);
  const store = redisInsStore(client as unknown as RedisStore['client']);
  return { cache: createCache({ stores: [new Keyv({ store: new KeyvAdapter(store) })] }), client: store.client };
}
