import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';
import { type Answer, type HostProcess, type Seen, seenBy, send, startProcesses } from '../support/processes';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const ROUNDS = 50;
/** Argon2 at full speed is not what is raced here, and a full queue is no verification. */
const HASHING = { memoryCost: 8, timeCost: 1, maxQueue: 1000 };

describeWithOwnRedis('two processes that are guessed at in parallel', () => {
  let t: TestApp;
  // Of its own: the limits by address would count what other suites send.
  let redis: RedisServer;
  let nodes: HostProcess[] = [];
  let seenBefore: Seen;

  const run = async (options: object): Promise<void> => {
    const stores = { databaseUrl: t.databaseUrl, redisUrl: redis.url };
    nodes = await startProcesses(2, stores, { hashing: HASHING, storeTimeoutMs: 5000, ...options });
    seenBefore = await seenBy(nodes);
  };
  const login = (email: string, password: string, i = 0): Promise<Answer> =>
    send(`${nodes[i % nodes.length]!.url}/auth/login`, 'POST', { email, password });
  const guess = (email: string, count: number): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => login(email, `wrong ${i}`, i)));
  /** What happened since the last call. */
  const seen = async (): Promise<Seen> => {
    const [now, before] = [await seenBy(nodes), seenBefore];
    seenBefore = now;
    return {
      verified: now.verified - before.verified,
      locked: now.locked - before.locked,
      released: now.released - before.released,
      limited: now.limited - before.limited,
    };
  };
  const someone = async (): Promise<string> => {
    const email = `${randomUUID()}@example.com`;
    await t.person(email);
    return email;
  };
  const countOf = (answers: Answer[]): Record<number, number> =>
    Object.fromEntries(
      [...new Set(answers.map(({ status }) => status))].map((one) => [
        one,
        answers.filter(({ status }) => status === one).length,
      ]),
    );

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ options: { hashing: HASHING }, redisUrl: redis.url });
  });
  afterEach(() => nodes.forEach((process) => process.stop()));
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  it('verify exactly 100 of 300 passwords, lock once, and then refuse the right one', async () => {
    await run({ features: { lockout: true } });
    for (let round = 0; round < ROUNDS; round++) {
      const email = await someone();
      const answers = await guess(email, 300);
      expect(countOf(answers)).toEqual({ 422: 100, 423: 200 });
      expect((await login(email, PASSWORD)).status).toBe(423);
      expect(await seen()).toEqual({ verified: 100, locked: 1, released: 0, limited: 0 });
    }
  }, 300_000);

  it('make one row of 100 first failures, with the value 100', async () => {
    await run({ features: { lockout: true } });
    for (let round = 0; round < ROUNDS; round++) {
      const email = `nobody-${randomUUID()}@example.com`;
      expect(countOf(await guess(email, 100))).toEqual({ 422: 100 });
      const rows = await t.database.query('SELECT attempts FROM svc_lockouts WHERE subject = $1', [`idn:${email}`]);
      expect(rows).toEqual([{ attempts: 100 }]);
    }
  }, 300_000);

  it('at the default limits let exactly five of 200 logins reach the hasher', async () => {
    await run({ rateLimits: { login: { ipMaxAttempts: 1e9 } } });
    for (let round = 0; round < 10; round++) {
      const email = await someone();
      expect(countOf(await guess(email, 200))).toEqual({ 422: 5, 429: 195 });
      expect((await seen()).verified).toBe(5);
      expect((await login(email, PASSWORD)).status).toBe(429);
    }
  }, 120_000);

  it('at the default limits let exactly 30 logins of one address in', async () => {
    await redis.flush();
    await run({ rateLimits: {} });
    const people = Array.from({ length: 200 }, (_, i) => `${randomUUID()}-${i}@example.com`);
    const answers = await Promise.all(people.map((email, i) => login(email, 'wrong', i)));
    expect(countOf(answers)).toEqual({ 422: 30, 429: 170 });
    expect((await seen()).verified).toBe(30);
  }, 60_000);

  it('clear the limits with a success below them, however many run at once', async () => {
    await run({ rateLimits: { login: { ipMaxAttempts: 1e9 } } });
    const email = await someone();
    for (let round = 0; round < 10; round++) {
      expect(countOf(await guess(email, 4))).toEqual({ 422: 4 });
      expect((await login(email, PASSWORD, round)).status).toBe(200);
    }
    const right = await Promise.all(Array.from({ length: 30 }, (_, i) => login(email, PASSWORD, i)));
    expect(countOf(right)).toEqual({ 200: 30 });
  }, 60_000);
});
