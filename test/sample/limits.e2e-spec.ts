import { randomBytes } from 'node:crypto';
import { createEmptyDatabase } from '../support/database';
import { RedisServer } from '../support/redis';
import { type Sample, SampleHost } from '../support/sample';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('the limits of the sample on its own routes', () => {
  const host = SampleHost.forFile();
  let redis: RedisServer;
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let s: Sample;

  beforeAll(async () => {
    [database, redis] = await Promise.all([createEmptyDatabase(), RedisServer.start()]);
    s = await host.start({
      NODE_ENV: 'development',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      SVC_SECRET: randomBytes(32).toString('hex'),
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    });
  });
  // The host registered its own hook before, so the sample has ended.
  afterAll(() => Promise.all([database.drop(), redis.stop()]));

  /** The number of answers by status. */
  async function answers(path: string, requests: number): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    const statuses = await Promise.all(Array.from({ length: requests }, () => s.status(path)));
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it('allow each of them 120 requests of a client, with or without a token', async () => {
    expect(await answers('/orders/menu', 150)).toEqual({ 200: 120, 429: 30 });
    expect(await answers('/admin/users', 121)).toEqual({ 401: 120, 429: 1 });
    const { headers } = await fetch(`${s.url}/orders/menu`);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const { body } = await s.login('demo@example.com');
    expect((await s.call('GET', '/user', undefined, body.access_token)).status).toBe(200);
  });

  it('do not apply to the routes of the library, which have their own limits', async () => {
    expect(await answers('/auth/jwks', 130)).toEqual({ 200: 130 });
  });

  it('answer 503 while the store does not answer', async () => {
    await redis.stop();
    expect(await answers('/orders/menu', 2)).toEqual({ 503: 2 });
    expect(await answers('/admin/users', 2)).toEqual({ 503: 2 });
  });
});
