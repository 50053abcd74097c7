import { UserProvider } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { RedisServer } from '../support/stores/redis';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import {
  ADA,
  type Enrolled,
  asConfirmed,
  startChallenge,
  codeOf,
  completeChallenge,
  enrol,
  enrolledForFile,
} from '../support/flows/two-factor';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** Expects an answer after one timeout for all store calls of the request. */
const inTime = <T>(t: TestApp, work: () => PromiseLike<T>): Promise<T> => StoreTimeouts.of(t.app).during(work);

describeWithOwnRedis('the second factor in an outage of Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => void (redis = await RedisServer.start()));
  afterAll(() => redis.stop());

  const t = TestApp.forFile(() => ({
    options: { features: { twoFactor: true }, storeTimeoutMs: HELD_MS },
    redisUrl: redis.url,
  }));
  let ada: Enrolled;

  beforeEach(async () => {
    await t.person(ADA);
    ada = await enrol(t);
  });

  it('answers 503, and consumes neither challenge nor code', async () => {
    const challenge_token = await startChallenge(t);
    const answers = [{ code: codeOf(t, ada.secret) }, { recovery_code: ada.recoveryCodes[0] }];
    redis.freeze();
    for (const answer of answers) {
      const { status } = await inTime(t, () => completeChallenge(t, { challenge_token, ...answer }));
      expect(status).toBe(503);
    }
    expect((await inTime(t, () => asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof))).status).toBe(
      503,
    );
    redis.thaw();
    await eventually(async () => (await t.get('/private', ada.token)).status === 200);
    await completeChallenge(t, { challenge_token, ...answers[1] }).expect(200);
    await completeChallenge(t, { challenge_token: await startChallenge(t), ...answers[0] }).expect(200);
  });
});

describe('the completion of a login challenge', () => {
  const { t, ada } = enrolledForFile({ storeTimeoutMs: HELD_MS });

  it.each(['findById', 'passwordHashOf', 'secondFactorOf'] as const)(
    'answers 503 after one timeout when %s does not answer',
    async (method) => {
      const challenge_token = await startChallenge(t);
      const right = () => completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) });
      const hung = t.app
        .get(UserProvider, { strict: false, each: true })
        .map((users) => jest.spyOn(users, method).mockReturnValue(new Promise<never>(() => undefined)));
      await inTime(t, () => right().expect(503));
      for (const spy of hung) spy.mockRestore();
      await right().expect(200);
    },
  );
});
