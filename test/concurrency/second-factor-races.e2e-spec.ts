import type { AuthModuleOptions } from '@svc/auth';
import { Realms } from '../../libs/auth/src/realm/realm';
import { LoginChallenges } from '../../libs/auth/src/second-step/login-challenges';
import { Totp } from '../../libs/auth/src/two-factor/totp';
import { TestApp } from '../support/app';
import { RedisServer } from '../support/redis';
import { type Enrolled, codeOf, complete, enrol, startTwoFactor } from '../support/two-factor';
import { describeWithOwnRedis } from '../support/with-redis';

const ROUNDS = 200;
const AT_ONCE = 50;
const CAP = 100;

describeWithOwnRedis('second factors that two nodes are sent at once', () => {
  let redis: RedisServer;
  let nodes: TestApp[] = [];
  let ada: Enrolled;
  let digest: string;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    const given = { hashing: { memoryCost: 8, timeCost: 1, maxQueue: 10_000 }, storeTimeoutMs: 5000, ...options };
    const first = await startTwoFactor(given, { redisUrl: redis.url });
    const stores = { redisUrl: redis.url, databaseUrl: first.databaseUrl };
    const second = await TestApp.start({
      options: { ...given, features: { twoFactor: true, ...given.features } },
      ...stores,
    });
    nodes = [second, first];
    ada = await enrol(first);
    [{ password_hash: digest }] = await first.database.query('SELECT password_hash FROM people WHERE id = 1');
    second.clock.advance(30);
  };
  const [one, another] = [() => nodes[1]!, () => nodes[0]!];
  const challengeOf = (): Promise<string> => one().app.get(Realms).default.get(LoginChallenges).mint('1', digest);
  /** What so many requests at once are answered, spread over both nodes. */
  const atOnce = (count: number, body: (i: number) => object | Promise<object>): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, async (_, i) => (await complete(nodes[i % 2]!, await body(i))).status));
  const won = (statuses: number[]): number => statuses.filter((status) => status === 200).length;
  const sessions = async (): Promise<number> =>
    (await one().database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;
  const remaining = async (): Promise<number> => (await another().auth.twoFactor.recoveryCodeCount('1')).remaining;
  const later = (): void => nodes.forEach(({ clock }) => clock.advance(30));

  beforeAll(async () => void (redis = await RedisServer.start()));
  afterEach(async () => {
    for (const node of nodes) await node.stop();
    await redis.flush();
  });
  afterAll(() => redis.stop());

  it(`open one session for one challenge, for one code and for one recovery code, ${ROUNDS} times`, async () => {
    await start();
    for (let round = 0; round < ROUNDS; round++) {
      if ((await remaining()) < 4) ada.recoveryCodes = await one().auth.twoFactor.replaceRecoveryCodes('1');
      const { recoveryCodes: codes } = ada;
      const [before, left] = [await sessions(), await remaining()];
      const next = (): string => codes[codes.length - left]!;

      const challenge_token = await challengeOf();
      const answers = [{ code: codeOf(one(), ada.secret) }, { recovery_code: next() }];
      expect(won(await atOnce(AT_ONCE, (i) => ({ challenge_token, ...answers[i % 2]! })))).toBe(1);
      later();
      const spent = left - (await remaining());
      expect(spent).toBeLessThanOrEqual(1);

      const code = codeOf(one(), ada.secret);
      expect(won(await atOnce(AT_ONCE, async () => ({ challenge_token: await challengeOf(), code })))).toBe(1);
      later();
      expect(left - (await remaining())).toBe(spent);

      const recovery_code = codes[codes.length - left + spent];
      expect(won(await atOnce(AT_ONCE, async () => ({ challenge_token: await challengeOf(), recovery_code })))).toBe(1);
      expect(left - (await remaining())).toBe(spent + 1);
      expect(await sessions()).toBe(before + 3);
    }
  }, 600_000);

  it('use up one recovery code each, when several are sent at once', async () => {
    await start();
    const answer = async (i: number) => ({
      challenge_token: await challengeOf(),
      recovery_code: ada.recoveryCodes[i % 8],
    });
    expect(won(await atOnce(32, answer))).toBe(8);
    expect(await remaining()).toBe(0);
  });

  it('cost one recovery code, when several are sent with one challenge', async () => {
    await start();
    const challenge_token = await challengeOf();
    const answer = (i: number) => ({ challenge_token, recovery_code: ada.recoveryCodes[i % 8] });
    expect(won(await atOnce(32, answer))).toBe(1);
    expect(await remaining()).toBe(7);
  });

  it('count as no guess, when one right code is sent many times with one challenge', async () => {
    await start({ features: { lockout: true } });
    for (let round = 0; round < 5; round++) {
      const answer = { challenge_token: await challengeOf(), code: codeOf(one(), ada.secret) };
      expect(won(await atOnce(30, () => answer))).toBe(1);
      later();
    }
    const [{ attempts }] = await one().database.query(
      `SELECT coalesce(sum(attempts), 0)::int AS attempts FROM svc_lockouts WHERE purpose = 'two_factor'`,
    );
    expect(attempts).toBe(0);
  });

  it.each([1, 2, 3])('are verified no more often than the cap, of 300 wrong codes: %d', async () => {
    await start({ features: { lockout: true }, lockout: { maxAttempts: CAP } });
    const spies = nodes.map((node) => jest.spyOn(node.app.get(Realms).default.get(Totp), 'match'));
    const right = [-1, 0, 1].map((ahead) => codeOf(one(), ada.secret, ahead));
    const wrong = Array.from({ length: 303 }, (_, i) => String(i).padStart(6, '0')).filter(
      (code) => !right.includes(code),
    );
    const statuses = await atOnce(300, async (i) => ({ challenge_token: await challengeOf(), code: wrong[i] }));
    expect(spies.flatMap(({ mock }) => mock.calls)).toHaveLength(CAP);
    expect(statuses.filter((status) => status === 422)).toHaveLength(CAP);
    expect(statuses.filter((status) => status === 423)).toHaveLength(300 - CAP);
    expect(
      won(await atOnce(1, async () => ({ challenge_token: await challengeOf(), code: codeOf(one(), ada.secret) }))),
    ).toBe(0);
  });
});
