import { SecurityStore } from '@svc/auth';
import { RevocationStore } from '../../libs/auth/src/revocations/revocation.store';
import type { TestApp } from '../support/app';
import { RedisServer } from '../support/redis';
import { type Enrolled, challenge, codeOf, complete, enrol, startTwoFactor } from '../support/two-factor';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('a login challenge of before Redis lost its data', () => {
  let redis: RedisServer;
  let t: TestApp;
  let ada: Enrolled;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await startTwoFactor({}, { redisUrl: redis.url });
    ada = await enrol(t);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  const answer = async (challenge_token: string): Promise<number> => {
    t.clock.advance(30);
    return (await complete(t, { challenge_token, code: codeOf(t, ada.secret) })).status;
  };

  it('is no good any more, used up or not, and the next login is', async () => {
    const [spent, unspent] = [await challenge(t), await challenge(t)];
    expect(await answer(spent)).toBe(200);
    await redis.flush();
    expect([await answer(spent), await answer(unspent)]).toEqual([422, 422]);
    expect(await answer(await challenge(t))).toBe(200);
  });

  it('is told to be none before a code is looked at', async () => {
    const [spent, unspent] = [await challenge(t), await challenge(t)];
    expect(await answer(spent)).toBe(200);
    await redis.flush();
    for (const challenge_token of [spent, unspent]) {
      const { body } = await complete(t, { challenge_token, code: '000000' }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['challenge_token']);
    }
  });

  it('is good once where everything was told again in between, and nothing lost', async () => {
    const token = await challenge(t);
    t.clock.advance(61);
    await t.get('/private', ada.token).expect(200);
    expect([await answer(token), await answer(token)]).toEqual([200, 422]);
  });

  it('is given all the same by the next login, however often the store is lost', async () => {
    let token = '';
    for (let round = 0; round < 10; round++) {
      await redis.flush();
      token = await challenge(t);
    }
    expect(await answer(token)).toBe(200);
  });

  it('is given all the same while the store is lost once more', async () => {
    const revocations = t.app.get(RevocationStore, { strict: false });
    const settle = revocations.settle.bind(revocations);
    jest.spyOn(revocations, 'settle').mockImplementationOnce(async () => {
      await settle();
      await redis.flush();
    });
    await redis.flush();
    expect(await answer(await challenge(t))).toBe(200);
  });

  it('is not used up a second time by a request that had verified it before', async () => {
    const token = await challenge(t);
    const store = t.app.get(SecurityStore);
    const add = store.add.bind(store);
    jest.spyOn(store, 'add').mockImplementation(async (key, ...rest) => {
      if (key.startsWith('svc:dl:jti:')) await redis.flush();
      return add(key, ...rest);
    });
    expect(await answer(token)).toBe(422);
  });
});
