import type { RedisClient } from '../support/stores/redis';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { KeyedOrders, createKey, keyOwner, serviceKey } from '../support/flows/access-keys';
import { TestApp } from '../support/hosts/app';
import { ADA } from '../support/hosts/user-entities';
import { eventually } from '../support/runtime/eventually';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';
import { TcpProxy } from '../support/faults/tcp-proxy';

describeWithOwnRedis('a revoked access key', () => {
  let redis: RedisServer;
  let operator: RedisClient;
  let t: TestApp;
  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client: operator } = await redisCache(redis.url));
    operator.on('error', () => undefined);
    t = await TestApp.start({
      redisUrl: redis.url,
      controllers: [KeyedOrders],
      options: { features: { accessKeys: true } },
    });
    await t.person(ADA);
  });
  afterAll(async () => {
    await t.stop();
    await operator.disconnect();
    await redis.stop();
  });

  const recovered = (text: string): Promise<void> =>
    eventually(async () => {
      const { status } = await t.get('/orders', text);
      expect([200, 503]).toContain(status);
      return status === 200;
    });

  it('stays refused when Redis is emptied, stopped, and empty again', async () => {
    const owner = await keyOwner(t);
    const [live, before] = [await createKey(t, owner), await createKey(t, owner)];
    await t.call('delete', `/auth/access-keys/${before.id}`, owner.tokens.access_token).expect(204);
    await operator.flushAll();
    await t.get('/orders', before.access_key).expect(401);
    await recovered(live.access_key);

    const meanwhile = await serviceKey(t);
    await redis.stop();
    for (let i = 0; i < 3; i++) {
      expect([401, 503]).toContain((await t.get('/orders', before.access_key)).status);
      await t.get('/orders', live.access_key).expect(503);
    }
    // The row decides: an end needs no Redis.
    expect(await t.auth.accessKeys.revokeAny(meanwhile.id)).toBe(true);
    expect([401, 503]).toContain((await t.get('/orders', meanwhile.access_key)).status);
    await redis.start();
    await recovered(live.access_key);
    for (const { access_key: text } of [before, meanwhile]) await t.get('/orders', text).expect(401);
  });

  it('stays refused, and its row ends again, when a failover of PostgreSQL has lost its end', async () => {
    const owner = await keyOwner(t);
    const [mine, ours] = [await createKey(t, owner), await serviceKey(t)];
    await t.call('delete', `/auth/access-keys/${mine.id}`, owner.tokens.access_token).expect(204);
    await t.auth.accessKeys.revokeAny(ours.id);
    await t.database.query('UPDATE svc_access_keys SET revoked_at = NULL WHERE id = ANY($1)', [[mine.id, ours.id]]);
    for (const { id, access_key: text } of [mine, ours]) {
      await t.get('/orders', text).expect(401);
      await eventually(async () => {
        const [row] = await t.database.query('SELECT revoked_at FROM svc_access_keys WHERE id = $1', [id]);
        return row.revoked_at !== null;
      });
    }
    await operator.flushAll();
    for (const { access_key: text } of [mine, ours]) await t.get('/orders', text).expect(401);
  });

  it('stays refused after a failover that has lost the end of all keys of a person', async () => {
    const owner = await keyOwner(t);
    const keys = [await createKey(t, owner), await createKey(t, owner)];
    await t.call('delete', '/auth/sessions', owner.tokens.access_token).expect(204);
    await t.database.query('UPDATE svc_access_keys SET revoked_at = NULL');
    for (const { access_key: text } of keys) await t.get('/orders', text).expect(401);
  });
});

describe('while PostgreSQL does not answer', () => {
  let proxy: TcpProxy;
  const t = TestApp.forFile(async () => {
    const { port } = new URL(process.env.TEST_DATABASE_URL!);
    proxy = await TcpProxy.to(Number(port));
    return {
      controllers: [KeyedOrders],
      options: { features: { accessKeys: true, denylist: false } },
    };
  });
  afterAll(() => proxy.close());

  it('no key is accepted, and none is refused for good', async () => {
    const key = await serviceKey(t);
    await t.get('/orders', key.access_key).expect(200);
    await t.database.query('ALTER TABLE svc_access_keys RENAME TO away');
    const { status } = await t.get('/orders', key.access_key);
    await t.database.query('ALTER TABLE away RENAME TO svc_access_keys');
    expect(status).not.toBe(200);
    await t.get('/orders', key.access_key).expect(200);
    await t.auth.accessKeys.revokeAny(key.id);
    await t.get('/orders', key.access_key).expect(401);
  });
});
