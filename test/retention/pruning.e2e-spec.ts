import { type AuthModuleOptions, Pruning } from '@svc/auth';
import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';

const DAY = 86_400;
const start = (options: Partial<AuthModuleOptions> = {}): Promise<TestApp> =>
  TestApp.start({ options: { features: { lockout: true }, ...options } });
const prune = (t: TestApp, days?: number) => t.app.get(Pruning).run(days);
const countOf = async (t: TestApp, table: string): Promise<number> =>
  (await t.database.query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

describe('a sweep of sessions', () => {
  let t: TestApp;

  beforeEach(async () => {
    t = await start({ refreshTtl: 1000 });
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  afterEach(() => t.stop());

  it('deletes those past their deadline, of every guard, with all their tokens', async () => {
    const [ada, root] = [await t.session(), await t.session('root@example.com', 'admin')];
    await t.refresh((await t.refresh(ada.refresh_token).expect(200)).body.refresh_token).expect(200);
    await t.refresh(root.refresh_token, 'admin').expect(200);
    expect(await prune(t)).toMatchObject({ sessions: 0, refreshTokens: 0 });

    t.clock.advance(1001);
    await t.session();
    expect(await prune(t)).toMatchObject({ sessions: 2, refreshTokens: 5 });
    expect([await countOf(t, 'svc_sessions'), await countOf(t, 'svc_refresh_tokens')]).toEqual([1, 1]);
    expect(await prune(t)).toMatchObject({ sessions: 0, refreshTokens: 0 });
  });

  it('keeps a revoked one until then, so that its tokens are still known to be revoked', async () => {
    const ada = await t.session();
    await t.call('post', '/auth/logout', ada.access_token).expect(204);
    expect(await prune(t)).toMatchObject({ sessions: 0 });
    expect(await countOf(t, 'svc_sessions')).toBe(1);
    t.clock.advance(1001);
    expect(await prune(t)).toMatchObject({ sessions: 1 });
  });

  it('goes on past any number of rows, and of tokens in one session', async () => {
    await t.database.query(`
      INSERT INTO svc_sessions (id, guard, user_id, auth_time, expires_at, last_used_at, created_at)
      SELECT gen_random_uuid(), 'api', n::text, now(), now() - CASE WHEN n % 2 = 0 THEN n ELSE 7 END * interval '1 s', now(), now()
        FROM generate_series(1, 2345) n`);
    await t.database.query(`
      INSERT INTO svc_refresh_tokens (family_id, token_hash, created_at)
      SELECT id, gen_random_uuid()::text, now() FROM svc_sessions`);
    await t.database.query(`
      INSERT INTO svc_refresh_tokens (family_id, token_hash, created_at, rotated_at)
      SELECT (SELECT id FROM svc_sessions LIMIT 1), gen_random_uuid()::text, now(), now() FROM generate_series(1, 3210)`);
    expect(await prune(t)).toMatchObject({ sessions: 2345, refreshTokens: 5555 });
    expect([await countOf(t, 'svc_sessions'), await countOf(t, 'svc_refresh_tokens')]).toEqual([0, 0]);
  });

  it('waits for no lock, and shares the work with another sweep', async () => {
    await t.session();
    await t.session();
    t.clock.advance(1001);
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM svc_sessions ORDER BY id LIMIT 1 FOR UPDATE');
    expect(await prune(t)).toMatchObject({ sessions: 1 });
    await runner.rollbackTransaction();
    await runner.release();
    const [one, other] = await Promise.all([prune(t), prune(t)]);
    expect(one.sessions + other.sessions).toBe(1);
  });
});

describe('a sweep of lockout counters', () => {
  const subjects = async (t: TestApp): Promise<string[]> =>
    (await t.database.query('SELECT subject FROM svc_lockouts ORDER BY subject')).map(
      ({ subject }: { subject: string }) => subject,
    );

  it('deletes those that never locked, days after their last failure, and no lock that holds', async () => {
    const t = await start({ lockout: { maxAttempts: 2 } });
    await t.login('locked', 'x').expect(422);
    await t.login('locked', 'x').expect(422);
    await t.login('old', 'x').expect(422);
    t.clock.advance(20 * DAY);
    await t.login('young', 'x').expect(422);
    await t.login('young', 'x', 'admin').expect(422);
    t.clock.advance(11 * DAY);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    expect(await subjects(t)).toEqual(['idn:locked', 'idn:young', 'idn:young']);
    expect(await prune(t, 10)).toMatchObject({ lockoutCounters: 2 });
    t.clock.advance(5000 * DAY);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 0 });
    await t.login('locked', PASSWORD).expect(423);
    await t.stop();
  });

  it('never takes fewer than one day', async () => {
    const t = await start({ retention: { lockoutDays: 0 } });
    await t.login('young', 'x').expect(422);
    for (const days of [undefined, 0, -7]) expect(await prune(t, days)).toMatchObject({ lockoutCounters: 0 });
    t.clock.advance(DAY + 1);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    await t.stop();
  });

  it('deletes locks that have let go, by the time of their own guard', async () => {
    const t = await start({
      lockout: { maxAttempts: 1, releaseAfter: 100 },
      guards: { admin: { lockout: { releaseAfter: 900 } } },
    });
    t.clock.stop();
    await t.login('a', 'x').expect(422);
    await t.login('b', 'x', 'admin').expect(422);
    t.clock.advance(99);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 0 });
    t.clock.advance(2);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    expect(await subjects(t)).toEqual(['idn:b']);
    t.clock.advance(800);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    await t.stop();
  });

  it('goes on past any number of rows, and sweeps what the feature left behind when it was switched off', async () => {
    const t = await start({ features: { lockout: false } });
    await t.database.query(`
      INSERT INTO svc_lockouts (id, purpose, subject, guard, attempts, created_at, updated_at)
      SELECT lpad(n::text, 26, '0'), 'login', 'idn:' || n, 'api', 1, now(), now() - (n % 3) * interval '20 days'
        FROM generate_series(1, 4500) n`);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1500 });
    expect(await countOf(t, 'svc_lockouts')).toBe(3000);
    await t.stop();
  });

  it('waits for no lock, and never takes days beyond the calendar', async () => {
    const t = await start();
    for (const name of ['a', 'b']) await t.login(name, 'x').expect(422);
    t.clock.advance(40 * DAY);
    expect(await prune(t, 1e12)).toMatchObject({ lockoutCounters: 0 });
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query("SELECT 1 FROM svc_lockouts WHERE subject = 'idn:a' FOR UPDATE");
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    await runner.rollbackTransaction();
    await runner.release();
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    await t.stop();
  });

  it('is no obstacle to the other sweeps where its table is missing, nor they to it', async () => {
    const t = await start({ refreshTtl: 10, lockout: { maxAttempts: 1, releaseAfter: 1 } });
    await t.person('ada@example.com');
    await t.session();
    await t.login('nobody', 'x').expect(422);
    t.clock.advance(11);
    await t.database.query('ALTER TABLE svc_lockouts RENAME TO elsewhere');
    expect(await prune(t)).toEqual({ sessions: 1, refreshTokens: 1, lockoutCounters: 0, passkeys: 0, resetTokens: 0 });
    await t.database.query('ALTER TABLE elsewhere RENAME TO svc_lockouts');
    await t.database.query('DROP TABLE svc_refresh_tokens');
    expect(await prune(t)).toEqual({ sessions: 0, refreshTokens: 0, lockoutCounters: 1, passkeys: 0, resetTokens: 0 });
    await t.stop();
  });
});
