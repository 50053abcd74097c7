import { redisBinary } from './redis';

/** The Redis that the run shares, if there is one. */
export const sharedRedisUrl = (): string | undefined => process.env.TEST_REDIS_URL;

/** A suite that needs the shared Redis. Without any Redis it is reported as skipped, by name. */
export const describeWithRedis = process.env.TEST_REDIS_URL ? describe : describe.skip;

/** A suite that stops and freezes a Redis of its own. */
export const describeWithOwnRedis = redisBinary ? describe : describe.skip;
