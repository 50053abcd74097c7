import { TestApp, claimsOf } from '../support/hosts/app';
import { send } from '../support/hosts/processes';

/** Several times as many as a row records. */
const REFRESHES = 300;
/** The number of other sessions, so that the page of the row is as full as in production. */
const OTHERS = 300;

/** The limit of a row in bytes, without the fields whose length a client controls. */
const MOST_BYTES = 1200;

describe(`a session that is refreshed ${REFRESHES} times`, () => {
  // One connection, so that its statistics can be flushed at once instead of some seconds later.
  const t = TestApp.forFile({ pool: { max: 1 } });

  const statistics = async (): Promise<{ updated: number; hot: number; moved: number; inserted: number }> => {
    await t.database.query('SELECT pg_stat_force_next_flush()');
    const [row] = await t.database.query(
      `SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot, n_tup_newpage_upd::int AS moved,
              n_tup_ins::int AS inserted
         FROM pg_stat_user_tables WHERE relname = 'svc_sessions'`,
    );
    return row;
  };

  it('stays one row of a constant size, and changes no indexed column', async () => {
    await t.person('ada@example.com');
    const session = await t.session();
    await t.database.query(
      `INSERT INTO svc_sessions
       SELECT other.* FROM svc_sessions s, generate_series(1, $1::int) n,
              jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'label', 'session ' || n)) other`,
      [OTHERS],
    );
    await t.database.query('VACUUM ANALYZE svc_sessions');
    const before = await statistics();

    const url = `${await t.app.getUrl()}/auth/refresh`;
    const fid = claimsOf(session.access_token).fid;
    const sizes: number[] = [];
    let token = session.refresh_token;
    for (let i = 1; i <= REFRESHES; i++) {
      const { status, body } = await send(url, 'POST', { refresh_token: token });
      expect(status).toBe(200);
      token = body.refresh_token!;
      if (i % 100) continue;
      const [{ bytes }] = await t.database.query(
        'SELECT pg_column_size(s.*)::int AS bytes FROM svc_sessions s WHERE id = $1',
        [fid],
      );
      sizes.push(bytes);
    }

    expect(sizes).toHaveLength(REFRESHES / 100);
    expect(Math.max(...sizes)).toBeLessThan(MOST_BYTES);
    const [{ rows, generation }] = await t.database.query(
      'SELECT count(*)::int AS rows, max(generation) AS generation FROM svc_sessions',
    );
    expect([rows, generation]).toEqual([OTHERS + 1, REFRESHES]);

    const after = await statistics();
    expect(after.inserted).toBe(before.inserted);
    expect(after.updated - before.updated).toBe(REFRESHES);
    // An update that changes no indexed column is a HOT update, unless the page has no space. PostgreSQL does not reuse
    // the space of old versions while any transaction of the server is older than they are, such as one of another test.
    expect(after.hot + after.moved - before.hot - before.moved).toBe(REFRESHES);
    expect(after.hot - before.hot).toBeGreaterThan(REFRESHES / 2);
  });

  it('keeps its size with slow refreshes', async () => {
    await t.person('ada@example.com');
    let { refresh_token: token } = await t.session();
    const sizes = new Set<number>();
    for (let i = 0; i < 30; i++) {
      t.clock.advance(60);
      token = (await t.refresh(token).expect(200)).body.refresh_token;
      const [{ bytes, recent }] = await t.database.query(
        'SELECT pg_column_size(s.*)::int AS bytes, cardinality(recent) AS recent FROM svc_sessions s',
      );
      expect(recent).toBe(1);
      sizes.add(bytes);
    }
    expect(sizes.size).toBe(1);
  });
});
