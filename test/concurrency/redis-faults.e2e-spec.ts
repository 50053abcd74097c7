import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp, type Tokens } from '../support/app';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

describeWithOwnRedis('without an answer from Redis', () => {
  let redis: RedisServer;
  let t: TestApp;
  let live: Tokens;
  let revoked: Tokens;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url });
    await t.person('ada@example.com');
  });
  beforeEach(async () => {
    [live, revoked] = [await t.session(), await t.session()];
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    await t.get('/private', live.access_token).expect(200);
  });
  afterAll(async () => {
    await t.stop();
    await redis.stop();
  });

  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const start = performance.now();
    return [await work(), performance.now() - start];
  };

  /** Every protected request is refused with 503, quickly, and loses nothing. */
  async function expectClosed(): Promise<void> {
    for (let i = 0; i < 5; i++) {
      const [answers, took] = await timed(() =>
        Promise.all([
          t.get('/private', live.access_token),
          t.get('/private', revoked.access_token),
          t.get('/passport', live.access_token),
          t.call('post', '/auth/logout', live.access_token),
          t.call('delete', '/auth/sessions', live.access_token),
          t.refresh(live.refresh_token),
          t.login('ada@example.com'),
        ]),
      );
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503, 503]);
      expect(took).toBeLessThan(1000);
      expect(answers[0]!.headers['retry-after']).toBe('1');
      expect(answers[3]!.body).toEqual({
        message: 'The service is temporarily unavailable. Please try again shortly.',
      });
    }
    // What needs no answer from Redis goes on.
    await t.get('/mixed/open').expect(200);
    await t.get('/private').expect(401);
  }

  async function expectOpenWithin(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while ((await t.get('/private', live.access_token)).status !== 200) {
      expect(performance.now()).toBeLessThan(deadline);
      await sleep(50);
    }
    await t.refresh(live.refresh_token).expect(200);
  }

  it('because it is stopped, refuses all and returns within two seconds of it', async () => {
    await redis.stop();
    await expectClosed();
    await redis.start();
    await expectOpenWithin(2000);
  });

  it('because it hangs, refuses all and returns within two seconds of it, the revoked still revoked', async () => {
    redis.freeze();
    await expectClosed();
    redis.thaw();
    await expectOpenWithin(2000);
    await t.get('/private', revoked.access_token).expect(401);
  });

  it('ends no session halfway: what was answered 503 is undone, and works when tried again', async () => {
    redis.freeze();
    await t.call('delete', '/auth/sessions', live.access_token).expect(503);
    await expect(t.auth.revokeAll(1)).rejects.toThrow(/did not answer/);
    const [{ open }] = await t.database.query(
      'SELECT count(*)::int AS open FROM svc_sessions WHERE revoked_at IS NULL',
    );
    expect(open).toBeGreaterThan(0);
    redis.thaw();
    await sleep(100);
    await t.auth.revokeAll(1);
    await t.get('/private', live.access_token).expect(401);
    await t.refresh(live.refresh_token).expect(401);
  });
});

describe('without an answer from PostgreSQL', () => {
  it('refuses with 503 and goes on when it is back', async () => {
    const t = await TestApp.start();
    await t.person('ada@example.com');
    const live = await t.session();
    // Every connection is cut, and none can be had for a moment.
    const name = new URL(t.databaseUrl).pathname.slice(1);
    const admin = (statement: string) => t.auth && onOtherDatabase(statement);
    await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    for (const answer of [
      await t.get('/private', live.access_token),
      await t.refresh(live.refresh_token),
      await t.login('ada@example.com'),
      await t.call('post', '/auth/logout', live.access_token),
    ]) {
      expect(answer.status).toBe(503);
    }
    await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await t.get('/private', live.access_token).expect(200);
    await t.refresh(live.refresh_token).expect(200);
    await t.stop();
  });
});

async function onOtherDatabase(statement: string): Promise<void> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  await client.query(statement);
  await client.end();
}
