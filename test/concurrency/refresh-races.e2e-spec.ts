import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { deniedKey } from '../support/stores/denylist-state';
import { PASSWORD } from '../support/hosts/user-entities';
import { type Answer, type HostProcess, send, startProcesses } from '../support/hosts/processes';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const PARALLEL = 50;
const REFRESHES = rounds(1);
const ENDS = rounds(2);
const CAP = 2;

/** Cheap hashes and a long timeout: even on a slow machine, no request times out. */
const RACED = { hashing: { memoryCost: 8, timeCost: 1, maxQueue: 1000, maxWaitMs: 20_000 }, storeTimeoutMs: 20_000 };

const statuses = (answers: Answer[]): number[] => [...new Set(answers.map(({ status }) => status))].toSorted();

describeWithRedis('two processes on one PostgreSQL and one Redis', () => {
  let nodes: HostProcess[];
  let redis: Awaited<ReturnType<typeof redisCache>>;
  const t = TestApp.forFile({ options: RACED });

  beforeAll(async () => {
    const options = { ...RACED, sessions: { maxPerUser: CAP }, guards: { admin: { graceSeconds: 0 } } };
    [nodes, redis] = await Promise.all([
      startProcesses(2, { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! }, options),
      redisCache(sharedRedisUrl()!),
    ]);
  });
  afterAll(async () => {
    nodes.forEach((node) => node.stop());
    await redis.client.disconnect();
  });

  const node = (i: number): string => nodes[i % 2]!.url;
  const refresh = (token: string, i: number, path = '/auth'): Promise<Answer> =>
    send(`${node(i)}${path}/refresh`, 'POST', { refresh_token: token });
  const use = (token: string, i: number): Promise<Answer> => send(`${node(i)}/private`, 'GET', undefined, token);
  const atOnce = (token: string, count = PARALLEL, path?: string): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => refresh(token, i, path)));

  describe('that receive one refresh token many times at once', () => {
    it(
      `answer each of ${PARALLEL} with 200 and the same valid successor, and end no session`,
      async () => {
        const userId = await t.person('ada@example.com');
        for (let round = 0; round < REFRESHES; round++) {
          const { accessToken, refreshToken } = await t.auth.startSession(userId);
          const answers = await atOnce(refreshToken);
          expect(statuses(answers)).toEqual([200]);
          const [successor, ...others] = [...new Set(answers.map(({ body }) => body.refresh_token!))];
          expect(others).toEqual([]);
          expect(successor).not.toBe(refreshToken);
          const used = await Promise.all(answers.map(({ body }, i) => use(body.access_token!, i)));
          expect(statuses(used)).toEqual([200]);
          expect((await refresh(successor!, round)).status).toBe(200);
          const rows = await t.database.query(
            'SELECT generation, revoked_at IS NOT NULL AS revoked FROM svc_sessions WHERE id = $1',
            [claimsOf(accessToken).fid],
          );
          expect(rows).toEqual([{ generation: 2, revoked: false }]);
        }
      },
      RACES_MS,
    );

    it(
      `rotate once for each of ${PARALLEL} tokens, sent one after the other and all at once`,
      async () => {
        const userId = await t.person('ada@example.com');
        for (let round = 0; round < REFRESHES; round++) {
          const { refreshToken } = await t.auth.startSession(userId);
          // Clients that continue as soon as they can, each with the token that it received.
          const client = async (i: number): Promise<number[]> => {
            const seen: number[] = [];
            for (let token = refreshToken, n = 0; n < 10; n++) {
              const { status, body } = await refresh(token, i + n);
              seen.push(status);
              token = body.refresh_token!;
            }
            return seen;
          };
          const seen = await Promise.all(Array.from({ length: 5 }, (_, i) => client(i)));
          expect(new Set(seen.flat())).toEqual(new Set([200]));
        }
      },
      RACES_MS,
    );

    it(
      `accept exactly one of ${PARALLEL} without a grace period`,
      async () => {
        const userId = await t.person('root@example.com', 'admin');
        for (let round = 0; round < REFRESHES; round++) {
          const { refreshToken } = await t.auth.guard('admin').startSession(userId);
          const answers = await atOnce(refreshToken, PARALLEL, '/admin/auth');
          expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
          expect(statuses(answers)).toEqual([200, 401]);
        }
      },
      RACES_MS,
    );
  });

  describe('that receive refreshes while the session ends', () => {
    interface Raced {
      userId: string;
      email: string;
      accessToken: string;
      refreshToken: string;
    }

    /** Sends every token of a session to both processes, before and after its denylist entry expires. */
    async function survivors(accessTokens: string[], refreshTokens: string[]): Promise<Answer[]> {
      const everywhere = async (): Promise<Answer[]> =>
        Promise.all(
          [0, 1].flatMap((i) => [
            ...accessTokens.map((token) => use(token, i)),
            ...refreshTokens.map((token) => refresh(token, i)),
          ]),
        );
      const tried = await everywhere();
      const entry = deniedKey(claimsOf(accessTokens[0]!).fid);
      const deniedUntil = Date.now() + (await redis.client.pTTL(entry));
      // Every access token must expire before its denial, including the leeway of verification.
      const lastSecond = Math.max(...accessTokens.map((token) => Number(claimsOf(token).exp) + 5));
      expect(deniedUntil).toBeGreaterThan(lastSecond * 1000);
      await redis.client.del(entry);
      return [...tried, ...(await everywhere())].filter(({ status }) => status !== 401);
    }

    const start = async (): Promise<Raced> => {
      const email = `${randomUUID()}@example.com`;
      const userId = await t.person(email);
      return { email, ...(await t.auth.startSession(userId)) };
    };

    /** Prepares the end of a session. The returned function ends it. */
    const ways: [string, number, (raced: Raced, i: number) => Promise<() => Promise<Answer>>][] = [
      [
        'a logout',
        204,
        async ({ accessToken }, i) =>
          () =>
            send(`${node(i)}/auth/logout`, 'POST', undefined, accessToken),
      ],
      [
        'the end of all sessions',
        204,
        async ({ accessToken }, i) =>
          () =>
            send(`${node(i)}/auth/sessions`, 'DELETE', undefined, accessToken),
      ],
      [
        'the end of all others',
        204,
        async ({ userId }, i) => {
          const { accessToken } = await t.auth.startSession(userId);
          return () => send(`${node(i)}/auth/sessions/others`, 'DELETE', undefined, accessToken);
        },
      ],
      [
        'a login above the session limit',
        200,
        async ({ userId, email }, i) => {
          // Used an hour later, so that the first session is the oldest one, however often it is refreshed.
          for (let n = 1; n < CAP; n++) await t.auth.startSession(userId);
          await t.database.query(
            `UPDATE svc_sessions SET last_used_at = last_used_at + interval '1 hour' WHERE user_id = $1 AND id <> ALL (
               SELECT id FROM svc_sessions WHERE user_id = $1 ORDER BY created_at LIMIT 1)`,
            [userId],
          );
          return () => send(`${node(i)}/auth/login`, 'POST', { email, password: PASSWORD });
        },
      ],
      [
        'the deletion of the account',
        204,
        async ({ accessToken }, i) => {
          const proof = await confirmationTokenOf(t, accessToken);
          return () =>
            send(`${node(i)}/auth/account`, 'DELETE', undefined, accessToken, { [CONFIRMATION_HEADER]: proof });
        },
      ],
    ];

    it.each(ways)(
      'accept no token after %s',
      async (_, status, prepare) => {
        let renewed = 0;
        // Without a successful refresh the race proves nothing, so it continues until some have succeeded.
        for (let round = 0; round < ENDS || renewed <= ENDS / 10; round++) {
          const session = await start();
          const end = await prepare(session, round);
          const four = () => [0, 1, 2, 3].map((i) => refresh(session.refreshToken, i));
          const before = four();
          const ended = end();
          const answers = await Promise.all([...before, ...four()]);
          expect((await ended).status).toBe(status);
          expect(statuses(answers).filter((one) => one !== 200 && one !== 401)).toEqual([]);
          const got = answers.filter(({ status: one }) => one === 200).map(({ body }) => body);
          renewed += got.length;
          const access = [session.accessToken, ...got.map((body) => body.access_token!)];
          const refreshTokens = [session.refreshToken, ...got.map((body) => body.refresh_token!)];
          expect(await survivors(access, [...new Set(refreshTokens)])).toEqual([]);
        }
      },
      RACES_MS,
    );

    it(
      'accept no token after a reuse',
      async () => {
        for (let round = 0; round < ENDS; round++) {
          const session = await start();
          const { body: live } = await refresh(session.refreshToken, round);
          // After the grace period: as if 31 seconds had passed since the replacement.
          await t.database.query(
            `UPDATE svc_sessions SET recent = ARRAY(SELECT r - interval '31 seconds' FROM unnest(recent) AS r) WHERE id = $1`,
            [claimsOf(session.accessToken).fid],
          );
          const [theft, ...answers] = await Promise.all([
            refresh(session.refreshToken, 0),
            ...Array.from({ length: 6 }, (_, i) => refresh(live.refresh_token!, i)),
          ]);
          expect(theft!.status).toBe(401);
          expect(statuses(answers).filter((one) => one !== 200 && one !== 401)).toEqual([]);
          const got = answers.filter(({ status }) => status === 200).map(({ body }) => body);
          const access = [session.accessToken, live.access_token!, ...got.map((body) => body.access_token!)];
          const refreshTokens = [session.refreshToken, live.refresh_token!, ...got.map((body) => body.refresh_token!)];
          expect(await survivors(access, [...new Set(refreshTokens)])).toEqual([]);
        }
      },
      RACES_MS,
    );
  });

  describe('that receive logins of one user at once', () => {
    const liveSessions = async (userId: string): Promise<string[]> =>
      (await t.database.query('SELECT id FROM svc_sessions WHERE user_id = $1 AND revoked_at IS NULL', [userId])).map(
        ({ id }: { id: string }) => id,
      );

    it(
      'keep the session limit, and end no session without an event',
      async () => {
        for (let round = 0; round < rounds(1); round++) {
          const email = `${randomUUID()}@example.com`;
          const userId = await t.person(email);
          const logins = await Promise.all(
            Array.from({ length: 20 }, (_, i) => send(`${node(i)}/auth/login`, 'POST', { email, password: PASSWORD })),
          );
          expect(statuses(logins)).toEqual([200]);
          const alive = await liveSessions(userId);
          expect(alive).toHaveLength(CAP);
          for (const [i, { body }] of logins.entries()) {
            const expected = alive.includes(String(claimsOf(body.access_token!).fid)) ? 200 : 401;
            expect((await use(body.access_token!, i)).status).toBe(expected);
            expect((await refresh(body.refresh_token!, i)).status).toBe(expected);
          }
        }
      },
      RACES_MS,
    );

    it(
      'and requests to end all sessions, answer each of them in any order of row locks',
      async () => {
        for (let round = 0; round < ENDS; round++) {
          const email = `${randomUUID()}@example.com`;
          const userId = await t.person(email);
          // Far above the limit: several logins end many rows each, as a request to end all sessions does.
          const sessions = await Promise.all(Array.from({ length: 30 }, () => t.auth.startSession(userId)));
          const answers = await Promise.all([
            ...sessions
              .slice(0, 6)
              .map(({ accessToken }, i) => send(`${node(i)}/auth/sessions`, 'DELETE', undefined, accessToken)),
            ...Array.from({ length: 6 }, (_, i) =>
              send(`${node(i)}/auth/login`, 'POST', { email, password: PASSWORD }),
            ),
          ]);
          expect(statuses(answers).filter((one) => ![200, 204, 401].includes(one))).toEqual([]);
          for (const [i, { accessToken, refreshToken }] of sessions.entries()) {
            expect((await use(accessToken, i)).status).toBe(401);
            expect((await refresh(refreshToken, i)).status).toBe(401);
          }
          expect((await liveSessions(userId)).length).toBeLessThanOrEqual(CAP);
        }
      },
      RACES_MS,
    );
  });
});
