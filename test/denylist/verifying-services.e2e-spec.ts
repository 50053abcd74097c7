import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { COMPLETE, deniedKey } from '../support/stores/denylist-state';
import { forge } from '../support/clients/forge';
import { type RedisClient, RedisServer } from '../support/stores/redis';
import { VerifyingService } from '../support/hosts/verifying-service';
import { describeWithOwnRedis } from '../support/stores/with-redis';

/** The state of the session in the PostgreSQL of the service. */
type Row = 'no database' | 'no row' | 'live' | 'ended';

describeWithOwnRedis('a verifying service', () => {
  let redis: RedisServer;
  let client: RedisClient;
  let issuer: TestApp;
  let alone: VerifyingService;
  let withTables: TestApp;

  /** The marker that an issuer has written to Redis. */
  let mark: string;

  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client } = await redisCache(redis.url));
    issuer = await TestApp.start({ redisUrl: redis.url });
    await issuer.person(ADA);
    mark = (await client.get(COMPLETE))!;
    // After this, only the test writes to Redis.
    await issuer.stop();
    alone = await VerifyingService.start(redis.url);
    withTables = await TestApp.start({ redisUrl: redis.url, options: { verifyOnly: true } });
    await withTables.person(ADA);
  });
  afterAll(async () => {
    await withTables.stop();
    await alone.stop();
    await client.disconnect();
    await redis.stop();
  });

  const marks: Record<string, () => Promise<unknown>> = {
    complete: () => client.set(COMPLETE, mark),
    'not complete': () => client.del(COMPLETE),
    'marked for another store': () => client.set(COMPLETE, 'f'.repeat(32)),
  };

  it.each<[marked: string, denied: boolean, row: Row, status: number]>([
    ['complete', false, 'no database', 200],
    ['complete', true, 'no database', 401],
    ['not complete', false, 'no database', 503],
    ['not complete', true, 'no database', 401],
    ['marked for another store', false, 'no database', 503],
    ['marked for another store', true, 'no database', 401],

    ['complete', false, 'no row', 200],
    ['complete', true, 'no row', 401],
    ['not complete', false, 'no row', 503],
    ['not complete', true, 'no row', 401],
    ['marked for another store', false, 'no row', 503],
    ['marked for another store', true, 'no row', 401],

    ['complete', false, 'live', 200],
    ['complete', true, 'live', 401],
    ['not complete', false, 'live', 200],
    ['not complete', true, 'live', 401],
    ['marked for another store', false, 'live', 200],
    ['marked for another store', true, 'live', 401],

    ['complete', false, 'ended', 401],
    ['complete', true, 'ended', 401],
    ['not complete', false, 'ended', 401],
    ['not complete', true, 'ended', 401],
    ['marked for another store', false, 'ended', 401],
    ['marked for another store', true, 'ended', 401],
  ])(
    'with a denylist that is %s, a denial (%s) and in PostgreSQL %s, answers %d',
    async (marked, denied, row, status) => {
      const id = randomUUID();
      const token = forge({ claims: { fid: id } });
      if (denied) await client.set(deniedKey(id), 'true', { EX: 60 });
      if (row === 'live' || row === 'ended') {
        await withTables.database.query(
          `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
         VALUES ($1, 'api', '', '', now(), now() + interval '1 day', CASE WHEN $2 THEN now() END, now(), now())`,
          [id, row === 'ended'],
        );
      }
      await marks[marked]!();
      const answer =
        row === 'no database' ? await alone.status(token) : (await withTables.get('/private', token)).status;
      expect(answer).toBe(status);
    },
  );

  it('uses the marker of the issuer: its tokens are accepted, with and without a session', async () => {
    await client.set(COMPLETE, mark);
    expect(await alone.status(forge())).toBe(200);
    expect(await alone.status(forge({ without: ['fid', 'jti'] }))).toBe(200);
    await client.del(COMPLETE);
    expect(await alone.status(forge({ without: ['fid', 'jti'] }))).toBe(503);
  });

  it('answers 503 with Retry-After, and 401 to an invalid token', async () => {
    await client.del(COMPLETE);
    const { headers } = await withTables.get('/private', forge()).expect(503);
    expect(headers['retry-after']).toBe('1');
    expect(await alone.status('no token')).toBe(401);
    expect(claimsOf(forge()).fid).toEqual(expect.any(String));
  });
});
