import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SecurityStore } from '@svc/auth';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { PausePoint } from '../support/faults/pause-point';
import { COMPLETE, LEASE, READS_BATCH, deniedKey, onStatement } from '../support/stores/denylist-state';
import { whileUnreachable } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { send } from '../support/hosts/processes';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** A long timeout: even on a slow machine, a 503 is a wrong refusal and not a timeout. */
const OPTIONS = { storeTimeoutMs: 20_000 };

describeWithOwnRedis('after Redis has lost the denylist', () => {
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

  const keyOf = (token: string): string => deniedKey(claimsOf(token).fid);

  /** Simulates that the lease has expired and another process can take over. */
  const expireLease = () => client.pExpire(LEASE, 1);

  /** Sends requests until the denials are in Redis again, and afterwards. */
  async function expectTold(): Promise<void> {
    await eventually(async () => {
      await expectDecided();
      return (await client.exists([COMPLETE, keyOf(revoked)])) === 2;
    });
    await expectDecided();
  }

  async function expectDecided(): Promise<void> {
    for (const node of [t, other]) {
      await node.get('/private', revoked).expect(401);
      await node.get('/private', live).expect(200);
    }
  }

  it('and loses it again during the rebuild, no ended session is accepted', async () => {
    let flushed = 0;
    // Either node may rebuild the denylist.
    onStatement(READS_BATCH, async () => void (flushed++ < 6 && (await client.flushAll())));
    await client.flushAll();
    await eventually(async () => {
      await expectDecided();
      return flushed > 6;
    });
    await expectTold();
  });

  it('the rebuild includes a session whose end is not committed yet', async () => {
    const store = t.app.get(SecurityStore);
    const write = store.setMany.bind(store);
    const leaving = (await t.session()).access_token;
    const written = new PausePoint();
    jest.spyOn(store, 'setMany').mockImplementation(async (keys, ...rest) => {
      await write(keys, ...rest);
      if (keys.includes(keyOf(leaving))) await written.pass();
    });
    const logout = t.call('post', '/auth/logout', leaving).then(({ status }) => status);
    await written.reached;
    await client.flushAll();
    // The rebuild writes the denials, except the one that is not committed.
    await eventually(async () => (await client.exists([COMPLETE, keyOf(revoked)])) === 2);
    expect(await client.exists(keyOf(leaving))).toBe(0);
    written.resume();
    expect(await logout).toBe(204);
    expect(await client.exists(keyOf(leaving))).toBe(1);
    for (const node of [t, other]) await node.get('/private', leaving).expect(401);
  });

  it('and while PostgreSQL is down too, no token is accepted', async () => {
    await whileUnreachable(t.databaseUrl, async () => {
      await client.flushAll();
      for (const token of [live, revoked]) await t.get('/private', token).expect(503);
    });
    await eventually(async () => (await t.get('/private', live)).status === 200);
    await eventually(async () => (await other.get('/private', live)).status === 200);
    await expectTold();
  });

  it('and the rebuilding node has stopped, PostgreSQL decides, and another node takes over', async () => {
    const taken = jest.spyOn(t.app.get(SecurityStore), 'add');
    await eventually(async () => (await client.exists(LEASE)) === 0);
    await client.multi().flushAll().set(LEASE, 'a stopped process').exec();
    taken.mockClear();
    await eventually(async () => {
      await expectDecided();
      return taken.mock.calls.filter(([key]) => key === LEASE).length > 1;
    });
    expect(await client.exists([COMPLETE, keyOf(revoked)])).toBe(0);
    await expireLease();
    await expectTold();
  });

  describe('with several processes', () => {
    interface Process {
      child: ChildProcess;
      url: string;
    }
    let processes: Process[];

    async function launch(): Promise<Process> {
      const stores = { databaseUrl: t.databaseUrl, redisUrl: redis.url, options: OPTIONS };
      const child = fork(join(__dirname, '../support/hosts/crashing-host-process.ts'), {
        execArgv: ['--require', join(__dirname, '../support/runtime/register-ts.cjs')],
        env: { ...process.env, HOST_OPTIONS: JSON.stringify(stores) },
      });
      const [url] = (await once(child, 'message')) as [string];
      return { child, url };
    }

    beforeAll(async () => void (processes = await Promise.all(Array.from({ length: 4 }, launch))));
    afterAll(() => processes.forEach(({ child }) => child.kill('SIGKILL')));

    const use = async (token: string, i: number): Promise<number> =>
      (await send(`${processes[i % 2]!.url}/private`, 'GET', undefined, token)).status;
    const sessions = (count: number): Promise<string[]> =>
      Promise.all(Array.from({ length: count }, async () => (await t.auth.startSession(1)).accessToken));

    it(
      'and loses it repeatedly, two processes accept no revoked token and refuse no live one',
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
          // And after the rebuild.
          for (const token of [...ended, ...leaving]) seen.revoked.add(await use(token, round));
        }
        expect(seen).toEqual({ live: new Set([200]), revoked: new Set([401]), leaving: new Set([401]) });
      },
      RACES_MS,
    );

    it(
      'and a process is killed during the rebuild, no ended session is accepted',
      async () => {
        // Before its first write, before it marks the denylist as complete, and at the second attempt.
        for (const [i, { child }] of processes.entries()) {
          child.send({ kind: READS_BATCH.source, number: 1 + i });
          await once(child, 'message');
          await eventually(async () => {
            await client.flushAll();
            await sleep(50);
            return child.exitCode !== null || child.signalCode !== null;
          });
          await expectDecided();
          await expireLease();
          await expectTold();
        }
      },
      RACES_MS,
    );
  });
});
