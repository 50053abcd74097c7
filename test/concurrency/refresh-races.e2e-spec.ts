import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/app';
import { type Answer, type HostProcess, send, startProcesses } from '../support/processes';
import { RACES_MS, rounds } from '../support/rounds';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

const PARALLEL = 50;
const REFRESHES = rounds(6);
const ENDS = rounds(12);

const statuses = (answers: Answer[]): number[] => [...new Set(answers.map(({ status }) => status))];

describeWithRedis('two processes on one PostgreSQL and one Redis', () => {
  // Time to spare: however slow the machine, no refresh is given up.
  const storeTimeoutMs = 20_000;
  let nodes: HostProcess[];
  let redis: Awaited<ReturnType<typeof redisCache>>;
  const t = TestApp.forFile();

  beforeAll(async () => {
    const options = { storeTimeoutMs, guards: { admin: { graceSeconds: 0 } } };
    [nodes, redis] = await Promise.all([
      startProcesses(2, { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! }, options),
      redisCache(sharedRedisUrl()!),
    ]);
  });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  afterAll(async () => {
    nodes.forEach((node) => node.stop());
    await redis.client.disconnect();
  });

  const node = (i: number): string => nodes[i % 2]!.url;
  const refresh = (token: string, i: number, path = '/auth'): Promise<Answer> =>
    send(`${node(i)}${path}/refresh`, 'POST', { refresh_token: token });
  const use = (token: string, i: number): Promise<Answer> => send(`${node(i)}/private`, 'GET', undefined, token);

  describe('that are sent one refresh token many times at once', () => {
    it(
      `answer each of ${PARALLEL} with 200, and every token returned works once more`,
      async () => {
        for (let round = 0; round < REFRESHES; round++) {
          const { refreshToken } = await t.auth.startSession(1);
          const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, i) => refresh(refreshToken, i)));
          expect(statuses(answers)).toEqual([200]);
          const returned = answers.map(({ body }) => body.refresh_token!);
          expect(new Set(returned).size).toBe(PARALLEL);
          expect(statuses(await Promise.all(returned.map((token, i) => refresh(token, i))))).toEqual([200]);
        }
        const [{ killed }] = await t.database.query('SELECT count(revoked_at)::int AS killed FROM svc_sessions');
        expect(killed).toBe(0);
      },
      RACES_MS,
    );

    it(
      `let exactly one of ${PARALLEL} through where there is no grace`,
      async () => {
        for (let round = 0; round < REFRESHES; round++) {
          const { refreshToken } = await t.auth.guard('admin').startSession(1);
          const answers = await Promise.all(
            Array.from({ length: PARALLEL }, (_, i) => refresh(refreshToken, i, '/admin/auth')),
          );
          expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
          expect(statuses(answers).toSorted()).toEqual([200, 401]);
        }
      },
      RACES_MS,
    );
  });

  describe('that are sent refreshes while the session ends', () => {
    /** Tries everything a session ever handed out, before and after its denylist entry is gone. */
    async function survivors(accessTokens: string[], refreshTokens: string[]): Promise<Answer[]> {
      const refreshAll = () => Promise.all(refreshTokens.map((token, i) => refresh(token, i)));
      const tried = [await Promise.all(accessTokens.map(use)), await refreshAll()];
      const entry = `svc:dl:fid:${claimsOf(accessTokens[0]!).fid}`;
      const deniedUntil = Date.now() + (await redis.client.pTTL(entry));
      // Every access token must expire before its denial does, with the leeway that verification grants it.
      const lastSecond = Math.max(...accessTokens.map((token) => Number(claimsOf(token).exp) + 5));
      expect(deniedUntil).toBeGreaterThan(lastSecond * 1000);
      await redis.client.del(entry);
      tried.push(await refreshAll());
      return tried.flat().filter(({ status }) => status !== 401);
    }

    it.each([
      ['a logout', 'POST', '/auth/logout'],
      ['the end of all sessions', 'DELETE', '/auth/sessions'],
    ])(
      'leave no token behind after %s',
      async (_, method, path) => {
        let renewed = 0;
        // A race in which no refresh ever wins proves nothing: it goes on until some have.
        for (let round = 0; round < ENDS || renewed <= ENDS / 10; round++) {
          const session = await t.auth.startSession(1);
          const four = () => [0, 1, 2, 3].map((i) => refresh(session.refreshToken, i));
          const before = four();
          const ended = send(`${node(round)}${path}`, method, undefined, session.accessToken);
          const answers = await Promise.all([...before, ...four()]);
          expect((await ended).status).toBe(204);
          const got = answers.filter(({ status }) => status === 200).map(({ body }) => body);
          renewed += got.length;
          const access = [session.accessToken, ...got.map((body) => body.access_token!)];
          expect(await survivors(access, [session.refreshToken, ...got.map((body) => body.refresh_token!)])).toEqual(
            [],
          );
        }
      },
      RACES_MS,
    );

    it(
      'leave no token behind after a reuse',
      async () => {
        for (let round = 0; round < ENDS; round++) {
          const session = await t.auth.startSession(1);
          const { body: live } = await refresh(session.refreshToken, round);
          // Past its grace: as if 31 seconds had gone by since it was replaced.
          await t.database.query(
            `UPDATE svc_refresh_tokens SET rotated_at = rotated_at - interval '31 seconds'
            WHERE rotated_at IS NOT NULL AND family_id = $1`,
            [claimsOf(session.accessToken).fid],
          );
          const [theft, ...answers] = await Promise.all([
            refresh(session.refreshToken, 0),
            ...Array.from({ length: 6 }, (_, i) => refresh(live.refresh_token!, i)),
          ]);
          expect(theft!.status).toBe(401);
          const got = answers.filter(({ status }) => status === 200).map(({ body }) => body);
          const access = [session.accessToken, live.access_token!, ...got.map((body) => body.access_token!)];
          const refreshTokens = [session.refreshToken, live.refresh_token!, ...got.map((body) => body.refresh_token!)];
          expect(await survivors(access, refreshTokens)).toEqual([]);
        }
      },
      RACES_MS,
    );
  });
});
