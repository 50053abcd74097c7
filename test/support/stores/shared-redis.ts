/** The Redis that the run shares, if there is one. Each worker has its own database in it. */
export const sharedRedisUrl = (): string | undefined => {
  const url = process.env.TEST_REDIS_URL;
  return url && Object.assign(new URL(url), { pathname: `/${process.env.JEST_WORKER_ID ?? 0}` }).toString();
};
