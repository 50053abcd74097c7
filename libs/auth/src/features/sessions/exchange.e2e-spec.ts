import { GRACE, JUDGE_TABLE, type Judged } from './rotation.testkit';
import { judge, recentChange } from './rotation.policy';
import { type FoundSession, SessionStore } from './session.store';
import { Realms } from '../../foundation/realm/realm';
import { TestApp, claimsOf } from '../../../../../test/support/app';

const t = TestApp.forFile({ options: { graceSeconds: GRACE, guards: { admin: { graceSeconds: 0 } } } });
beforeEach(async () => {
  await t.person('ada@example.com');
  await t.person('root@example.com', 'admin');
});

const guardOf = ({ grace }: { grace: number }): string => (grace ? 'api' : 'admin');
const storeOf = (guard = 'api'): SessionStore => t.app.get(Realms).get(guard).get(SessionStore);
const started = async (guard = 'api'): Promise<string> =>
  String(claimsOf((await t.auth.guard(guard).startSession(1)).accessToken).fid);

/** Puts a session into a state; the time is that of PostgreSQL. */
const put = (id: string, { generation, recent, expiresIn, revokedIn }: Omit<Judged, 'name' | 'verdict'>) =>
  t.database.query(
    `UPDATE svc_sessions SET generation = $2, expires_at = clock_timestamp() + $4 * interval '1 second',
       recent = ARRAY(SELECT clock_timestamp() + s * interval '1 second' FROM unnest($3::float8[]) AS s),
       revoked_at = clock_timestamp() + $5 * interval '1 second'
     WHERE id = $1`,
    [id, generation, recent, expiresIn, revokedIn],
  );
const rowOf = async (id: string): Promise<Record<string, unknown>> =>
  (await t.database.query('SELECT * FROM svc_sessions WHERE id = $1', [id]))[0];
const found = async (store: SessionStore, id: string): Promise<FoundSession> => (await store.find(id))!;

const LIVING = { expiresIn: 3600, revokedIn: null };

describe.each([
  ['joined with others', true],
  ['alone', false],
])('the conditional statement of a refresh, %s', (_, joined) => {
  it.each(JUDGE_TABLE.map((row) => [row.name, row.verdict, row] as const))(
    'does with %s what the verdict says: %s',
    async (_name, verdict, row) => {
      const store = storeOf(guardOf(row));
      const id = await started(guardOf(row));
      // A request has read the session when the presented token was its current one, or was ahead of it. Others may
      // have changed the session since.
      await put(id, { ...row, ...LIVING, generation: Math.min(row.generation, row.presented) });
      const read = await found(store, id);
      await put(id, row);
      const [before, now] = [await rowOf(id), await found(store, id)];
      expect(judge(now, row.presented, row.grace)).toBe(verdict);

      const isRotated = await store.rotate(read, row.presented, joined);

      expect(isRotated).toBe(verdict === 'first' || verdict === 'ahead');
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
  it.each(JUDGE_TABLE.map((row) => [row.name, row.verdict, row] as const))(
    'hands out nothing of an ended or expired session: %s, %s',
    async (_name, verdict, row) => {
      const store = storeOf(guardOf(row));
      const id = await started(guardOf(row));
      await put(id, { ...row, ...LIVING });
      const read = await found(store, id);
      await put(id, row);
      const before = await rowOf(id);
      const isLive = verdict !== 'revoked' && verdict !== 'expired';
      expect(await store.handOut(read, 1)).toBe(isLive ? 2 : null);
      const after = await rowOf(id);
      expect(after).toEqual(isLive ? { ...before, holders: 2, last_used_at: after.last_used_at } : before);
    },
  );

  it('hands out nothing where the session was rotated since it was read', async () => {
    const [store, id] = [storeOf(), await started()];
    const read = await found(store, id);
    await store.rotate(read, 0, true);
    const before = await rowOf(id);
    expect(await store.handOut(read, 1)).toBeNull();
    expect(await rowOf(id)).toEqual(before);
  });
});

describe('refreshes that are joined into one statement', () => {
  it('rotate each its own session', async () => {
    const store = storeOf();
    const ids = await Promise.all(Array.from({ length: 20 }, () => started()));
    for (const [n, id] of ids.entries())
      await put(id, { ...LIVING, generation: n, recent: [], grace: GRACE, presented: n });
    const read = await Promise.all(ids.map((id) => found(store, id)));
    await t.auth.revoke(ids[7]!);
    const sent = jest.spyOn(t.database.logger, 'logQuery');
    const done = await Promise.all(read.map((session) => store.rotate(session, session.generation, true)));
    expect(done).toEqual(ids.map((_, n) => n !== 7));
    expect(sent.mock.calls.filter(([text]) => /SET generation/.test(text))).toHaveLength(1);
    for (const [n, id] of ids.entries()) expect((await rowOf(id)).generation).toBe(n === 7 ? 7 : n + 1);
  });

  it('rotate one session once, and each other one', async () => {
    const store = storeOf();
    const [id, other] = [await started(), await started()];
    const [read, beside] = [await found(store, id), await found(store, other)];
    const done = await Promise.all([
      ...Array.from({ length: 9 }, () => store.rotate(read, 0, true)),
      store.rotate(beside, 0, true),
    ]);
    expect(done.slice(0, 9).filter(Boolean)).toHaveLength(1);
    expect(done[9]).toBe(true);
    expect(await rowOf(id)).toMatchObject({ generation: 1, holders: 1 });
    expect((await rowOf(id)).recent).toHaveLength(1);
  });

  it('do not wait for a session that another request holds', async () => {
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
