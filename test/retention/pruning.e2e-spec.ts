import { type AuthModuleOptions, Pruning, PruningFailed, SessionEnded } from '@svc/auth';
import { Client } from 'pg';
import { TestApp, claimsOf } from '../support/hosts/app';
import { ADA } from '../support/flows/step-up';
import { storePasskey } from '../support/flows/passkeys';
import { PASSWORD } from '../support/hosts/user-entities';
import { measureAccesses, recordStatements } from '../support/stores/query-plans';
import { failStatements } from '../support/faults/failing-statements';
import { userProvidersOf } from '../support/stores/user-reads';

const DAY = 86_400;
/** The time in seconds during which an access token may be accepted, with leeway and the margin for clocks. */
const LIFE = 900 + 5 + 60;
const prune = (t: TestApp, days?: number) => t.app.get(Pruning).run(days);
const countOf = async (t: TestApp, table: string): Promise<number> =>
  (await t.database.query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

describe('a sweep of sessions', () => {
  /** Seconds after which a session can be deleted: its deadline plus the life of an access token issued at the deadline. */
  const OVER = 1000 + LIFE;
  const t = TestApp.forFile({ options: { refreshTtl: 1000, storeTimeoutMs: 20_000 } });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });

  it('deletes sessions past their deadline, of every guard', async () => {
    const [ada, root] = [await t.session(), await t.session('root@example.com', 'admin')];
    await t.refresh((await t.refresh(ada.refresh_token).expect(200)).body.refresh_token).expect(200);
    await t.refresh(root.refresh_token, 'admin').expect(200);
    expect(await prune(t)).toMatchObject({ sessions: 0 });

    t.clock.advance(OVER + 1);
    await t.session();
    expect(await prune(t)).toMatchObject({ sessions: 2 });
    expect(await countOf(t, 'svc_sessions')).toBe(1);
    expect(await prune(t)).toMatchObject({ sessions: 0 });
  });

  it('keeps a revoked session until its deadline, so that its tokens are still recognised as revoked', async () => {
    const ada = await t.session();
    await t.call('post', '/auth/logout', ada.access_token).expect(204);
    expect(await prune(t)).toMatchObject({ sessions: 0 });
    expect(await countOf(t, 'svc_sessions')).toBe(1);
    t.clock.advance(OVER + 1);
    expect(await prune(t)).toMatchObject({ sessions: 1 });
  });

  it('keeps a session past its deadline until its last access token has expired', async () => {
    t.clock.stop();
    const ada = await t.session();
    t.clock.advance(999);
    const { body } = await t.refresh(ada.refresh_token).expect(200);
    await t.call('post', '/auth/logout', body.access_token).expect(204);
    t.clock.advance(LIFE - 2);
    expect(await prune(t)).toMatchObject({ sessions: 0 });
    t.clock.advance(4);
    expect(await prune(t)).toMatchObject({ sessions: 1 });
    await t.get('/private', body.access_token).expect(401);
  });

  /** Stores sessions 1 to `count`, each deletable since `secondsAgo`, an SQL expression in n. */
  const store = (count: number, secondsAgo: string): Promise<unknown> =>
    t.database.query(
      `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
       SELECT gen_random_uuid(), 'api', n::text, '', now(), now() - (${LIFE} + ${secondsAgo}) * interval '1 s', now(), now()
         FROM generate_series(1, $1::int) n`,
      [count],
    );

  it('deletes any number of rows, also with equal deadlines', async () => {
    await store(2345, 'CASE WHEN n % 2 = 0 THEN n ELSE 7 END');
    expect(await prune(t)).toMatchObject({ sessions: 2345 });
    expect(await countOf(t, 'svc_sessions')).toBe(0);
  });

  it('deletes pages in the order of their deadlines, also with statistics of an almost empty table', async () => {
    await store(2345, 'n');
    // With such statistics, PostgreSQL prefers plans that repeat a sub-select for each row.
    await t.database.query(`UPDATE pg_class SET reltuples = 1, relpages = 100000 WHERE relname = 'svc_sessions'`);
    const deleted: number[] = [];
    t.on(SessionEnded, ({ userId }) => deleted.push(Number(userId)));
    expect(await prune(t)).toMatchObject({ sessions: 2345 });
    const pages = Array.from({ length: 10 }, (_, page) => deleted.slice(250 * page, 250 * (page + 1)));
    for (const [i, page] of pages.entries()) expect(Math.max(...page)).toBe(2345 - 250 * i);
  });

  it('emits SessionEnded once for each session that had not been ended before', async () => {
    const [ada, root] = [await t.session(), await t.session('root@example.com', 'admin')];
    const ended = await t.session();
    await t.call('post', '/auth/logout', ended.access_token).expect(204);
    t.clock.advance(OVER + 1);
    const events = t.recorded(SessionEnded);
    await Promise.all([prune(t), prune(t)]);
    await prune(t);
    const byGuard = events.toSorted((a, b) => a.guard.localeCompare(b.guard));
    expect(byGuard.map((event) => ({ ...event }))).toEqual(
      [
        { guard: 'admin', userId: '1', familyId: claimsOf(root.access_token).fid },
        { guard: 'api', userId: '1', familyId: claimsOf(ada.access_token).fid },
      ].map((session) => ({
        ...session,
        client: { ip: expect.stringContaining('127.0.0.1'), userAgent: null },
        amr: ['pwd'],
        reason: 'expired',
      })),
    );
  });

  it('reads the rows to delete by index, whatever the number of live sessions', async () => {
    await store(50_000, '-1000 - n');
    await store(600, 'n');
    await t.database.query('ANALYZE svc_sessions');
    const recorded = recordStatements();
    expect(await prune(t)).toMatchObject({ sessions: 600 });
    recorded.stop();
    const page = recorded.statements.find(({ text }) => /DELETE FROM \S*svc_sessions/.test(text))!;
    await store(600, 'n');
    const client = new Client({ connectionString: t.databaseUrl });
    await client.connect();
    for (const kind of ['custom', 'generic'] as const) {
      const reads = (await measureAccesses(client, page, kind)).filter(({ table }) => table === 'svc_sessions');
      expect(reads.map(({ index }) => index)).toContain('svc_sessions_expiry');
      expect(reads.filter(({ rows }) => rows > 600)).toEqual([]);
    }
    await client.end();
  });

  it('skips locked rows, and shares the work with a concurrent sweep', async () => {
    await t.session();
    await t.session();
    t.clock.advance(OVER + 1);
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT 1 FROM svc_sessions ORDER BY id LIMIT 1 FOR UPDATE');
    expect(await prune(t)).toMatchObject({ sessions: 1 });
    await runner.rollbackTransaction();
    await runner.release();
    const [first, second] = await Promise.all([prune(t), prune(t)]);
    expect(first.sessions + second.sessions).toBe(1);
  });
});

describe('a sweep of lockout counters', () => {
  // A long time-out, so that no statement times out on a slow machine.
  const start = (options: Partial<AuthModuleOptions> = {}): Promise<TestApp> =>
    TestApp.start({ options: { features: { lockout: true }, storeTimeoutMs: 20_000, ...options } });
  const subjects = async (t: TestApp): Promise<string[]> =>
    (await t.database.query('SELECT subject FROM svc_lockouts ORDER BY subject')).map(
      ({ subject }: { subject: string }) => subject,
    );

  it('deletes counters that never locked, days after their last failure, and no active lock', async () => {
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

  it('keeps counters for at least one day', async () => {
    const t = await start({ retention: { lockoutDays: 1 } });
    await t.login('young', 'x').expect(422);
    for (const days of [undefined, 0, -7]) expect(await prune(t, days)).toMatchObject({ lockoutCounters: 0 });
    t.clock.advance(DAY + 1);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1 });
    await t.stop();
  });

  it('deletes released locks, by the setting of their guard', async () => {
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

  it('deletes any number of rows, also after the feature was disabled', async () => {
    const t = await start({ features: { lockout: false } });
    await t.database.query(`
      INSERT INTO svc_lockouts (id, purpose, subject, guard, attempts, created_at, updated_at)
      SELECT lpad(n::text, 26, '0'), 'login', 'idn:' || n, 'api', 1, now(), now() - (n % 3) * interval '20 days'
        FROM generate_series(1, 4500) n`);
    expect(await prune(t)).toMatchObject({ lockoutCounters: 1500 });
    expect(await countOf(t, 'svc_lockouts')).toBe(3000);
    await t.stop();
  });

  it('skips locked rows, and accepts any number of days', async () => {
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

  it('does not prevent other sweeps when its table is missing, and runs when theirs is missing', async () => {
    const t = await start({ refreshTtl: 10, lockout: { maxAttempts: 1, releaseAfter: 1 } });
    await t.person('ada@example.com');
    await t.session();
    await t.login('nobody', 'x').expect(422);
    t.clock.advance(11 + LIFE);
    await t.database.query('ALTER TABLE svc_lockouts RENAME TO elsewhere');
    expect(await prune(t)).toEqual({
      sessions: 1,
      lockoutCounters: 0,
      passkeys: 0,
      resetTokens: 0,
      emailChanges: 0,
      knownDevices: 0,
      deviceKeys: 0,
      trustedDevices: 0,
      emailDeliveries: 0,
      identities: 0,
      accessKeys: 0,
      suspensions: 0,
      audit: 0,
      securityEvents: 0,
    });
    await t.database.query('ALTER TABLE elsewhere RENAME TO svc_lockouts');
    await t.database.query('DROP TABLE svc_sessions');
    expect(await prune(t)).toEqual({
      sessions: 0,
      lockoutCounters: 1,
      passkeys: 0,
      resetTokens: 0,
      emailChanges: 0,
      knownDevices: 0,
      deviceKeys: 0,
      trustedDevices: 0,
      emailDeliveries: 0,
      identities: 0,
      accessKeys: 0,
      suspensions: 0,
      audit: 0,
      securityEvents: 0,
    });
    await t.stop();
  });
});

describe('a sweep of passkeys', () => {
  const t = TestApp.forFile({ options: { refreshTtl: 10, storeTimeoutMs: 20_000 } });
  beforeEach(async () => {
    for (const name of ['ada', 'bob', 'eve']) await t.person(`${name}@example.com`);
    await t.person('root@example.com', 'admin');
  });

  const store = (guard: string | null, ...users: string[]): Promise<unknown> =>
    t.database.query(
      `INSERT INTO svc_passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
       SELECT gen_random_uuid(), id, $1, '', gen_random_uuid(), false, false, now(), now() FROM unnest($2::text[]) id`,
      [guard, users],
    );
  const swept = async (): Promise<number> => (await prune(t)).passkeys;
  const left = async (): Promise<string[]> =>
    (await t.database.query("SELECT coalesce(guard, '') AS guard, user_id FROM svc_passkeys ORDER BY 1, 2")).map(
      (row: { guard: string; user_id: string }) => `${row.guard}:${row.user_id}`,
    );

  it('deletes passkeys of deleted users, by the user table of their guard', async () => {
    await store('api', '1', '1', '2', '3', '99');
    await store('admin', '1', '2');
    await t.database.query('DELETE FROM people WHERE id = 3');
    expect(await swept()).toBe(3);
    expect(await left()).toEqual(['admin:1', 'api:1', 'api:1', 'api:2']);
    expect(await swept()).toBe(0);
  });

  it('keeps passkeys with an unknown guard or an invalid user id', async () => {
    await store(null, '99');
    await store('former', '99');
    await store('api', 'not a number', '99999999999999999999', '99');
    expect(await swept()).toBe(1);
    expect(await left()).toEqual([':99', 'api:99999999999999999999', 'api:not a number', 'former:99']);
  });

  it('deletes any number of rows', async () => {
    await store('api', ...Array.from({ length: 1200 }, (_, n) => String(n % 4 === 0 ? 1 : n + 10)));
    expect(await swept()).toBe(900);
    expect(await left()).toHaveLength(300);
  });

  it('keeps passkeys of users who are marked as deleted', async () => {
    await store('api', '1', '2');
    await t.database.query('ALTER TABLE people ADD deleted_at timestamptz');
    await t.database.query('UPDATE people SET deleted_at = now() WHERE id = 1');
    expect(await swept()).toBe(0);
    await t.database.query('ALTER TABLE people DROP deleted_at');
  });

  it('deletes nothing when the user provider cannot list the existing users', async () => {
    await store('api', '99');
    for (const users of userProvidersOf(t)) jest.spyOn(users, 'existingIds').mockResolvedValue(null);
    expect(await swept()).toBe(0);
    expect(await left()).toEqual(['api:99']);
  });

  it.each([
    ['its table', 'svc_passkeys RENAME TO elsewhere', 'elsewhere RENAME TO svc_passkeys'],
    ['the users` table', 'people RENAME TO elsewhere', 'elsewhere RENAME TO people'],
    ['the users` id', 'people RENAME id TO key', 'people RENAME key TO id'],
    ['its column', 'svc_passkeys RENAME user_id TO owner', 'svc_passkeys RENAME owner TO user_id'],
  ])('does not prevent the other sweeps without %s', async (_, change, undone) => {
    await t.session();
    await store('api', '99');
    t.clock.advance(11 + LIFE);
    await t.database.query(`ALTER TABLE ${change}`);
    expect(await prune(t)).toMatchObject({ sessions: 1, passkeys: 0 });
    await t.database.query(`ALTER TABLE ${undone}`);
  });

  it('skips a passkey that is locked by a login', async () => {
    await store('api', '98', '99');
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query("SELECT 1 FROM svc_passkeys WHERE user_id = '98' FOR UPDATE");
    expect(await swept()).toBe(1);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await swept()).toBe(1);
  });
});

describe('a sweep of which one part fails', () => {
  const t = TestApp.forFile({
    options: { features: { lockout: true }, refreshTtl: 10, lockout: { maxAttempts: 1, releaseAfter: 1 } },
  });

  // One deletable row of every kind.
  beforeEach(async () => {
    await t.person(ADA);
    await t.session();
    await t.login('nobody', 'x').expect(422);
    await storePasskey(t, 'stale', '99');
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', '1', 'x', 'x', now() - interval '2 h')");
    await t.database.query(
      `INSERT INTO svc_email_changes VALUES
       (gen_random_uuid(), 'api', '1', 's', 'a', true, 'b', 'requested', 'x', NULL, 'x', now(), NULL, NULL, now())`,
    );
    await t.database.query(
      `INSERT INTO svc_known_devices (id, guard, user_id, device_hash, session_id, first_seen_at, last_seen_at)
       VALUES (gen_random_uuid(), 'api', '99', 'x', gen_random_uuid(), now(), now())`,
    );
    await t.database.query(
      "INSERT INTO svc_trusted_devices VALUES ('api', '1', gen_random_uuid(), 'x', 'x', null, now(), now())",
    );
    await t.database.query("INSERT INTO svc_email_deliveries VALUES (gen_random_uuid(), 'api', '99', 'x', now())");
    await t.database.query(
      "INSERT INTO svc_identities VALUES (gen_random_uuid(), 'api', '99', 'p', 'i', 's', 'e', now())",
    );
    await t.database.query(
      "INSERT INTO svc_access_keys VALUES (gen_random_uuid(), 'api', '99', null, 'l', '', '', 'x', now(), null, null, '', null)",
    );
    await t.database.query("INSERT INTO svc_device_keys VALUES (gen_random_uuid(), 'api', '1', '{}', now())");
    await t.database.query("INSERT INTO svc_suspensions VALUES ('api', '1', 'x', now(), now() - interval '1 s')");
    await t.database.query(
      `INSERT INTO svc_audit (id, at, guard, user_id, operation, outcome, actor_kind)
       VALUES ('00000000-0000-0000-0000-000000000001', now(), 'api', '1', 'x', 'succeeded', 'system')`,
    );
    await t.database.query(
      `INSERT INTO svc_security_events (guard, user_id, receiver, claims, created_at, due_at, dead_at)
       VALUES ('api', '1', 'r', '{}', now(), now(), now() - interval '30 days')`,
    );
    t.clock.advance(11 + LIFE);
  });

  /** The number of remaining rows per kind. */
  const left = async (): Promise<Record<string, number>> => ({
    sessions: await countOf(t, 'svc_sessions'),
    lockoutCounters: await countOf(t, 'svc_lockouts'),
    passkeys: await countOf(t, 'svc_passkeys'),
    resetTokens: await countOf(t, 'svc_password_resets'),
    emailChanges: await countOf(t, 'svc_email_changes'),
    knownDevices: await countOf(t, 'svc_known_devices'),
    deviceKeys: await countOf(t, 'svc_device_keys'),
    trustedDevices: await countOf(t, 'svc_trusted_devices'),
    emailDeliveries: await countOf(t, 'svc_email_deliveries'),
    identities: await countOf(t, 'svc_identities'),
    accessKeys: await countOf(t, 'svc_access_keys'),
    suspensions: await countOf(t, 'svc_suspensions'),
    audit: await countOf(t, 'svc_audit'),
    securityEvents: await countOf(t, 'svc_security_events'),
  });
  const NONE = {
    sessions: 0,
    lockoutCounters: 0,
    passkeys: 0,
    resetTokens: 0,
    emailChanges: 0,
    knownDevices: 0,
    deviceKeys: 0,
    trustedDevices: 0,
    emailDeliveries: 0,
    identities: 0,
    accessKeys: 0,
    suspensions: 0,
    audit: 0,
    securityEvents: 0,
  };

  it.each([
    ['sessions', 'svc_sessions'],
    ['lockoutCounters', 'svc_lockouts'],
    ['passkeys', 'svc_passkeys'],
    ['resetTokens', 'svc_password_resets'],
    ['emailChanges', 'svc_email_changes'],
    ['knownDevices', 'svc_known_devices'],
    ['deviceKeys', 'svc_device_keys'],
    ['trustedDevices', 'svc_trusted_devices'],
    ['emailDeliveries', 'svc_email_deliveries'],
    ['identities', 'svc_identities'],
    ['accessKeys', 'svc_access_keys'],
    ['suspensions', 'svc_suspensions'],
    ['audit', 'svc_audit'],
    ['securityEvents', 'svc_security_events'],
  ])('runs the others, and names %s in its error', async (name, table) => {
    const allow = await failStatements(t, `DELETE ON ${table}`);
    const error = await prune(t).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PruningFailed);
    // The others, one row each.
    const { [name]: _, ...others } = Object.fromEntries(Object.keys(NONE).map((stage) => [stage, 1]));
    expect((error as PruningFailed).pruned).toEqual(others);
    // One error for each guard that has such rows.
    for (const { message } of (error as PruningFailed).errors) expect(message).toMatch(new RegExp(`^${name}: `));
    expect((error as PruningFailed).message).toMatch(new RegExp(`^${name}: `));
    expect(await left()).toEqual({ ...NONE, [name]: 1 });
    await allow();
    expect(await prune(t)).toEqual({ ...NONE, [name]: 1 });
  });

  it('names every part that failed', async () => {
    const allow = await failStatements(t, 'DELETE ON svc_sessions', 'DELETE ON svc_password_resets');
    await expect(prune(t)).rejects.toThrow(/^sessions: .*; resetTokens: /);
    expect(await left()).toEqual({ ...NONE, sessions: 1, resetTokens: 1 });
    await allow();
    expect(await prune(t)).toEqual({ ...NONE, sessions: 1, resetTokens: 1 });
  });
});
