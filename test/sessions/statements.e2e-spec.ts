import { PasswordHasher, SecurityStore } from '@svc/auth';
import { Client } from 'pg';
import { TestApp } from '../support/app';
import { type PlanKind, type Statement, accessesOf, recordStatements } from '../support/plans';
import { isOfRequests } from '../support/statements';
import { readsOfUsers } from '../support/user-reads';

/** Counts what reaches PostgreSQL and the security store. */
function counters(t: TestApp) {
  const queries = jest.spyOn(Client.prototype, 'query') as unknown as jest.SpyInstance;
  const store = t.app.get(SecurityStore);
  const calls = (['getMany', 'setMany', 'count', 'settle'] as const).map((name) => jest.spyOn(store, name));
  const text = ([query]: unknown[]): string => (typeof query === 'string' ? query : (query as { text: string }).text);
  return {
    sql: () =>
      queries.mock.calls
        .map(text)
        .filter((statement) => !/^(START|BEGIN|COMMIT|ROLLBACK)/i.test(statement) && isOfRequests(statement)),
    trips: () => calls.reduce((sum, { mock }) => sum + mock.calls.length, 0),
  };
}

describe('what a request costs', () => {
  const t = TestApp.forFile();
  beforeEach(() => t.person('ada@example.com'));

  it.each([['/private'], ['/passport']])(
    'a guarded one, at %s: one store round trip and one user read',
    async (path) => {
      const { access_token: token } = await t.session();
      const users = readsOfUsers(t);
      const { sql, trips } = counters(t);
      await t.get(path, token).expect(200);
      expect([sql().length, trips(), users()]).toEqual([1, 1, 1]);
      expect(sql()[0]).toMatch(/^SELECT .* FROM "people" WHERE "id" = ANY\(\$1\)$/);
      expect(sql()[0]).not.toContain('password');
    },
  );

  it('a public one: nothing', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/open').expect(200);
    await t.get('/auth/jwks').expect(200);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a public one costs nothing even where it carries a token', async () => {
    const { access_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.get('/mixed/open', token).expect(200);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a refused one: nothing', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/closed').expect(401);
    await t.get('/mixed/closed', 'a.b.c').expect(401);
    expect([sql(), trips()]).toEqual([[], 0]);
  });

  it('a refresh: at most four statements and two store round trips, the limit and the denylist', async () => {
    const { refresh_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql().length).toBeLessThanOrEqual(4);
    expect(trips()).toBe(2);
  });

  it('a tolerated replay: the same', async () => {
    const { refresh_token: token } = await t.session();
    await t.refresh(token).expect(200);
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql().length).toBeLessThanOrEqual(4);
    expect(trips()).toBe(2);
  });

  it('ending every session: one statement and one store round trip more than the look-ups, however many there are', async () => {
    const { access_token: token } = await t.session();
    for (let i = 0; i < 20; i++) await t.auth.startSession(1);
    const { sql, trips } = counters(t);
    await t.call('delete', '/auth/sessions', token).expect(204);
    // The guard's user read, the pin, the end of all; the guard's denylist read, the denial of all.
    expect([sql().length, trips()]).toEqual([3, 2]);
  });

  it('a login: one look-up, one hash, one insert and one look at what is stored by then, and the limits by client and by failures', async () => {
    const hashes = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { sql, trips } = counters(t);
    await t.login('ada@example.com').expect(200);
    expect([sql().length, trips(), hashes.mock.calls.length]).toEqual([3, 3, 1]);
  });
});

/** Tables that grow with the users. What is not here holds a handful of rows, which are best read as a whole. */
const GROWING = ['svc_sessions', 'svc_refresh_tokens', 'people'];

describe('every hot query', () => {
  let t: TestApp;
  let statements: Statement[];
  let client: Client;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
    await fill(t);
    const recording = recordStatements();
    await everyHotRequest(t);
    recording.stop();
    ({ statements } = recording);
    client = new Client({ connectionString: t.databaseUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await t.stop();
  });

  it.each<PlanKind>(['custom', 'generic'])('is planned without a sequential scan, by a %s plan', async (kind) => {
    const seen = new Set<string>();
    for (const statement of statements) {
      const accesses = (await accessesOf(client, statement, kind)).filter(({ table }) => GROWING.includes(table));
      expect({ text: statement.text, scans: accesses.filter(({ by }) => by === 'Seq Scan') }).toEqual({
        text: statement.text,
        scans: [],
      });
      for (const { table } of accesses) seen.add(table);
    }
    // What no statement reads would pass whatever its plan.
    expect([...seen].toSorted()).toEqual(GROWING.toSorted());
  });
});

/** Tables that are large enough for a scan to be the worse choice. */
async function fill({ database }: TestApp): Promise<void> {
  await database.query(
    `INSERT INTO people (email) SELECT 'person-' || n || '@example.com' FROM generate_series(1, 20000) n`,
  );
  await database.query(`
    INSERT INTO svc_sessions (id, guard, user_id, auth_time, expires_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', (1 + n % 5000)::text, now(), now() + interval '1 day', now(), now()
      FROM generate_series(1, 30000) n`);
  await database.query(`
    INSERT INTO svc_refresh_tokens (family_id, token_hash, created_at, rotated_at)
    SELECT id, encode(sha256((id::text || k)::bytea), 'hex'), now(), CASE k WHEN 1 THEN now() END
      FROM svc_sessions, generate_series(1, 2) k`);
  await database.query('ANALYZE');
}

async function everyHotRequest(t: TestApp): Promise<void> {
  const [tokens, other] = [await t.session(), await t.session()];
  await t.get('/private', tokens.access_token).expect(200);
  const { body: successor } = await t.refresh(tokens.refresh_token).expect(200);
  await t.refresh(tokens.refresh_token).expect(200);
  const { body: list } = await t.get('/auth/sessions', other.access_token).expect(200);
  const { id } = list.data.find((one: { current: boolean }) => !one.current);
  await t.call('delete', `/auth/sessions/${id}`, other.access_token).expect(204);
  await t.call('delete', '/auth/sessions/others', other.access_token).expect(204);
  await t.call('post', '/auth/logout', other.access_token).expect(204);
  await t.refresh(successor.refresh_token).expect(401);
  const { access_token: last } = await t.session();
  await t.call('delete', '/auth/sessions', last).expect(204);
}
