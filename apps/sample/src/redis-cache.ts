import { KeyvAdapter, createCache } from 'cache-manager';
import { redisStore } from 'cache-manager-redis-yet';
import { Keyv } from 'keyv';

/** The cache-manager cache that the library finds its Redis client below, and what ends its connection. */
export async function redisCache(url: string) {
  const store = await redisStore({
    url,
    disableOfflineQueue: true,
    pingInterval: 10_000,
    // Back within half a second of Redis, whatever the length of the outage.
    socket: { connectTimeout: 1000, reconnectStrategy: (retries) => Math.min(retries * 50, 500) },
  });
  const cache = createCache({ stores: [new Keyv({ store: new KeyvAdapter(store) })] });
  return { cache, disconnect: () => store.client.disconnect() };
}
