import { redisBinary } from './redis';
import { sharedRedisUrl } from './shared-redis';

export { sharedRedisUrl };

/** A suite that needs the shared Redis. Without any Redis it is reported as skipped, by name. */
export const describeWithRedis = sharedRedisUrl() ? describe : describe.skip;

/** A suite that stops and freezes a Redis of its own. */
export const describeWithOwnRedis = redisBinary ? describe : describe.skip;
