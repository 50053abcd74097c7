import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as Postgres } from 'pg';
import { SecurityStore } from '@svc/auth';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/app';
import { Checkpoint } from '../support/checkpoint';
import { LATEST, LEASE, isRebuilt, onStatement } from '../support/denylist-state';
import { eventually } from '../support/eventually';
import { send } from '../support/processes';
import { type RedisClient, RedisServer } from '../support/redis';
import { RACES_MS, rounds } from '../support/rounds';
import { describeWithOwnRedis } from '../support/with-redis';

/** Time to spare: however slow the machine, whoever is answered 503 here was refused without need. */
const OPTIONS = { storeTimeoutMs: 20_000 };

describeWithOwnRedis('while Redis loses the denylist', () => {
  let redis: RedisServer;
  let t: TestApp;
  let other: TestApp;
  let client: RedisClient;
  let live: string;
  let revoked: string;

  beforeAll(async () => {
    redis = await RedisServer.start();
    t = await TestApp.start({ redisUrl: redis.url, options: OPTIONS });
    other = await TestApp.start({ redisUrl: redis.url, databaseUrl: t.databaseUrl, options: OPTIONS });
    ({ client } = await redisCache(redis.url));
    await t.person('ada@example.com');
  });
  beforeEach(async () => {
    [live, revoked] = [(await t.session()).access_token, (await t.session()).access_token];
    await t.call('post', '/auth/logout', revoked).expect(204);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await client.disconnect();
    await other.stop();
    await t.stop();
    await redis.stop();
  });

  const rebuilt = () => eventually(() => isRebuilt(client));
  const fid = (token: string): string => `svc:dl:fid:${String(claimsOf(token).fid)}`;

  /** As if the seconds had gone by after which another process takes over. */
  const expireLease = () => client.pExpire(LEASE, 1);

  async function expectTold(): Promise<void> {
    await untilTold();
    await expectDecided();
  }

  /** Asks all the while: a loss is noticed by the next request, and the one injected last may come late. */
  const untilTold = () =>
    eventually(async () => {
      await expectDecided();
      return (await isRebuilt(client)) && (await client.exists(fid(revoked))) === 1;
    });

  async function expectDecided(): Promise<void> {
    for (const node of [t, other]) {
      await node.get('/private', revoked).expect(401);
      await node.get('/private', live).expect(200);
    }
  }

  it.each([
    ['has begun', /INSERT INTO \S*svc_denylist_epochs/],
    ['has waited for open revocations', /LOCK TABLE \S*svc_revocations/],
    ['has read what stands', /expires_at::text[^]* FROM \S*svc_revocations/],
  ])('once more after a rebuild %s, nothing comes back', async (_, statement) => {
    let flushed = 0;
    // Either node may be the one that tells it again.
    onStatement(statement, async () => void (flushed++ < 3 && (await client.flushAll())));
    for (let round = 0; round < 5; round++) {
      await client.flushAll();
      await expectTold();
    }
    expect(flushed).toBeGreaterThan(3);
  });

  it('a revocation that is not committed yet is not overlooked by the rebuild', async () => {
    const store = t.app.get(SecurityStore);
    const write = store.setMany.bind(store);
    const leaving = (await t.session()).access_token;
    const written = new Checkpoint();
    jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...rest) => {
      await write(keys, ...rest);
      if (keys.includes(fid(leaving))) await written.pass();
    });
    const logout = t.call('post', '/auth/logout', leaving).then(({ status }) => status);
    await written.reached;
    await client.flushAll();
    // The other node notices, and would be done long before the logout commits.
    for (let i = 0; i < 5; i++) {
      await other.get('/private', live).expect(200);
      await sleep(20);
    }
    written.letGo();
    expect(await logout).toBe(204);
    await rebuilt();
    for (const node of [t, other]) await node.get('/private', leaving).expect(401);
  });

  it('and PostgreSQL is down too, nothing is accepted', async () => {
    const name = new URL(t.databaseUrl).pathname.slice(1);
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await client.flushAll();
    for (const token of [live, revoked]) await t.get('/private', token).expect(503);
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await eventually(async () => (await t.get('/private', live)).status === 200);
    await eventually(async () => (await other.get('/private', live)).status === 200);
    await expectTold();
  });

  it('and whoever was at rebuilding it is dead, another takes over, and PostgreSQL is asked until then', async () => {
    await client.flushAll();
    await client.set(LEASE, 'a process that is no more');
    await expectDecided();
    expect(await client.exists(LATEST)).toBe(0);
    await expireLease();
    await expectTold();
  });

  it('PostgreSQL is asked by one statement at a time, however many requests there are', async () => {
    await client.flushAll();
    await client.set(LEASE, 'somebody');
    const query = Postgres.prototype.query as (...args: unknown[]) => Promise<unknown>;
    let [received, asked, running, most] = [0, 0, 0, 0];
    const count = (): void => void received++;
    t.app.getHttpServer().on('request', count);
    // The first statement is answered when all requests are there, so that others wait to share the next one.
    const allReceived = () => eventually(async () => received === 200);
    jest.spyOn(Postgres.prototype, 'query').mockImplementation(function (this: Postgres, ...args: unknown[]) {
      const answer = query.apply(this, args);
      if (!/DISTINCT family_id/.test(Object(args[0]).text)) return answer;
      const isFirst = asked++ === 0;
      most = Math.max(most, ++running);
      return answer.then(async (result) => {
        if (isFirst) await allReceived();
        running--;
        return result;
      });
    } as never);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => t.get('/private', i % 2 ? live : revoked)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 ? 200 : 401)));
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(200);
    expect(most).toBe(1);
    t.app.getHttpServer().off('request', count);
    await client.del(LEASE);
    await rebuilt();
  });

  describe('of processes of their own', () => {
    interface Process {
      child: ChildProcess;
      url: string;
    }
    let processes: Process[];

    async function launch(): Promise<Process> {
      const stores = { databaseUrl: t.databaseUrl, redisUrl: redis.url, options: OPTIONS };
      const child = fork(join(__dirname, '../support/dying-process.ts'), {
        execArgv: ['--require', join(__dirname, '../support/register-ts.cjs')],
        env: { ...process.env, HOST_OPTIONS: JSON.stringify(stores) },
      });
      const [url] = (await once(child, 'message')) as [string];
      return { child, url };
    }

    beforeAll(async () => void (processes = await Promise.all(Array.from({ length: 5 }, launch))));
    afterAll(() => processes.forEach(({ child }) => child.kill('SIGKILL')));

    const use = async (token: string, i: number): Promise<number> =>
      (await send(`${processes[i % 2]!.url}/private`, 'GET', undefined, token)).status;
    const sessions = (count: number): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => (await t.auth.startSession(1)).accessToken));

    it(
      'again and again, two accept no revoked token and refuse no live one',
      async () => {
        const seen = { live: new Set<number>(), revoked: new Set<number>(), leaving: new Set<number>() };
        for (let round = 0; round < rounds(2); round++) {
          const [staying, ended, leaving] = await Promise.all([sessions(10), sessions(10), sessions(10)]);
          await Promise.all(ended.map((token) => t.auth.revoke(String(claimsOf(token).fid))));
          const flushing = (async () => {
            for (let i = 0; i < 10; i++) {
              await client.flushAll();
              await sleep(Math.random() * 20);
            }
          })();
          await Promise.all([
            flushing,
            ...Array.from({ length: 20 }, async (_, i) => {
              await Promise.all(staying.map(async (token) => seen.live.add(await use(token, i))));
              await Promise.all(ended.map(async (token) => seen.revoked.add(await use(token, i))));
            }),
            ...leaving.map(async (token, i) => {
              await sleep(Math.random() * 100);
              const { status } = await send(`${processes[i % 2]!.url}/auth/logout`, 'POST', undefined, token);
              expect(status).toBe(204);
              for (let times = 0; times < 10; times++) seen.leaving.add(await use(token, i + times));
            }),
          ]);
          // And when it is calm again.
          for (const token of [...ended, ...leaving]) seen.revoked.add(await use(token, round));
        }
        expect(seen).toEqual({ live: new Set([200]), revoked: new Set([401]), leaving: new Set([401]) });
      },
      RACES_MS,
    );

    it(
      'and one dies in the middle of telling it again, nothing comes back',
      async () => {
        // They do nothing until they are asked.
        for (const [i, { child, url }] of processes.entries()) {
          child.send(3 + i);
          await once(child, 'message');
          // It tells everything again until it reaches the statement.
          while (child.exitCode === null && child.signalCode === null) {
            await client.flushAll();
            await Promise.allSettled([send(`${url}/private`, 'GET', undefined, live), sleep(100)]);
          }
          await expectDecided();
          await expireLease();
          await expectTold();
        }
      },
      RACES_MS,
    );
  });
});

async function onServer(statement: string): Promise<void> {
  const server = new Postgres({ connectionString: process.env.TEST_DATABASE_URL });
  await server.connect();
  await server.query(statement);
  await server.end();
}
