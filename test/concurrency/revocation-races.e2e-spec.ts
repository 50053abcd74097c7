import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/app';
import { type Answer, type HostProcess, send, startProcesses } from '../support/processes';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

const ROUNDS = 200;

describeWithRedis('a refresh that races the end of its session', () => {
  let t: TestApp;
  let nodes: HostProcess[];
  let redis: Awaited<ReturnType<typeof redisCache>>;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
    redis = await redisCache(sharedRedisUrl()!);
    nodes = await startProcesses(2, { databaseUrl: t.databaseUrl, redisUrl: sharedRedisUrl()! });
  });
  afterAll(async () => {
    nodes.forEach((node) => node.stop());
    await redis.client.disconnect();
    await t.stop();
  });

  const refresh = (token: string, i: number): Promise<Answer> =>
    send(`${nodes[i % 2]!.url}/auth/refresh`, 'POST', { refresh_token: token });
  const use = (token: string, i: number): Promise<Answer> =>
    send(`${nodes[i % 2]!.url}/private`, 'GET', undefined, token);

  /** Tries everything a session ever handed out, before and after its denylist entry is gone. */
  async function survivors(accessTokens: string[], refreshTokens: string[]): Promise<Answer[]> {
    const tried = [await Promise.all(accessTokens.map(use)), await Promise.all(refreshTokens.map(refresh))];
    const entry = `svc:dl:fid:${claimsOf(accessTokens[0]!).fid}`;
    const deniedUntil = Date.now() + (await redis.client.pTTL(entry));
    // Every access token must die before its denial does, with the leeway that verification grants it.
    const lastBreath = Math.max(...accessTokens.map((token) => Number(claimsOf(token).exp) + 5));
    expect(deniedUntil).toBeGreaterThan(lastBreath * 1000);
    await redis.client.del(entry);
    tried.push(await Promise.all(refreshTokens.map(refresh)));
    return tried.flat().filter(({ status }) => status !== 401);
  }

  async function race(end: (session: { accessToken: string }, i: number) => Promise<unknown>): Promise<void> {
    let renewed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const session = await t.auth.startSession(1);
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, (_, i) => refresh(session.refreshToken, i)),
        end(session, round).then(() => null),
        ...Array.from({ length: 4 }, (_, i) => refresh(session.refreshToken, i)),
      ]);
      const got = answers.filter((answer) => answer?.status === 200).map((answer) => answer!.body);
      renewed += got.length;
      const access = [session.accessToken, ...got.map((body) => body.access_token!)];
      expect(await survivors(access, [session.refreshToken, ...got.map((body) => body.refresh_token!)])).toEqual([]);
    }
    // A race in which no refresh ever won proves nothing.
    expect(renewed).toBeGreaterThan(ROUNDS / 10);
  }

  it(`leaves no token behind after a logout, in ${ROUNDS} rounds`, async () => {
    await race(async ({ accessToken }, i) => {
      expect((await send(`${nodes[i % 2]!.url}/auth/logout`, 'POST', undefined, accessToken)).status).toBe(204);
    });
  }, 180_000);

  it(`leaves no token behind after all sessions were ended, in ${ROUNDS} rounds`, async () => {
    await race(async ({ accessToken }, i) => {
      expect((await send(`${nodes[i % 2]!.url}/auth/sessions`, 'DELETE', undefined, accessToken)).status).toBe(204);
    });
  }, 180_000);

  it(`leaves no token behind after a reuse, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
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
  }, 180_000);
});
