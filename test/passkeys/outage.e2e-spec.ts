import { TestApp } from '../support/hosts/app';
import { PASSKEYS } from '../support/flows/passkeys';
import { RedisServer } from '../support/stores/redis';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { describeWithOwnRedis } from '../support/stores/with-redis';

describeWithOwnRedis('without an answer from Redis', () => {
  it('no ceremony starts or ends', async () => {
    const redis = await RedisServer.start();
    const t = await TestApp.start({ redisUrl: redis.url, options: { ...PASSKEYS, storeTimeoutMs: HELD_MS } });
    const { body } = await t.http.post('/auth/passkeys/login-options').expect(200);
    redis.freeze();
    const login = { ceremony_id: body.ceremony_id, credential: {} };
    for (const [path, sent] of Object.entries({ 'login-options': {}, login })) {
      await StoreTimeouts.of(t.app).during(() => t.http.post(`/auth/passkeys/${path}`).send(sent).expect(503));
    }
    redis.thaw();
    await t.stop();
    await redis.stop();
  });
});
