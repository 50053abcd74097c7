import { Client } from 'pg';
import { TestApp } from '../support/app';
import { type PlanKind, type Statement, accessesOf, recordStatements } from '../support/plans';

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
