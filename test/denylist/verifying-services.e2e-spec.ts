import { randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { TestApp, claimsOf } from '../support/app';
import { ADA } from '../support/step-up';
import { COMPLETE, deniedKey } from '../support/denylist-state';
import { forge } from '../support/forge';
import { type RedisClient, RedisServer } from '../support/redis';
import { VerifyingService } from '../support/verifying-service';
import { describeWithOwnRedis } from '../support/with-redis';

/** What PostgreSQL of the service says of a session. */
type Row = 'no database' | 'no row' | 'live' | 'ended';

describeWithOwnRedis('a service that only verifies', () => {
  let redis: RedisServer;
  let client: RedisClient;
  let issuer: TestApp;
  let alone: VerifyingService;
  let withTables: TestApp;

  /** What an issuer has marked Redis with. */
  let mark: string;

  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client } = await redisCache(redis.url));
    issuer = await TestApp.start({ redisUrl: redis.url });
    await issuer.person(ADA);
    mark = (await client.get(COMPLETE))!;
    // From here on nobody looks after Redis but the test.
    await issuer.stop();
    alone = await VerifyingService.start(redis.url);
    withTables = await TestApp.start({ redisUrl: redis.url, options: { routes: false } });
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
    'complete by another continuity': () => client.set(COMPLETE, 'f'.repeat(32)),
  };

  it.each<[marked: string, denied: boolean, row: Row, status: number]>([
    ['complete', false, 'no database', 200],
    ['complete', true, 'no database', 401],
    ['not complete', false, 'no database', 503],
    ['not complete', true, 'no database', 401],
    ['complete by another continuity', false, 'no database', 503],
    ['complete by another continuity', true, 'no database', 401],

    ['complete', false, 'no row', 200],
    ['complete', true, 'no row', 401],
    ['not complete', false, 'no row', 503],
    ['not complete', true, 'no row', 401],
    ['complete by another continuity', false, 'no row', 503],
    ['complete by another continuity', true, 'no row', 401],

    ['complete', false, 'live', 200],
    ['complete', true, 'live', 401],
    ['not complete', false, 'live', 200],
    ['not complete', true, 'live', 401],
    ['complete by another continuity', false, 'live', 200],
    ['complete by another continuity', true, 'live', 401],

    ['complete', false, 'ended', 401],
    ['complete', true, 'ended', 401],
    ['not complete', false, 'ended', 401],
    ['not complete', true, 'ended', 401],
    ['complete by another continuity', false, 'ended', 401],
    ['complete by another continuity', true, 'ended', 401],
  ])('where Redis is marked %s, denied %s, PostgreSQL: %s, answers %d', async (marked, denied, row, status) => {
    const id = randomUUID();
    const token = forge({ claims: { fid: id } });
    if (denied) await client.set(deniedKey(id), 'true', { EX: 60 });
    if (row === 'live' || row === 'ended') {
      // Of nobody: a row with a user makes this process an issuer, which marks Redis by itself.
      await withTables.database.query(
        `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
         VALUES ($1, 'api', '', '', now(), now() + interval '1 day', CASE WHEN $2 THEN now() END, now(), now())`,
        [id, row === 'ended'],
      );
    }
    await marks[marked]!();
    const answer = row === 'no database' ? await alone.status(token) : (await withTables.get('/private', token)).status;
    expect(answer).toBe(status);
  });

  it('has a mark to go by: a token of the issuer is accepted, and a token without a session is, too', async () => {
    await client.set(COMPLETE, mark);
    expect(await alone.status(forge())).toBe(200);
    expect(await alone.status(forge({ without: ['fid', 'jti'] }))).toBe(200);
    await client.del(COMPLETE);
    expect(await alone.status(forge({ without: ['fid', 'jti'] }))).toBe(503);
  });

  it('says when to come back, and refuses first what is no token', async () => {
    await client.del(COMPLETE);
    const { headers } = await withTables.get('/private', forge()).expect(503);
    expect(headers['retry-after']).toBe('1');
    expect(await alone.status('no token')).toBe(401);
    expect(claimsOf(forge()).fid).toEqual(expect.any(String));
  });
});
