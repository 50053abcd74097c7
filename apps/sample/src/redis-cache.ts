import { type Cache, KeyvAdapter, createCache } from 'cache-manager';
import { type RedisStore, redisStore } from 'cache-manager-redis-yet';
import { Keyv } from 'keyv';

/** A cache-manager cache on Redis for the option `cache`, and its Redis client. */
export async function redisCache(url: string): Promise<{ cache: Cache; client: RedisStore['client'] }> {
  const store = await redisStore({
    url,
    disableOfflineQueue: true,
    pingInterval: 10_000,
    // The pause between two attempts is at most 500 ms: the client reconnects soon after an outage of any length.
    socket: { connectTimeout: 1000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) },
  });
  const cache = createCache({ stores: [new Keyv({ store: new KeyvAdapter(store) })] });
  return { cache, client: store.client };
}
