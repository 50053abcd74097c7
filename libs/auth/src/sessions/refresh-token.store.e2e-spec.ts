import { createHash, randomUUID } from 'node:crypto';
import { TestApp } from '../../../../test/support/app';
import { statementsOf } from '../../../../test/support/statements';
import { RequestScope } from '../kernel/request-scope';
import { Realms } from '../realm/realm';
import { RefreshTokenStore, type SeenToken } from './refresh-token.store';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('a refresh token is exchanged without a lock', () => {
  let t: TestApp;
  let store: RefreshTokenStore;
  /** What happens between the look at the token and its exchange. */
  let meanwhile: () => Promise<unknown> = async () => undefined;

  beforeAll(async () => {
    t = await TestApp.start({
      options: {
        refreshTtl: 1000,
        hooks: {
          tokenClaims: async () => {
            const act = meanwhile;
            meanwhile = async () => undefined;
            await act();
            return {};
          },
        },
      },
    });
    await t.person('ada@example.com');
    store = t.app.get(Realms).default.get(RefreshTokenStore);
  });
  afterAll(() => t.stop());

  const rowOf = async (token: string): Promise<{ id: string; family_id: string; rotated_at: Date | null }> =>
    (await t.database.query('SELECT * FROM svc_refresh_tokens WHERE token_hash = $1', [sha256(token)]))[0];
  const seen = async (token: string): Promise<SeenToken> => (await store.byHash(sha256(token)))!;
  const newToken = async (): Promise<string> => (await t.session()).refresh_token;
  const successorsOf = (id: string) =>
    t.database.query('SELECT 1 FROM svc_refresh_tokens WHERE previous_id = $1', [id]);
  /** How the exchange of a token ends, by a successor of its own, and what it leaves. */
  async function exchanged(found: SeenToken): Promise<[boolean, number]> {
    const done = await store.exchange(found, sha256(randomUUID()));
    return [done, (await successorsOf(found.id)).length];
  }

  it('where it is as it was seen: stamped, its session noted as used, its successor in its place', async () => {
    const token = await newToken();
    const found = await seen(token);
    const successor = randomUUID();
    expect(await store.exchange(found, sha256(successor))).toBe(true);
    const [before, after] = [await rowOf(token), await seen(successor)];
    expect(before.rotated_at).toBeInstanceOf(Date);
    expect(after).toMatchObject({ familyId: found.familyId, scope: null, rotatedAt: null });
    const [session] = await t.database.query('SELECT last_used_at FROM svc_sessions WHERE id = $1', [found.familyId]);
    expect(session.last_used_at).toEqual(before.rotated_at);
  });

  it.each<[string, (found: SeenToken) => Promise<unknown>]>([
    ['was exchanged', (found) => store.exchange(found, sha256(randomUUID()))],
    ['had its session ended', (found) => t.auth.revoke(found.familyId)],
    [
      'expired',
      (found) => t.database.query('UPDATE svc_sessions SET expires_at = now() WHERE id = $1', [found.familyId]),
    ],
    [
      'was given other abilities',
      (found) => t.database.query("UPDATE svc_refresh_tokens SET scope = 'a' WHERE id = $1", [found.id]),
    ],
    ['went with its session', (found) => t.database.query('DELETE FROM svc_sessions WHERE id = $1', [found.familyId])],
  ])('and not where it %s meanwhile', async (_, act) => {
    const found = await seen(await newToken());
    await act(found);
    const before = (await successorsOf(found.id)).length;
    expect(await exchanged(found)).toEqual([false, before]);
  });

  it('and not by another guard', async () => {
    const found = await seen(await newToken());
    const admin = t.app.get(Realms).get('admin').get(RefreshTokenStore);
    expect(await admin.exchange(found, sha256(randomUUID()))).toBe(false);
  });

  it('and not once the client was told that nothing was done, however late the database comes to it', async () => {
    const found = await seen(await newToken());
    // As if it had been read so long ago: the time for an answer is over when the statement runs.
    expect(await exchanged({ ...found, now: found.now - 3600 })).toEqual([false, 0]);
    expect(await exchanged(found)).toEqual([true, 1]);
  });

  it('and not while anybody else is at its session, whom it does not wait for, nor do those beside it', async () => {
    const [held, free] = [await seen(await newToken()), await seen(await newToken())];
    const other = t.database.createQueryRunner();
    await other.startTransaction();
    await other.query('SELECT 1 FROM svc_sessions WHERE id = $1 FOR UPDATE', [held.familyId]);
    try {
      expect(await Promise.all([exchanged(held), exchanged(free)])).toEqual([
        [false, 0],
        [true, 1],
      ]);
    } finally {
      await other.rollbackTransaction();
      await other.release();
    }
  });

  it('once, by all who come at once: the others get siblings, and the parent keeps its stamp', async () => {
    for (let round = 0; round < 10; round++) {
      const token = await newToken();
      const answers = await Promise.all([1, 2, 3].map(() => t.refresh(token).expect(200)));
      const stamp = (await rowOf(token)).rotated_at;
      expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(3);
      await t.refresh(token).expect(200);
      expect((await rowOf(token)).rotated_at).toEqual(stamp);
    }
  });

  it('one of a session at a time, also where two of its tokens are asked for in one turn', async () => {
    const token = await newToken();
    const [{ body: one }, { body: two }] = [await t.refresh(token), await t.refresh(token)];
    const both = [await seen(one.refresh_token), await seen(two.refresh_token)];
    const done = await Promise.all(both.map((found) => store.exchange(found, sha256(randomUUID()))));
    expect(done.filter(Boolean)).toHaveLength(1);
    const twice = both[done.indexOf(false)]!;
    const again = await Promise.all([1, 2].map(() => store.exchange(twice, sha256(randomUUID()))));
    expect(again.filter(Boolean)).toHaveLength(1);
    expect(await successorsOf(twice.id)).toHaveLength(1);
  });

  it('in one statement for all who ask in one turn', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, newToken));
    const statements = statementsOf(t);
    const all = await Promise.all(tokens.map(seen));
    const done = await Promise.all(all.map((found) => store.exchange(found, sha256(randomUUID()))));
    expect([done.every(Boolean), statements.mock.calls.length]).toEqual([true, 2]);
  });

  it.each<[string, number, (token: string) => () => Promise<unknown>]>([
    ['another request that exchanges it: a sibling', 200, (token) => () => t.refresh(token).expect(200)],
    ['the end of its session', 401, (token) => async () => t.auth.revoke((await rowOf(token)).family_id)],
    ['its end', 401, () => async () => t.clock.advance(1001)],
  ])('unless a host callback takes so long that it meets %s', async (_, status, act) => {
    const token = await newToken();
    meanwhile = act(token);
    await t.refresh(token).expect(status);
  });

  it("after the hooks of the host, whose own waits and hashes are the request's, too", async () => {
    const token = await newToken();
    let scope: RequestScope | undefined;
    meanwhile = async () => (scope = RequestScope.current);
    await t.refresh(token).expect(200);
    expect(scope).toBeInstanceOf(RequestScope);
  });
});
