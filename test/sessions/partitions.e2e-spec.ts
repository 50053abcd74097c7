import { Pruning } from '@svc/auth';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp, claimsOf } from '../support/hosts/app';

const PAGE = readFileSync(join(__dirname, '../../docs/scale.md'), 'utf8');
const [, STATEMENTS = ''] = /```sql\n(-- svc_sessions in 16 partitions\n[^`]+)```/.exec(PAGE) ?? [];

const EMAIL = 'ada@example.com';
const MONTH = 30 * 86_400;

describe('a table of sessions in partitions, as the documentation makes it', () => {
  const t = TestApp.forFile({ tables: STATEMENTS });
  beforeEach(() => t.person(EMAIL));

  const storeLive = (count: number, user: string): Promise<unknown> =>
    t.database.query(
      `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
       SELECT gen_random_uuid(), 'api', $2, '', now(), now() + interval '1 day', now(), now() FROM generate_series(1, $1::int)`,
      [count, user],
    );
  const live = async (): Promise<number> =>
    (await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).length;

  it('has all partitions and indexes', async () => {
    const [{ partitions, indexes }] = await t.database.query(
      `SELECT (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'svc_sessions'::regclass) AS partitions,
              (SELECT array_agg(indexname::text ORDER BY indexname) FROM pg_indexes WHERE tablename = 'svc_sessions') AS indexes`,
    );
    expect(partitions).toBe(16);
    expect(indexes).toEqual(
      ['ended', 'expiry', 'live', 'origin', 'pkey', 'revoked'].map((name) => `svc_sessions_${name}`),
    );
  });

  it('serves login, refresh, replay, list and logout', async () => {
    const first = (await t.login(EMAIL).expect(200)).body;
    const next = (await t.refresh(first.refresh_token).expect(200)).body;
    expect((await t.refresh(first.refresh_token).expect(200)).body.refresh_token).toBe(next.refresh_token);
    await t.get('/private', next.access_token).expect(200);
    const other = (await t.login(EMAIL).expect(200)).body;
    expect((await t.get('/auth/sessions', next.access_token).expect(200)).body.data).toHaveLength(2);
    await t.http.post('/auth/logout').auth(other.access_token, { type: 'bearer' }).expect(204);
    await t.get('/private', other.access_token).expect(401);
  });

  it('ends a session whose refresh token is used again', async () => {
    const { refresh_token, access_token } = await t.session();
    await t.refresh(refresh_token).expect(200);
    t.clock.advance(31);
    await t.refresh(refresh_token).expect(401);
    await t.get('/private', access_token).expect(401);
  });

  it('ends all sessions of a user and of a guard, in pages', async () => {
    const { access_token } = await t.session();
    const userId = String(claimsOf(access_token).sub);
    await storeLive(1200, userId);
    await storeLive(1200, 'another');
    await t.auth.revokeAll(userId);
    expect(await live()).toBe(1200);
    expect(await t.auth.revokeEverything()).toBe(1200);
    await t.get('/private', access_token).expect(401);
  });

  it('is pruned', async () => {
    await storeLive(600, 'another');
    const { refresh_token } = await t.session();
    t.clock.advance(2 * 86_400);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 600 });
    await t.refresh(refresh_token).expect(200);
    t.clock.advance(MONTH);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 1 });
  });
});
