import { setTimeout as sleep } from 'node:timers/promises';
import type { TestApp } from '../support/app';
import { RedisServer } from '../support/redis';
import { type Enrolled, asConfirmed, challenge, codeOf, complete, enrol, startTwoFactor } from '../support/two-factor';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('the second factor in an outage', () => {
  let redis: RedisServer;
  let t: TestApp;
  let ada: Enrolled;

  beforeEach(async () => {
    redis = await RedisServer.start();
    t = await startTwoFactor({}, { redisUrl: redis.url });
    ada = await enrol(t);
  });
  afterEach(async () => {
    await t.stop();
    await redis.stop();
  });

  const inTime = async <T>(work: PromiseLike<T>): Promise<T> => {
    const started = performance.now();
    const result = await work;
    expect(performance.now() - started).toBeLessThan(1000);
    return result;
  };

  it('of Redis is 503, and loses neither challenge nor code', async () => {
    const challenge_token = await challenge(t);
    const answers = [{ code: codeOf(t, ada.secret) }, { recovery_code: ada.recoveryCodes[0] }];
    redis.freeze();
    for (const answer of answers) {
      const { status } = await inTime(complete(t, { challenge_token, ...answer }));
      expect(status).toBe(503);
    }
    expect((await inTime(asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof))).status).toBe(503);
    redis.thaw();
    await sleep(300);
    await complete(t, { challenge_token, ...answers[1] }).expect(200);
    await complete(t, { challenge_token: await challenge(t), ...answers[0] }).expect(200);
  });

  it('of its columns lets nobody in with the password alone', async () => {
    await t.database.query('ALTER TABLE people RENAME COLUMN two_factor_secret TO gone');
    const { status, body } = await t.login('ada@example.com');
    expect(status).toBeGreaterThanOrEqual(500);
    expect(body).not.toHaveProperty('access_token');
  });
});
