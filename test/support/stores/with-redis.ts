import { redisBinary } from './redis';
import { sharedRedisUrl } from './shared-redis';

export { sharedRedisUrl };

/** A suite that needs the shared Redis. Without a Redis, Jest reports the suite as skipped. */
export const describeWithRedis = sharedRedisUrl() ? describe : describe.skip;

/** A suite that stops and freezes its own Redis. */
export const describeWithOwnRedis = redisBinary ? describe : describe.skip;
