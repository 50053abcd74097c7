import { PasswordHasher, SecurityStore } from '@svc/auth';
import { Client } from 'pg';
import { altered } from '../support/clients/forge';
import { TestApp, type Tokens } from '../support/hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { type PlanKind, type Statement, plannedAccesses, recordStatements } from '../support/stores/query-plans';
import { isInRequest, markRequests } from '../support/stores/request-statements';

/** Records the statements and security store calls of requests. */
function counters(t: TestApp) {
  markRequests(t);
  const sql: string[] = [];
  const query = Client.prototype.query as (...args: unknown[]) => unknown;
  jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const [first] = args as [string | { text: string }];
    const text = typeof first === 'string' ? first : first.text;
    if (isInRequest() && !/^(START|BEGIN|COMMIT|ROLLBACK)/i.test(text)) sql.push(text);
    return query.apply(this, args);
  } as never);
  const store = t.app.get(SecurityStore);
  const trips: string[] = [];
  for (const name of ['getMany', 'setMany', 'add', 'take', 'count', 'settle'] as const) {
    const call = store[name].bind(store) as (...args: unknown[]) => unknown;
    jest.spyOn(store, name).mockImplementation(((...args: unknown[]) => {
      if (isInRequest()) trips.push(name);
      return call(...args);
    }) as never);
  }
  return { sql, trips };
}

describe('the cost of a request', () => {
  const t = TestApp.forFile();
  beforeEach(() => t.person('ada@example.com'));

  it.each([['/private'], ['/passport']])(
    'to a guarded route, %s: one statement for the user and the session, and one store round trip',
    async (path) => {
      const { access_token: token } = await t.session();
      const { sql, trips } = counters(t);
      await t.get(path, token).expect(200);
      expect([sql.length, trips]).toEqual([1, ['getMany']]);
      expect(sql[0]).toMatch(
        /^SELECT .* FROM .*svc_sessions" WHERE id = ANY\(\$2::uuid\[\]\) AND revoked_at IS NOT NULL\), ','\) AS svc_ended FROM "people" WHERE "id" = ANY\(\$1\)$/,
      );
      expect(sql[0]).not.toContain('password');
    },
  );

  it('to a public route: none', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/open').expect(200);
    await t.get('/auth/jwks').expect(200);
    expect([sql, trips]).toEqual([[], []]);
  });

  it('to a public route with a token: none', async () => {
    const { access_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.get('/mixed/open', token).expect(200);
    expect([sql, trips]).toEqual([[], []]);
  });

  it('that is refused with 401: none', async () => {
    const { sql, trips } = counters(t);
    await t.get('/mixed/closed').expect(401);
    await t.get('/mixed/closed', 'a.b.c').expect(401);
    expect([sql, trips]).toEqual([[], []]);
  });

  it('to refresh: two statements, and two store round trips for the limit and the denylist', async () => {
    const { refresh_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql.map(kindOf)).toEqual(['find', 'exchangeJoined']);
    expect(trips).toEqual(['count', 'getMany']);
  });

  it('that replays a refresh token in the grace period: the same as a refresh', async () => {
    const { refresh_token: token } = await t.session();
    await t.refresh(token).expect(200);
    const { sql, trips } = counters(t);
    await t.refresh(token).expect(200);
    expect(sql.map(kindOf)).toEqual(['find', 'exchangeOne']);
    expect(trips).toEqual(['count', 'getMany']);
  });

  it('with a forged refresh token: the limit, and if it is well-formed one statement and the denylist', async () => {
    const { refresh_token: token } = await t.session();
    const { sql, trips } = counters(t);
    await t.refresh('f'.repeat(71)).expect(401);
    expect([sql, trips]).toEqual([[], ['count']]);
    await t.refresh(altered(token)).expect(401);
    expect(sql.map(kindOf)).toEqual(['find']);
    expect(trips).toEqual(['count', 'count', 'getMany']);
  });

  it.each<[string, (tokens: Tokens) => PromiseLike<unknown>]>([
    ['of an ended session', ({ access_token }) => t.call('post', '/auth/logout', access_token).expect(204)],
    ['of a session that has expired', async () => t.clock.advance(2_592_001)],
    [
      'that was already reused',
      async ({ refresh_token }) => {
        await t.refresh(refresh_token).expect(200);
        t.clock.advance(31);
      },
    ],
    ['of a deleted user', () => t.database.query('DELETE FROM people')],
  ])('that repeats a dead refresh token, %s: the same, and it writes nothing', async (_, kill) => {
    const tokens = await t.session();
    await kill(tokens);
    // The first request may record the end of the session.
    await t.refresh(tokens.refresh_token).expect(401);
    // A row that is changed or locked has another version.
    const rows = () => t.database.query('SELECT ctid::text, xmin::text, xmax::text, s.* FROM svc_sessions s');
    const before = await rows();
    expect(before).toHaveLength(1);
    const { sql, trips } = counters(t);
    for (let i = 0; i < 3; i++) await t.refresh(tokens.refresh_token).expect(401);
    expect(sql.map(kindOf)).toEqual(['find', 'find', 'find']);
    expect(trips).toEqual(['count', 'getMany', 'count', 'getMany', 'count', 'getMany']);
    await Promise.all(Array.from({ length: 10 }, () => t.refresh(tokens.refresh_token).expect(401)));
    expect(new Set([...sql.map(kindOf), ...trips])).toEqual(new Set(['find', 'count', 'getMany']));
    expect(await rows()).toEqual(before);
  });

  it('to end every session: one statement per 500 sessions, and two more store calls', async () => {
    const { access_token: token } = await t.session();
    for (let i = 0; i < 20; i++) await t.auth.startSession(1);
    const { sql, trips } = counters(t);
    await t.call('delete', '/auth/sessions', token).expect(204);
    // Statements: the user and the session with its pin, the end of all sessions. Store calls: the guard's read of the
    // denylist, the denials, and the denials again after the commit.
    expect(sql.map(kindOf)).toEqual(['withPin', 'endPage']);
    expect(trips.toSorted()).toEqual(['getMany', 'setMany', 'setMany']);
  });

  it('to sign in: one look-up, one hash, one insert, one later look-up, the count of the sessions, and the limits', async () => {
    const hashes = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { sql, trips } = counters(t);
    await t.login('ada@example.com').expect(200);
    // The later look-up and the count are sent at the same time.
    const [first, second, ...later] = sql.map(kindOf);
    expect([first, second, later.toSorted()]).toEqual(['user', 'insert', ['isOverCap', 'user']]);
    expect([trips.length, hashes.mock.calls.length]).toEqual([3, 1]);
  });
});

/** Each kind of statement: its name, its pattern, and the allowed indexes on svc_sessions. */
const KINDS: readonly [kind: string, text: RegExp, indexes: readonly string[]][] = [
  ['find', /^\s*SELECT s\.id AS "familyId"/, ['svc_sessions_pkey']],
  ['exchangeJoined', /UPDATE SKIP LOCKED[^]* SET generation = h\.generation/, ['svc_sessions_pkey']],
  ['exchangeOne', /SET generation = h\.generation/, ['svc_sessions_pkey']],
  ['withPin', /svc_pinned/, ['svc_sessions_pkey']],
  ['guarded', /svc_ended/, ['svc_sessions_pkey']],
  ['insert', /INSERT INTO \S*svc_sessions" \(/, []],
  ['isOverCap', /^\s*SELECT count\(\*\) > \$3 AS over/, ['svc_sessions_live']],
  ['cap', /surplus AS MATERIALIZED/, ['svc_sessions_live', 'svc_sessions_pkey']],
  ['endOne', /^\s*UPDATE \S*svc_sessions" s SET revoked_at = clock_timestamp/, ['svc_sessions_pkey']],
  ['erasePage', /user_id = '', salt = ''/, ['svc_sessions_live', 'svc_sessions_ended', 'svc_sessions_pkey']],
  ['endPage', /page AS MATERIALIZED/, ['svc_sessions_live', 'svc_sessions_pkey']],
  ['list', /ORDER BY id::text = /, ['svc_sessions_live']],
  ['isOwn', /SELECT 1 FROM \S*svc_sessions" WHERE id = \$1 AND guard = \$2 AND user_id = \$3/, ['svc_sessions_pkey']],
  ['hasEnded', /^\s*SELECT s\.revoked_at IS NOT NULL OR/, ['svc_sessions_pkey']],
  ['user', /FROM "people"/, []],
];

const kindOf = (text: string): string => KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? text;

/** Tables that grow with the number of users. Other tables have few rows, for which a scan is best. */
const GROWING = ['svc_sessions', 'people'];

describe('every hot query', () => {
  let t: TestApp;
  let statements: Statement[];
  let client: Client;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
    await t.person('bob@example.com');
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

  it('is sent by the recorded requests', () => {
    const seen = new Set(statements.map(({ text }) => kindOf(text)));
    expect(KINDS.map(([kind]) => kind).filter((kind) => !seen.has(kind))).toEqual([]);
  });

  it.each<PlanKind>(['custom', 'generic'])('reads sessions and people by index, by a %s plan', async (kind) => {
    const seen = new Set<string>();
    for (const statement of statements) {
      const accesses = (await plannedAccesses(client, statement, kind)).filter(({ table }) => GROWING.includes(table));
      const indexes = accesses.filter(({ table }) => table === 'svc_sessions').map(({ index }) => index);
      const allowed = KINDS.find(([, text]) => text.test(statement.text))?.[2] ?? [];
      expect({
        text: statement.text,
        scans: accesses.filter(({ by }) => by === 'Seq Scan'),
        unexpected: indexes.filter((index) => !allowed.includes(index!)),
      }).toEqual({ text: statement.text, scans: [], unexpected: [] });
      for (const { table } of accesses) seen.add(table);
    }
    // A table that no statement reads would pass without a test.
    expect([...seen].toSorted()).toEqual(GROWING.toSorted());
  });
});

/** Fills the tables, so that a scan costs more than an index. */
async function fill({ database }: TestApp): Promise<void> {
  await database.query(
    `INSERT INTO people (email) SELECT 'person-' || n || '@example.com' FROM generate_series(1, 20000) n`,
  );
  await database.query(`
    INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, revoked_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', (1 + n % 5000)::text, sha256(n::text::bytea),
           now(), now() + interval '1 day', CASE WHEN n % 9 = 0 THEN now() - n * interval '7 ms' END, now(), now() - n * interval '1 s'
      FROM generate_series(1, 30000) n`);
  // More than `sessions.maxPerUser`.
  await database.query(`
    INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', '2', '', now(), now() + interval '1 day', now(), now() FROM generate_series(1, 100) n`);
  await database.query('ANALYZE');
}

async function everyHotRequest(t: TestApp): Promise<void> {
  const [tokens, other] = [await t.session(), await t.session()];
  await t.get('/private', tokens.access_token).expect(200);
  const { body: successor } = await t.refresh(tokens.refresh_token).expect(200);
  await t.refresh(tokens.refresh_token).expect(200);
  const { body: list } = await t.get('/auth/sessions', other.access_token).expect(200);
  const { id } = list.data.find((session: { current: boolean }) => !session.current);
  await t.call('delete', `/auth/sessions/${id}`, other.access_token).expect(204);
  await t.call('delete', '/auth/sessions/others', other.access_token).expect(204);
  await t.call('post', '/auth/logout', other.access_token).expect(204);
  await t.refresh(successor.refresh_token).expect(401);
  const { access_token: last } = await t.session();
  await t.call('delete', '/auth/sessions', last).expect(204);
  const { access_token: leaving } = await t.session('bob@example.com');
  await t
    .call('delete', '/auth/account', leaving)
    .set(CONFIRMATION_HEADER, await confirmationTokenOf(t, leaving))
    .expect(204);
}
