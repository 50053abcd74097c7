import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import { newAddress } from '../support/hosts/rate-limited-host';
import { UNLIMITED } from '../support/hosts/host.module';
import { PASSWORD } from '../support/hosts/user-entities';
import {
  type Answer,
  type HostProcess,
  type ProcessCounts,
  totalCounts,
  send,
  startProcesses,
} from '../support/hosts/processes';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

/** Cheap hashes and a long queue: this test is not about the hasher, and a full queue verifies nothing. */
const HASHING = { memoryCost: 8, timeCost: 1, maxQueue: 1000, maxWaitMs: 20_000 };

const ADMIN = '/admin/auth';

describeWithRedis('two processes that receive guesses in parallel', () => {
  const t = TestApp.forFile({ options: { hashing: HASHING } });
  let nodes: HostProcess[];
  let seenBefore: ProcessCounts;
  /** The source address of requests. */
  let address: string;

  beforeAll(async () => {
    const stores = { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()!, behindProxy: true };
    nodes = await startProcesses(2, stores, {
      hashing: HASHING,
      storeTimeoutMs: 20_000,
      keyPrefix: `${randomUUID()}:`,
      features: { lockout: true },
      // The default limits.
      rateLimits: {},
      // The other routes have no limits, so that only the lockout refuses guesses.
      guards: { admin: { rateLimits: UNLIMITED } },
    });
  });
  beforeEach(async () => {
    seenBefore = await totalCounts(nodes);
    address = newAddress();
  });
  afterAll(() => nodes.forEach((process) => process.stop()));

  /** Sends to the default guard unless the path names another one. */
  const login = (email: string, password: string, i = 0, path = '/auth'): Promise<Answer> =>
    send(`${nodes[i % 2]!.url}${path}/login`, 'POST', { email, password }, undefined, { 'X-Forwarded-For': address });
  const guess = (email: string, count: number, path?: string): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => login(email, `wrong ${i}`, i, path)));
  /** The counts since the last call. */
  const seen = async (): Promise<ProcessCounts> => {
    const [now, before] = [await totalCounts(nodes), seenBefore];
    seenBefore = now;
    return {
      verified: now.verified - before.verified,
      locked: now.locked - before.locked,
      released: now.released - before.released,
      limited: now.limited - before.limited,
    };
  };
  const person = async (guard?: string): Promise<string> => {
    const email = `${randomUUID()}@example.com`;
    await t.person(email, guard);
    return email;
  };
  const countOf = (answers: Answer[]): Record<number, number> =>
    Object.fromEntries(
      [...new Set(answers.map(({ status }) => status))].map((one) => [
        one,
        answers.filter(({ status }) => status === one).length,
      ]),
    );

  it(
    'with a lockout verify exactly 100 of 300 passwords, lock once, and then refuse the correct one',
    async () => {
      for (let round = 0; round < rounds(1); round++) {
        const email = await person('admin');
        const answers = await guess(email, 300, ADMIN);
        expect(countOf(answers)).toEqual({ 422: 100, 423: 200 });
        expect((await login(email, PASSWORD, 0, ADMIN)).status).toBe(423);
        expect(await seen()).toEqual({ verified: 100, locked: 1, released: 0, limited: 0 });
      }
    },
    RACES_MS,
  );

  it(
    'with a lockout store 100 first failures in one row with the value 100',
    async () => {
      for (let round = 0; round < rounds(2); round++) {
        const email = `nobody-${randomUUID()}@example.com`;
        expect(countOf(await guess(email, 100, ADMIN))).toEqual({ 422: 100 });
        const rows = await t.database.query('SELECT attempts FROM svc_lockouts WHERE subject = $1', [`idn:${email}`]);
        expect(rows).toEqual([{ attempts: 100 }]);
      }
    },
    RACES_MS,
  );

  it(
    'at the default limits pass exactly five of 200 logins to the hasher',
    async () => {
      for (let round = 0; round < rounds(1); round++) {
        const email = await person();
        address = newAddress();
        expect(countOf(await guess(email, 200))).toEqual({ 422: 5, 429: 195 });
        expect((await seen()).verified).toBe(5);
        expect((await login(email, PASSWORD)).status).toBe(429);
      }
    },
    RACES_MS,
  );

  it(
    'at the default limits admit exactly 30 logins from one address',
    async () => {
      const people = Array.from({ length: 200 }, (_, i) => `${randomUUID()}-${i}@example.com`);
      const answers = await Promise.all(people.map((email, i) => login(email, 'wrong', i)));
      expect(countOf(answers)).toEqual({ 422: 30, 429: 170 });
      expect((await seen()).verified).toBe(30);
    },
    RACES_MS,
  );

  it(
    'at the default limits clear the failures of an account after a success, however many logins run at once',
    async () => {
      const email = await person();
      for (let round = 0; round < rounds(1); round++) {
        // The limit of an address counts failures even after a success: 12 of 30.
        address = newAddress();
        for (let time = 0; time < 3; time++) {
          expect(countOf(await guess(email, 4))).toEqual({ 422: 4 });
          expect((await login(email, PASSWORD, time)).status).toBe(200);
        }
      }
      address = newAddress();
      const right = await Promise.all(Array.from({ length: 30 }, (_, i) => login(email, PASSWORD, i)));
      expect(countOf(right)).toEqual({ 200: 30 });
    },
    RACES_MS,
  );
});
