import { type Cache, KeyvAdapter, createCache } from 'cache-manager';
import { type RedisStore, redisStore } from 'cache-manager-redis-yet';
import { Keyv } from 'keyv';

/** The cache-manager cache that the library finds its Redis client below, and that client. */
export async function redisCache(url: string): Promise<{ cache: Cache; client: RedisStore['client'] }> {
  const store = await redisStore({
    url,
    disableOfflineQueue: true,
    pingInterval: 10_000,
    // Back within half a second of Redis, whatever the length of the outage.
    socket: { connectTimeout: 1000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) },
  });
  const cache = createCache({ stores: [new Keyv({ store: new KeyvAdapter(store) })] });
  return { cache, client: store.client };
}
