import { randomUUID } from 'node:crypto';
import { GRACE, IDLE_TIMEOUT, ROTATION_TABLE, type Judged, timesOf } from './rotation.testkit';
import { refreshVerdict, recentChange } from './rotation.policy';
import type { FoundSession } from './session.entity';
import { SessionStore } from './session.store';
import { Database } from '../../foundation/platform/database';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { TestApp, claimsOf } from '../../../../../test/support/hosts/app';

const t = TestApp.forFile({
  options: { graceSeconds: GRACE, sessions: { idleTimeout: IDLE_TIMEOUT }, guards: { admin: { graceSeconds: 0 } } },
});
beforeEach(async () => {
  await t.person('ada@example.com');
  await t.person('root@example.com', 'admin');
});

const guardOf = ({ grace }: { grace: number }): string => (grace ? 'api' : 'admin');
const storeOf = (guard = 'api'): SessionStore => t.app.get(Realms).get(guard).get(SessionStore);
const started = async (guard = 'api'): Promise<string> =>
  String(claimsOf((await t.auth.guard(guard).startSession(1)).accessToken).fid);

/** Sets the state of a session. Times are relative to PostgreSQL's clock. */
const put = (id: string, state: Omit<Judged, 'name' | 'verdict' | 'presented' | 'grace' | 'unusedSuccessor'>) =>
  t.database.query(
    `UPDATE svc_sessions SET generation = $2, expires_at = clock_timestamp() + $4 * interval '1 second',
       recent = ARRAY(SELECT clock_timestamp() + s * interval '1 second' FROM unnest($3::float8[]) AS s),
       revoked_at = clock_timestamp() + $5 * interval '1 second', idle_timeout = $6, late_generation = $8,
       last_used_at = clock_timestamp() - $7 * interval '1 second'
     WHERE id = $1`,
    [id, state.generation, state.recent, state.expiresIn, state.revokedIn, state.idleTimeout, state.unused, state.late],
  );
const rowOf = async (id: string): Promise<Record<string, unknown>> =>
  (await t.database.query('SELECT * FROM svc_sessions WHERE id = $1', [id]))[0];
const found = async (store: SessionStore, id: string): Promise<FoundSession> => (await store.find(id))!;

const LIVE = { expiresIn: 3600, revokedIn: null, unused: 0, idleTimeout: null, late: null };

describe.each([
  ['shared by several requests', true],
  ['for one request', false],
])('the conditional statement of a refresh, %s', (_, joined) => {
  it.each(ROTATION_TABLE.map((row) => [row.name, row.verdict, row] as const))(
    'follows the verdict for %s: %s',
    async (_name, verdict, row) => {
      const store = storeOf(guardOf(row));
      const id = await started(guardOf(row));
      // The request reads the session while the presented token is current or newer. Other requests may change the
      // session afterwards.
      await put(id, { ...row, ...LIVE, late: row.late, generation: Math.min(row.generation, row.presented) });
      const read = await found(store, id);
      await put(id, row);
      const [before, now] = [await rowOf(id), await found(store, id)];
      expect(refreshVerdict(now, row.presented, timesOf(row))).toBe(verdict);

      const isRotated = await store.rotate(read, row.presented, joined);

      expect(isRotated).toBe(verdict === 'current' || verdict === 'ahead');
      const after = await rowOf(id);
      const { dropped, added } = recentChange(read, row.presented, row.grace);
      const recent = before.recent as Date[];
      const expected = {
        ...before,
        generation: row.presented + 1,
        recent: [...recent.slice(dropped), ...Array.from({ length: added }, () => after.last_used_at)],
        last_used_at: after.last_used_at,
        holders: 1,
      };
      expect(after).toEqual(isRotated ? expected : before);
    },
  );
});

describe('the statement of a replay', () => {
  it.each(ROTATION_TABLE.map((row) => [row.name, row.verdict, row] as const))(
    'changes nothing for a session that has ended, is expired or idle: %s, %s',
    async (_name, verdict, row) => {
      const store = storeOf(guardOf(row));
      const id = await started(guardOf(row));
      await put(id, { ...row, ...LIVE, late: row.late });
      const read = await found(store, id);
      await put(id, row);
      const before = await rowOf(id);
      const isLive = !['revoked', 'expired', 'idle'].includes(verdict);
      expect(await store.countHolder(read, 1)).toBe(isLive ? 2 : null);
      const after = await rowOf(id);
      expect(after).toEqual(isLive ? { ...before, holders: 2, last_used_at: after.last_used_at } : before);
    },
  );

  it('records a late one once, of two that were read together', async () => {
    const [store, id] = [storeOf(), await started()];
    await put(id, { ...LIVE, generation: 1, recent: [-200] });
    const read = await found(store, id);
    const done = await Promise.all([store.countHolder(read, 1, true), store.countHolder(read, 1, true)]);
    expect(done.toSorted()).toEqual([2, null]);
    const late = await rowOf(id);
    expect(late).toMatchObject({ generation: 1, late_generation: 1, holders: 2, recent: [late.last_used_at] });
    expect(await store.rotate(read, 1, false)).toBe(false);
    expect(await store.rotate(await found(store, id), 1, false)).toBe(true);
    expect(await rowOf(id)).toMatchObject({ generation: 2, late_generation: 1, holders: 1 });
  });

  it('changes nothing if the session was rotated since it was read', async () => {
    const [store, id] = [storeOf(), await started()];
    const read = await found(store, id);
    await store.rotate(read, 0, true);
    const before = await rowOf(id);
    expect(await store.countHolder(read, 1)).toBeNull();
    expect(await rowOf(id)).toEqual(before);
  });
});

describe('refreshes in one shared statement', () => {
  it('rotate their own sessions', async () => {
    const store = storeOf();
    const ids = await Promise.all(Array.from({ length: 20 }, () => started()));
    for (const [n, id] of ids.entries()) await put(id, { ...LIVE, generation: n, recent: [] });
    const read = await Promise.all(ids.map((id) => found(store, id)));
    await t.auth.revoke(ids[7]!);
    const sent = jest.spyOn(t.database.logger, 'logQuery');
    const done = await Promise.all(read.map((session) => store.rotate(session, session.generation, true)));
    expect(done).toEqual(ids.map((_, n) => n !== 7));
    expect(sent.mock.calls.filter(([text]) => /SET generation/.test(text))).toHaveLength(1);
    for (const [n, id] of ids.entries()) expect((await rowOf(id)).generation).toBe(n === 7 ? 7 : n + 1);
  });

  it('rotate one session only once, and other sessions as well', async () => {
    const store = storeOf();
    const [id, other] = [await started(), await started()];
    const [read, readOther] = [await found(store, id), await found(store, other)];
    const done = await Promise.all([
      ...Array.from({ length: 9 }, () => store.rotate(read, 0, true)),
      store.rotate(readOther, 0, true),
    ]);
    expect(done.slice(0, 9).filter(Boolean)).toHaveLength(1);
    expect(done[9]).toBe(true);
    expect(await rowOf(id)).toMatchObject({ generation: 1, holders: 1 });
    expect((await rowOf(id)).recent).toHaveLength(1);
  });

  it('do not wait for a session that another transaction has locked', async () => {
    const store = storeOf();
    const ids = await Promise.all(Array.from({ length: 5 }, () => started()));
    const read = await Promise.all(ids.map((id) => found(store, id)));
    await t.database.transaction(async (own) => {
      await own.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [ids[2]]);
      expect(await Promise.all(read.map((session) => store.rotate(session, 0, true)))).toEqual([
        true,
        true,
        false,
        true,
        true,
      ]);
    });
    expect(await store.rotate(read[2]!, 0, false)).toBe(true);
  });

  it('of one guard never rotate a session of another', async () => {
    const [id, staff] = [await started(), await started('admin')];
    const [own, theirs] = [await found(storeOf(), id), await found(storeOf('admin'), staff)];
    expect(await storeOf().find(staff)).toBeNull();
    expect(await storeOf().rotate(theirs, 0, true)).toBe(false);
    expect(await storeOf('admin').rotate(own, 0, false)).toBe(false);
    expect([(await rowOf(id)).generation, (await rowOf(staff)).generation]).toEqual([0, 0]);
  });
});

describe('a session without a row', () => {
  /** The server answers like a standby that has not replayed the latest commits, or like an engine without standbys. */
  const onServer = async (
    reply: (ask: () => Promise<unknown[]>) => unknown[] | Promise<unknown[]>,
    work: () => Promise<void>,
    find?: () => unknown[],
  ): Promise<number> => {
    const database = t.app.get(Database);
    const { query } = database;
    let asked = 0;
    database.query = async (text, values) => {
      if (find && text.includes('json_array_elements_text')) return find() as never;
      if (!text.startsWith('SELECT pg_is_in_recovery()')) return query(text, values);
      asked++;
      return (await reply(() => query(text, values))) as never;
    };
    try {
      await work();
    } finally {
      Object.assign(database, { query, mayBeStandby: true });
    }
    return asked;
  };

  it('is unknown on a standby, so that its token stays valid', async () => {
    const { refreshToken } = await t.auth.startSession(1);
    const bytes = Buffer.from(refreshToken, 'base64url');
    // A byte of the session id.
    bytes[5]! ^= 1;
    const missing = bytes.toString('base64url');
    const asked = await onServer(
      () => [{ is: true }],
      async () => {
        await expect(storeOf().find(randomUUID())).rejects.toBeInstanceOf(StoreUnavailable);
        await t.refresh(missing).expect(503);
        // A row is read without a further statement.
        await t.refresh(refreshToken).expect(200);
      },
    );
    expect(asked).toBe(2);
  });

  it('is unknown if a standby lacked its row, which another server or a later moment has', async () => {
    const { refreshToken } = await t.auth.startSession(1);
    await onServer(
      (ask) => ask(),
      async () => void (await t.refresh(refreshToken).expect(503)),
      () => [],
    );
    await t.refresh(refreshToken).expect(200);
  });

  it('does not exist on a primary, and on an engine without standbys', async () => {
    expect(await storeOf().find(randomUUID())).toBeNull();
    const asked = await onServer(
      () => {
        throw Object.assign(new Error('no such function'), { code: '42883' });
      },
      async () => {
        for (let i = 0; i < 3; i++) expect(await storeOf().find(randomUUID())).toBeNull();
      },
    );
    expect(asked).toBe(1);
  });
});
