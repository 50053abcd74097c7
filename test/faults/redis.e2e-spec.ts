import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type Tokens } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const STORE_TIMEOUT_MS = 10_000;

describeWithOwnRedis('a separate Redis server', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let operator: RedisClient;
  let t: TestApp;
  let live: Tokens;

  beforeAll(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.to(redis.port);
    t = await TestApp.start({
      redisUrl: proxy.through(redis.url),
      options: { storeTimeoutMs: STORE_TIMEOUT_MS },
    });
    await t.person('ada@example.com');
    ({ client: operator } = await redisCache(redis.url));
    operator.on('error', () => undefined);
  });
  beforeEach(async () => void (live = await t.session()));
  afterEach(() => proxy.heal());
  afterAll(async () => {
    await t.stop();
    await operator.disconnect();
    await proxy.close();
    await redis.stop();
  });

  const recovered = (): Promise<void> =>
    eventually(async () => {
      const { status } = await t.get('/private', live.access_token);
      expect([200, 503]).toContain(status);
      return status === 200;
    });

  /** Requires that every operation on an existing and on a new session succeeds. */
  async function expectAllWell(): Promise<void> {
    await recovered();
    await t.get('/private', live.access_token).expect(200);
    const { body } = await t.refresh(live.refresh_token).expect(200);
    await t.login('ada@example.com', 'wrong').expect(422);
    await t.call('post', '/auth/logout', body.access_token).expect(204);
    await t.get('/private', body.access_token).expect(401);
    await t.get('/private', (await t.session()).access_token).expect(200);
  }

  it('that is slow delays requests up to the timeout', async () => {
    proxy.slow(5);
    await expectAllWell();
    live = await t.session();
    const { access_token: ended } = await t.session();
    await t.call('post', '/auth/logout', ended).expect(204);
    proxy.slow(1.5 * STORE_TIMEOUT_MS);
    const late = [t.get('/private', live.access_token), t.get('/private', ended), t.refresh(live.refresh_token)];
    for (const { status } of await Promise.all(late)) expect(status).toBe(503);
    proxy.heal();
    await recovered();
    await t.get('/private', ended).expect(401);
    await t.refresh(live.refresh_token).expect(200);
  });

  it('whose connection is lost without a packet gets a new one', async () => {
    proxy.lose();
    await expectAllWell();
  });

  it.each([
    ['was flushed', () => redis.flush()],
    ['was restarted without data', async () => (await redis.stop(), await redis.start())],
  ])('that %s ends no session, and its rate limit counters restart', async (_, lose) => {
    await lose();
    await expectAllWell();
  });

  it('that evicts keys ends no session and causes no server error', async () => {
    const used = Number(/used_memory:(\d+)/.exec(await operator.info('memory'))![1]);
    await operator.configSet({ maxmemory: String(used + 2_000_000), 'maxmemory-policy': 'allkeys-random' });
    const sessions = await Promise.all(Array.from({ length: 10 }, () => t.session()));
    for (let i = 0; i < 400; i++) await operator.set(`ballast:${i}`, 'x'.repeat(10_000));
    expect(Number(/evicted_keys:(\d+)/.exec(await operator.info('stats'))![1])).toBeGreaterThan(0);
    for (const session of sessions) {
      await t.get('/private', session.access_token).expect(200);
      await t.refresh(session.refresh_token).expect(200);
    }
    await operator.configSet({ maxmemory: '0', 'maxmemory-policy': 'noeviction' });
    await operator.flushAll();
    await expectAllWell();
  });

  it.each([
    ['is full', () => operator.configSet('maxmemory', '1'), () => operator.configSet('maxmemory', '0')],
    [
      'has become a replica',
      () => operator.sendCommand(['REPLICAOF', '127.0.0.1', '1']),
      () => operator.sendCommand(['REPLICAOF', 'NO', 'ONE']),
    ],
  ])('that %s and refuses writes makes writing requests fail, and loses nothing', async (_, fill, empty) => {
    await fill();
    expect([200, 503]).toContain((await t.get('/private', live.access_token)).status);
    for (const request of [
      t.login('ada@example.com'),
      t.refresh(live.refresh_token),
      t.call('post', '/auth/logout', live.access_token),
      t.call('delete', '/auth/sessions', live.access_token),
    ]) {
      await request.expect(503).expect('Retry-After', '1');
    }
    await empty();
    await expectAllWell();
  });
});
