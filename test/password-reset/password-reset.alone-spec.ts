import { UserProvider } from '@svc/auth';
import { ADA } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { HELD_MS, StoreTimeouts } from '../support/faults/store-timeouts';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const NEXT = 'another horse entirely';

describe('POST /forgot-password', () => {
  const { t, mailbox } = membersForFile();
  beforeEach(async () => void (await member(t, ADA)));

  const forgot = (email: string) => t.http.post('/auth/forgot-password').send({ email });

  it('takes the same time for known, unknown and throttled addresses, with a slow mail server', async () => {
    for (let i = 0; i < 40; i++) await member(t, `known${i}@example.com`);
    mailbox.deliver = () => new Promise((resolve) => setTimeout(resolve, 50));
    // Other work of the machine can separate the times of one sample, but not those of all.
    let isAlike = false;
    for (let sample = 0; sample < 5 && !isAlike; sample++) isAlike = await overlap(sample);
    expect(isAlike).toBe(true);

    /** Whether the middle halves of the three distributions overlap, so that no threshold separates them. */
    async function overlap(sample: number): Promise<boolean> {
      const times: Record<string, number[]> = { known: [], unknown: [], throttled: [] };
      const measure = async (kind: string, email: string): Promise<void> => {
        const started = performance.now();
        await forgot(email).expect(200);
        times[kind]!.push(performance.now() - started);
      };
      t.clock.advance(61);
      await forgot(ADA).expect(200);
      for (let i = 0; i < 40; i++) {
        await measure('known', `known${i}@example.com`);
        await measure('unknown', `unknown${sample}-${i}@example.com`);
        await measure('throttled', ADA);
      }
      const quartiles = Object.values(times).map((all) => {
        const sorted = all.toSorted((one, other) => one - other);
        return [sorted[10]!, sorted[30]!] as const;
      });
      return Math.max(...quartiles.map(([low]) => low)) < Math.min(...quartiles.map(([, high]) => high));
    }
  });
});

describeWithOwnRedis('a reset of a password while Redis is down', () => {
  let redis: RedisServer;
  beforeAll(async () => void (redis = await RedisServer.start()));
  const { t, mailbox } = membersForFile({ features: { lockout: true }, storeTimeoutMs: HELD_MS }, () => ({
    redisUrl: redis.url,
  }));
  beforeEach(async () => void (await member(t, ADA)));
  // The application cannot close while Redis is frozen.
  afterEach(() => redis.thaw());
  afterAll(() => redis.stop());

  const mailed = async (): Promise<string> => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    return linkIn(await mailbox.nth(1)).searchParams.get('token')!;
  };
  const reset = (token: string) =>
    t.http.post('/auth/reset-password').send({ token, email: ADA, password: NEXT, password_confirmation: NEXT });

  const inTime = <T>(send: () => PromiseLike<T>): Promise<T> => StoreTimeouts.of(t.app).during(send);

  /** Freezes Redis after the password is stored. */
  const hangLate = (): void => {
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      const stored = await save(...args);
      redis.freeze();
      return stored;
    });
  };
  const thaw = async (token: string): Promise<void> => {
    redis.thaw();
    await eventually(async () => (await t.get('/private', token)).status !== 503);
  };

  it('answers 503, and ends every session at the next attempt with the same link', async () => {
    const live = await t.session();
    const token = await mailed();
    hangLate();
    await inTime(() => reset(token).expect(503));
    await thaw(live.access_token);
    await reset(token).expect(200);
    await t.get('/private', live.access_token).expect(401);
    await t.refresh(live.refresh_token).expect(401);
  });

  it('answers 503 to a change of the password, which is undone and succeeds at the next attempt', async () => {
    const [live, other] = [await t.session(), await t.session()];
    const body = { current_password: PASSWORD, password: NEXT, password_confirmation: NEXT };
    const change = () => t.call('post', '/auth/password', live.access_token).send(body);
    hangLate();
    await inTime(() => change().expect(503));
    await thaw(live.access_token);
    await t.login(ADA, NEXT).expect(422);
    await change().expect(200);
    await t.get('/private', other.access_token).expect(401);
    await t.refresh(other.refresh_token).expect(401);
    await t.get('/private', live.access_token).expect(200);
  });
});
