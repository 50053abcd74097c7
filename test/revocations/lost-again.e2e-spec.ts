import { redisCache } from '../../apps/sample/src/redis-cache';
import { RevocationStore } from '../../libs/auth/src/revocations/revocation.store';
import { TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { RedisServer } from '../support/redis';
import type { Client } from '../support/stores';
import { eventually } from '../support/eventually';
import { describeWithOwnRedis } from '../support/with-redis';

// By itself: another node that tells it again would make good what is wrong here.
describeWithOwnRedis('one node alone, whose Redis loses the denylist', () => {
  let redis: RedisServer;
  let t: TestApp;
  let client: Client;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url });
    ({ client } = await redisCache(redis.url));
    await t.person(ADA);
  });
  afterAll(async () => {
    await client.disconnect();
    await t.stop();
    await redis.stop();
  });

  it('once more when everything was told, and nobody has said so yet, accepts nothing that was revoked', async () => {
    const [live, revoked] = [(await t.session()).access_token, (await t.session()).access_token];
    await t.call('post', '/auth/logout', revoked).expect(204);
    const store = t.app.get(RevocationStore, { strict: false });
    const batch = store.batch.bind(store);
    let ends = 0;
    jest.spyOn(store, 'batch').mockImplementation(async (...args) => {
      const found = await batch(...args);
      if (found.length === 0 && ends++ === 0) await client.flushAll();
      return found;
    });
    await client.flushAll();
    await eventually(async () => {
      await t.get('/private', revoked).expect(401);
      await t.get('/private', live).expect(200);
      return ends > 1;
    });
    await t.get('/private', revoked).expect(401);
  });
});
