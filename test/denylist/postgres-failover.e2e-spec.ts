import { RefreshTokenReused, SessionEnded, SessionRecovered } from '@svc/auth';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, type Tokens, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { LEASE, emptyRedisWithoutRebuild, settled } from '../support/stores/denylist-state';
import { eventually } from '../support/runtime/eventually';
import { PostgresPair } from '../support/stores/postgres-pair';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { VerifyingService } from '../support/hosts/verifying-service';
import { TokenPolling, statusCheck } from '../support/clients/token-polling';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** The number of refreshes, and of logouts, that the standby does not receive. */
const LOST = 10;

/** A long timeout: even on a slow machine, a 503 is not a timeout. */
const OPTIONS = { storeTimeoutMs: 20_000 };

const BOB = 'bob@example.com';

describeWithOwnRedis('on two servers', () => {
  let redis: RedisServer;
  let client: RedisClient;
  let pair: PostgresPair;

  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client } = await redisCache(redis.url));
    // A ping may be in flight when the client is disconnected.
    client.on('error', () => undefined);
    pair = await PostgresPair.start();
  });
  afterAll(async () => {
    await pair.remove();
    await client.disconnect();
    await redis.stop();
  });

  describe('a PostgreSQL with a standby', () => {
    let t: TestApp;

    beforeAll(async () => {
      t = await TestApp.start({ databaseUrl: pair.url, redisUrl: redis.url });
      await t.person(ADA);
    });
    afterAll(() => t.stop());

    it('that is synchronous and unavailable: refreshes continue, starts and ends of sessions are answered 503, and no user is signed out', async () => {
      const sessions = [await t.session(), await t.session(), await t.session()];
      const ended = [t.recorded(SessionEnded), t.recorded(RefreshTokenReused)];
      await pair.synchronous(true);
      await pair.stopStandby();
      const successors: string[] = [];
      for (const { refresh_token: token } of sessions) {
        const { body } = await t.refresh(token).expect(200);
        // The retry of a client that has not received the response.
        const { body: again } = await t.refresh(token).expect(200);
        expect(again.refresh_token).toBe(body.refresh_token);
        successors.push(body.refresh_token);
      }
      for (const { access_token: token } of sessions) await t.get('/private', token).expect(200);
      await t.login(ADA).expect(503).expect('Retry-After', '1');
      await pair.startStandby();
      await eventually(async () => (await t.login(ADA)).status === 200);
      // The grace period continues: a later retry gets the same successor.
      for (const [i, { refresh_token: token }] of sessions.entries()) {
        expect((await t.refresh(token).expect(200)).body.refresh_token).toBe(successors[i]);
      }
      const ids = sessions.map(({ access_token: token }) => claimsOf(token).fid);
      const rows = await t.database.query(
        'SELECT DISTINCT generation, revoked_at FROM svc_sessions WHERE id = ANY($1)',
        [ids],
      );
      expect(rows).toEqual([{ generation: 1, revoked_at: null }]);
      for (const token of successors) await t.refresh(token).expect(200);
      expect(ended.flat()).toEqual([]);
      await pair.synchronous(false);
    });

    it('that is cut off during the commit of a logout: the answer is 503, and no token of the session is accepted afterwards', async () => {
      const leaving = await t.session();
      await pair.synchronous(true);
      pair.replication.hang();
      await t.call('post', '/auth/logout', leaving.access_token).expect(503);
      // The denial is written before the commit, so the session is refused although the logout was answered 503: with 503, while the
      // end cannot be committed.
      await t.get('/private', leaving.access_token).expect(503);
      pair.replication.heal();
      await pair.synchronous(false);
      await eventually(async () => {
        const { status } = await t.refresh(leaving.refresh_token);
        expect([401, 503]).toContain(status);
        return status === 401;
      });
      await t.get('/private', leaving.access_token).expect(401);
    });

    it('that is the database of a verifying service: the service accepts no session while the standby lags', async () => {
      const [live, leaving] = [await t.session(), await t.session()];
      await pair.caughtUp();
      const service = await TestApp.start({
        databaseUrl: pair.standbyUrl,
        redisUrl: redis.url,
        options: { verifyOnly: true },
      });
      const status = async ({ access_token: token }: Tokens): Promise<number> =>
        (await service.get('/private', token)).status;
      await eventually(async () => (await status(live)) === 200);
      pair.replication.down();
      await t.call('post', '/auth/logout', leaving.access_token).expect(204);
      expect(await status(leaving)).toBe(401);
      await emptyRedisWithoutRebuild(client);
      expect([await status(leaving), await status(live)]).toEqual([503, 503]);
      // The service writes no denials from its own database.
      await client.del(LEASE);
      await eventually(async () => (await status(live)) === 200);
      expect(await status(leaving)).toBe(401);
      pair.replication.heal();
      await pair.caughtUp();
      await emptyRedisWithoutRebuild(client);
      expect(await status(leaving)).toBe(401);
      await client.del(LEASE);
      await service.stop();
    });
  });

  // Kills the primary, so it is the last.
  describe('a failover of PostgreSQL to a standby that lags behind', () => {
    let t: TestApp;
    let other: TestApp;
    let service: VerifyingService;

    beforeAll(async () => {
      t = await TestApp.start({ databaseUrl: pair.url, redisUrl: redis.url, options: OPTIONS });
      // The tests before have ended sessions.
      await t.reset();
      other = await TestApp.start({ databaseUrl: pair.url, redisUrl: redis.url, options: OPTIONS });
      service = await VerifyingService.start(redis.url);
      await t.person(ADA);
      await t.person(BOB);
    });
    afterAll(async () => {
      await service.stop();
      await other.stop();
      await t.stop();
    });

    const sessions = (count: number, email = ADA): Promise<Tokens[]> =>
      Promise.all(Array.from({ length: count }, () => t.session(email)));

    /** The response that a client gets, which repeats its request after each 503. */
    async function refreshed(
      { refresh_token: token }: Tokens,
      node: TestApp,
    ): Promise<{ status: number; body: Tokens }> {
      for (;;) {
        const { status, body } = await node.refresh(token);
        if (status !== 503) return { status, body };
      }
    }
    const statuses = async (all: Tokens[], node: TestApp): Promise<Set<number>> =>
      new Set((await Promise.all(all.map((one) => refreshed(one, node)))).map(({ status }) => status));
    const endedIds = async (): Promise<string[]> =>
      (await t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NOT NULL')).map(
        ({ id }: { id: string }) => id,
      );
    const idOf = ({ access_token: token }: Tokens): string => String(claimsOf(token).fid);

    it('signs no user out after a lost refresh, and revives no session after a lost logout', async () => {
      // A request with a denied session ends all denied sessions of its user: the quiet ones are of another user.
      const [staying, retrying, quiet] = [
        await sessions(LOST),
        await sessions(LOST / 2),
        await sessions(LOST / 2, BOB),
      ];
      const leaving = [...retrying, ...quiet];
      await settled(client);
      await pair.caughtUp();
      const recovered = [t, other].map((node) => node.recorded(SessionRecovered));
      const reused = [t, other].map((node) => node.recorded(RefreshTokenReused));

      // The following changes reach only the primary.
      pair.replication.down();
      let current = (await Promise.all(staying.map((one) => refreshed(one, t)))).map(({ body }) => body);
      for (const { access_token: token } of leaving) await other.call('post', '/auth/logout', token).expect(204);
      const watch = TokenPolling.start({
        checks: await Promise.all([t, other, service].map(({ app }) => statusCheck(app))),
        live: current.map((one) => one.access_token),
        ended: retrying.map((one) => one.access_token),
      });
      // No node may write the lost data to PostgreSQL yet.
      await client.set(LEASE, 'a stopped node');
      await pair.failOver();

      // The clients with the most recent responses return first.
      expect(await statuses(retrying, t)).toEqual(new Set([401]));
      const answers = await Promise.all(current.map((one, i) => refreshed(one, i % 2 ? t : other)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      current = answers.map(({ body }) => body);
      expect(recovered.flat()).toHaveLength(LOST);
      expect(recovered.flat().every(({ lost }) => lost === 1)).toBe(true);
      // No request has used these sessions: they are live in PostgreSQL.
      const known = new Set(await endedIds());
      expect(quiet.filter((one) => known.has(idOf(one)))).toEqual([]);

      await client.pExpire(LEASE, 1);
      await eventually(async () => {
        const ended = new Set(await endedIds());
        return leaving.every((one) => ended.has(idOf(one)));
      });
      await settled(client);
      // Only PostgreSQL has their ends now.
      await client.flushAll();
      expect(await statuses(leaving, other)).toEqual(new Set([401]));
      await service.opened(current[0]!.access_token);
      await watch.rounds(2);
      const seen = await watch.stop();
      for (const check of seen) {
        expect([...check.ended].filter((status) => ![401, 503].includes(status))).toEqual([]);
        expect([...check.live].filter((status) => ![200, 503].includes(status))).toEqual([]);
      }
      // All other users stay signed in.
      expect(await statuses(current, t)).toEqual(new Set([200]));
      expect(reused.flat()).toEqual([]);
      expect((await endedIds()).toSorted()).toEqual(leaving.map(idOf).toSorted());
    });
  });
});
