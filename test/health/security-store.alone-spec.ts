import { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { HealthModule, UP, down, isUp, newHealthOf } from '../support/views/health';
import { RedisServer } from '../support/stores/redis';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { describeWithOwnRedis } from '../support/stores/with-redis';

describeWithOwnRedis('the health of the security store', () => {
  let redis: RedisServer;
  let t: TestApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({
      redisUrl: redis.url,
      imports: [HealthModule],
      options: { storeTimeoutMs: HELD_MS },
    });
    await t.person('ada@example.com');
  });
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  const downAt = (reason: string, step: string, code?: string) => ({
    status: 503,
    details: { ...UP, auth_store: down(reason, step, code) },
  });

  it('is down while Redis is stopped, and up again afterwards', async () => {
    expect(await newHealthOf(t)).toEqual({ status: 200, details: UP });
    await redis.stop();
    expect(await newHealthOf(t)).toEqual(downAt('unreachable', 'read'));
    await redis.start();
    await eventually(() => isUp(t));
  });

  it('is down after one timeout while Redis hangs', async () => {
    redis.freeze();
    const answer = await StoreTimeouts.of(t.app).during(() => newHealthOf(t));
    expect(answer).toEqual(downAt('unreachable', 'read'));
    redis.thaw();
    await eventually(() => isUp(t));
  });

  it.each<[what: string, step: string, code: string, damage: string[], repair: string[]]>([
    [
      'has too few replicas to write',
      'write',
      'NOREPLICAS',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
    ['has no memory left', 'write', 'OOM', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    [
      'allows no script',
      'script',
      'NOPERM',
      ['ACL', 'SETUSER', 'default', '-eval'],
      ['ACL', 'SETUSER', 'default', '+eval'],
    ],
    [
      'allows no read of several keys',
      'read',
      'NOPERM',
      ['ACL', 'SETUSER', 'default', '-mget'],
      ['ACL', 'SETUSER', 'default', '+mget'],
    ],
  ])(
    'is down at its step while Redis %s, as logins are, and up at once afterwards',
    async (_, step, code, damage, repair) => {
      await eventually(() => isUp(t));
      await redis.command(...damage);
      try {
        expect(await newHealthOf(t)).toEqual(downAt('failed', step, code));
        const { access_token: token } = (await t.login('ada@example.com')).body;
        // A login itself reads no two keys: the request with its token does.
        expect(token === undefined || (await t.get('/private', token)).status === 503).toBe(true);
      } finally {
        await redis.command(...repair);
      }
      expect(await newHealthOf(t)).toEqual({ status: 200, details: UP });
    },
  );

  it('is down while Redis is a replica, with its refusal as the code, and up again when it is a master', async () => {
    await eventually(() => isUp(t));
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    const refused = ['read', 'write'].map((step) => JSON.stringify(down('failed', step, 'READONLY')));
    // At the first step from the moment at which its role is read.
    await eventually(async () => refused.includes(JSON.stringify((await newHealthOf(t)).details.auth_store)));
    await redis.command('REPLICAOF', 'NO', 'ONE');
    await eventually(() => isUp(t));
  });

  it('leaves no key in Redis, also after a failed step', async () => {
    expect(await redis.command('KEYS', '*svc:health*')).toBe('');
    await newHealthOf(t);
    expect(await redis.command('KEYS', '*svc:health*')).toBe('');
  });
});
