import { TestApp } from '../support/app';
import { eventually } from '../support/eventually';
import { HealthModule, UP, down, healthOf, isUp } from '../support/health';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('the health of the security store', () => {
  let redis: RedisServer;
  let t: TestApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url, imports: [HealthModule] });
  });
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  const DOWN = { status: 503, details: { ...UP, auth_store: down('unreachable') } };

  it('is down while Redis is stopped, and up again afterwards', async () => {
    expect(await healthOf(t)).toEqual({ status: 200, details: UP });
    await redis.stop();
    expect(await healthOf(t)).toEqual(DOWN);
    await redis.start();
    await eventually(() => isUp(t));
  });

  it('is down within the timeout while Redis hangs', async () => {
    redis.freeze();
    const start = performance.now();
    expect(await healthOf(t)).toEqual(DOWN);
    // One second for the concurrent checks, and a margin for a busy machine.
    expect(performance.now() - start).toBeLessThan(2500);
    redis.thaw();
    await eventually(() => isUp(t));
  });

  it('is down while Redis refuses writes, even if it answers reads', async () => {
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await healthOf(t)).toEqual(DOWN);
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
    await eventually(() => isUp(t));
  });
});
