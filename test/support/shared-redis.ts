/** The Redis that the run shares, if there is one; each worker has a database of its own in it. */
export const sharedRedisUrl = (): string | undefined => {
  const url = process.env.TEST_REDIS_URL;
  return url && Object.assign(new URL(url), { pathname: `/${process.env.JEST_WORKER_ID ?? 0}` }).toString();
};
