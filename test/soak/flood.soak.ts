import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp } from '../support/hosts/app';
import { PASSWORD } from '../support/hosts/user-entities';
import { type HostProcess, send, startProcesses } from '../support/hosts/processes';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const SECONDS = Number(process.env.SOAK_SECONDS) || 30;
const PER_SECOND = 200;
const MIB = 2 ** 20;

/** The allowed growth of memory: three hashes of 19 MiB, the same amount for garbage, and 64 MiB for waiting requests. */
const MOST_GROWTH = 2 * 3 * 19 * MIB + 64 * MIB;

const sorted = (times: number[]): number[] => times.toSorted((a, b) => a - b);
const quantile = (times: number[], share: number): number => sorted(times)[Math.floor(times.length * share)]!;

describeWithOwnRedis('a flood of 200 wrong logins a second', () => {
  let t: TestApp;
  let redis: RedisServer;
  let node: HostProcess;
  let token: string;

  beforeEach(async () => {
    redis = await RedisServer.start();
    // The default cost of a hash and the default limits.
    const hashing = { memoryCost: 19_456, timeCost: 2 };
    t = await TestApp.start({ redisUrl: redis.url, options: { hashing } });
    await t.person('ada@example.com');
    token = (await t.session()).access_token;
    const stores = { databaseUrl: t.databaseUrl, redisUrl: redis.url, behindProxy: true };
    [node] = (await startProcesses(1, stores, { hashing, rateLimits: {} })) as [HostProcess];
  });
  afterEach(async () => {
    node.stop();
    await t.stop();
    await redis.stop();
  });

  const login = (email: string, password: string, from: string) =>
    send(`${node.url}/auth/login`, 'POST', { email, password }, undefined, { 'X-Forwarded-For': from });

  async function timed(work: () => Promise<{ status: number }>): Promise<number> {
    const start = performance.now();
    expect((await work()).status).toBe(200);
    return performance.now() - start;
  }

  /** Sends a guarded request every 20 ms. @returns the time of each in milliseconds */
  async function guarded(seconds: number): Promise<number[]> {
    const all: Promise<number>[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(20)) {
      all.push(timed(() => send(`${node.url}/private`, 'GET', undefined, token)));
    }
    return Promise.all(all);
  }

  /** Sends wrong logins. @returns the number of answers per status */
  function flood(seconds: number, addresses: number, network = 18): Promise<Record<number, number>> {
    const settings = { url: node.url, seconds, perSecond: PER_SECOND, addresses, network };
    const sender = fork(join(__dirname, 'flood-sender.cjs'), {
      env: { ...process.env, FLOOD: JSON.stringify(settings) },
    });
    return new Promise((resolve, reject) => {
      sender.once('message', (statuses) => resolve(statuses as Record<number, number>));
      sender.once('exit', (code) => reject(new Error(`the sender exited with ${code}`)));
    });
  }

  /** Signs in every two seconds, each time from another address. @returns the time of each login in milliseconds */
  async function correctLogins(seconds: number): Promise<number[]> {
    const times: number[] = [];
    for (let i = 0; i < seconds / 2 - 1; i++) {
      await sleep(2000);
      times.push(await timed(() => login('ada@example.com', PASSWORD, `192.0.2.${i + 1}`)));
    }
    return times;
  }

  it.each([
    ['one address', 1],
    ['100 addresses', 100],
  ])(
    'from %s: guarded requests stay fast, memory bounded, and a right login is answered within 3 s',
    async (name, addresses) => {
      // Warm up the server, so that the compilation of the first logins is not measured.
      await Promise.all([flood(3, 100, 19), guarded(3)]);
      await sleep(5000);
      const quiet = await guarded(Math.max(5, SECONDS / 3));
      const before = await node.memory();
      let most = before;
      const watch = setInterval(() => void node.memory().then((now) => (most = Math.max(most, now))), 500);
      const [statuses, busy, logins] = await Promise.all([
        flood(SECONDS, addresses),
        guarded(SECONDS),
        correctLogins(SECONDS),
      ]);
      clearInterval(watch);
      const [p99, p99Quiet] = [quantile(busy, 0.99), quantile(quiet, 0.99)];
      console.log(
        `${name}: ${JSON.stringify(statuses)}; GET p50 ${quantile(quiet, 0.5).toFixed(1)} -> ${quantile(busy, 0.5).toFixed(1)} ms, ` +
          `p99 ${p99Quiet.toFixed(1)} -> ${p99.toFixed(1)} ms; right logins ${logins.length}, slowest ${Math.max(...logins).toFixed(0)} ms; ` +
          `memory ${Math.round(before / MIB)} -> ${Math.round(most / MIB)} MiB at most`,
      );
      expect(Object.keys(statuses).filter((status) => !['422', '429', '503'].includes(status))).toEqual([]);
      expect(most - before).toBeLessThan(MOST_GROWTH);
      expect(Math.max(...logins)).toBeLessThan(3000);
      expect(p99).toBeLessThan(3 * p99Quiet);
    },
  );
});
