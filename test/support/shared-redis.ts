/** The Redis that the run shares, if there is one. */
export const sharedRedisUrl = (): string | undefined => process.env.TEST_REDIS_URL;
