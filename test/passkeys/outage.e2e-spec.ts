import { TestApp } from '../support/app';
import { PASSKEYS } from '../support/passkeys';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('without an answer from Redis', () => {
  it('no ceremony starts or ends', async () => {
    const redis = await RedisServer.start();
    const t = await TestApp.start({ redisUrl: redis.url, options: PASSKEYS });
    const { body } = await t.http.post('/auth/passkeys/login-options').expect(200);
    redis.freeze();
    await t.http.post('/auth/passkeys/login-options').expect(503);
    await t.http.post('/auth/passkeys/login').send({ ceremony_id: body.ceremony_id, credential: {} }).expect(503);
    redis.thaw();
    await t.stop();
    await redis.stop();
  });
});
