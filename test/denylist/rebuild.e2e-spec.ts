import { Client } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { COMPLETE, READS_BATCH, deniedKey, onStatement, settled, storeEnded } from '../support/stores/denylist-state';
import { eventually } from '../support/runtime/eventually';
import { forge } from '../support/clients/forge';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { type Enrolled, startChallenge, codeOf, completeChallenge, enrol } from '../support/flows/two-factor';
import { VerifyingService } from '../support/hosts/verifying-service';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** The number of sessions that ended in the last minutes. A million with `TEST_ROUNDS=50`. */
const ENDED = rounds(20_000);
const BATCH = 1000;
const BOB = 'bob@example.com';

/** A long timeout: even on a slow machine, a 503 means that the request waited for a lock. */
const OPTIONS = { storeTimeoutMs: 20_000, features: { twoFactor: true } };

describeWithOwnRedis(`during a rebuild of the denylist with ${ENDED} ended sessions`, () => {
  let redis: RedisServer;
  let client: RedisClient;
  let t: TestApp;
  let other: TestApp;
  let service: VerifyingService;
  let ada: Enrolled;
  let live: Tokens;
  let ended: string[];

  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client } = await redisCache(redis.url));
    t = await TestApp.start({ redisUrl: redis.url, options: OPTIONS });
    other = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl, options: OPTIONS });
    service = await VerifyingService.start(redis.url, { storeTimeoutMs: OPTIONS.storeTimeoutMs });
    await t.person(ADA);
    await t.person(BOB);
    ada = await enrol(t);
    // Nodes with equal clocks.
    t.clock.reset();
    ended = await storeEnded(t.database, ENDED, 100);
  }, RACES_MS);
  beforeEach(async () => void (live = await t.session(BOB)));
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await service.stop();
    await other.stop();
    await t.stop();
    await client.disconnect();
    await redis.stop();
  });

  const isComplete = async (): Promise<boolean> => (await client.exists(COMPLETE)) === 1;
  const spread = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => ended[Math.floor((i * ENDED) / count)]!);

  it(
    'one node reads the sessions once, the others do not wait, and all use the denylist afterwards',
    async () => {
      await settled(client);
      let batches = 0;
      const byNode = [t, other].map((node) => {
        const logged = jest.spyOn(node.database.logger, 'logQuery');
        return () => logged.mock.calls.filter(([text]) => READS_BATCH.test(text)).length;
      });
      onStatement(READS_BATCH, async () => void batches++);
      await client.flushAll();
      const tokens = spread(20).map((fid) => forge({ claims: { fid } }));
      while (!(await isComplete())) {
        for (const token of tokens.slice(0, 3)) {
          for (const node of [t, other]) await node.get('/private', token).expect(401);
          expect([401, 503]).toContain(await service.status(token));
        }
        await other.get('/private', live.access_token).expect(200);
      }
      await service.opened(live.access_token);
      for (const token of tokens) expect(await service.status(token)).toBe(401);
      const reads = byNode.map((count) => count()).toSorted((a, b) => a - b);
      expect(reads).toEqual([0, ENDED / BATCH + 1]);
      expect(await client.exists(ended.map(deniedKey).slice(0, BATCH))).toBe(Math.min(ENDED, BATCH));
      // A node that starts now has no rebuild to do.
      const third = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl, options: OPTIONS });
      await third.get('/private', tokens[0]).expect(401);
      await third.stop();
      expect(batches).toBe(ENDED / BATCH + 1);
    },
    RACES_MS,
  );

  it(
    'logins with a second factor continue, and their challenges are valid',
    async () => {
      await settled(client);
      await client.flushAll();
      t.clock.advance(30);
      const answers: number[] = [];
      // Each code is valid once: this number of logins, and their duration, stay within the lifetime of every session.
      for (let logins = 0; logins < 10 || !(await isComplete()); logins++) {
        const token = await startChallenge(t);
        expect(claimsOf(token).sto).toEqual(expect.any(String));
        if (logins >= 10) continue;
        t.clock.advance(30);
        answers.push((await completeChallenge(t, { challenge_token: token, code: codeOf(t, ada.secret) })).status);
      }
      expect(answers).toEqual(Array.from({ length: 10 }, () => 200));
      t.clock.reset();
    },
    RACES_MS,
  );

  /** Starts work of an operator on the session table and waits until it runs. */
  async function startOperator(
    begin: (operator: Client) => Promise<unknown>,
    isAtIt: string,
  ): Promise<() => Promise<void>> {
    const operator = new Client({ connectionString: t.databaseUrl });
    await operator.connect();
    const [{ pid }] = (await operator.query('SELECT pg_backend_pid() AS pid')).rows;
    const work = begin(operator).then(
      () => 'done',
      ({ code }: { code: string }) => code,
    );
    const isWorking = async (): Promise<boolean> => (await t.database.query(isAtIt, [pid])).length > 0;
    await eventually(isWorking);
    return async () => {
      expect(await isWorking()).toBe(true);
      await t.database.query('SELECT pg_cancel_backend($1)', [pid]);
      expect(['done', '57014']).toContain(await work);
      await operator.end();
    };
  }

  it.each<[what: string, begin: (operator: Client) => Promise<unknown>, isAtIt: string]>([
    [
      'a long VACUUM',
      async (operator) => {
        await operator.query('SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1');
        // VACUUM reads rows that are no longer live.
        await operator.query('UPDATE svc_sessions SET last_used_at = now() WHERE id = ANY($1::uuid[])', [spread(2000)]);
        await operator.query('VACUUM svc_sessions');
      },
      "SELECT 1 FROM pg_stat_progress_vacuum WHERE pid = $1 AND relid = 'svc_sessions'::regclass",
    ],
    [
      'an open transaction that has written to other sessions',
      async (operator) => {
        await operator.query('BEGIN');
        await operator.query('UPDATE svc_sessions SET label = NULL WHERE id = ANY($1::uuid[])', [spread(100)]);
      },
      `SELECT 1 FROM pg_locks WHERE pid = $1 AND relation = 'svc_sessions'::regclass AND mode = 'RowExclusiveLock' AND granted`,
    ],
  ])(
    '%s delays neither the rebuild nor a login, a refresh or a logout',
    async (_, begin, isAtIt) => {
      await settled(client);
      const over = await startOperator(begin, isAtIt);
      await client.flushAll();
      for (let times = 0; times < 3 || !(await isComplete()); times++) {
        const session = await t.session(BOB);
        const { body } = await other.refresh(session.refresh_token).expect(200);
        await other.call('post', '/auth/logout', body.access_token).expect(204);
        await t.get('/private', body.access_token).expect(401);
      }
      await service.opened(live.access_token);
      expect(await service.status(forge({ claims: { fid: ended.at(-1) } }))).toBe(401);
      await over();
    },
    RACES_MS,
  );
});
