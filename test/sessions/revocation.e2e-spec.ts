import { TestApp, type Tokens, claimsOf } from '../support/app';
import { forge } from '../support/forge';

describe('ending sessions', () => {
  let t: TestApp;
  let [first, second, third]: Tokens[] = [];

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
    await t.person('bob@example.com');
  });
  beforeEach(async () => {
    [first, second] = [await t.session(), await t.session()];
    third = await t.session('bob@example.com');
  });
  afterAll(() => t.stop());

  const alive = async ({ access_token: access, refresh_token: refresh }: Tokens): Promise<number[]> => [
    (await t.get('/private', access)).status,
    (await t.refresh(refresh)).status,
  ];

  it('by logout ends the calling session alone, at once, with an empty 204', async () => {
    const { text, headers } = await t.call('post', '/auth/logout', first!.access_token).expect(204);
    expect(text).toBe('');
    expect(headers['set-cookie']).toBeUndefined();
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(second!)).toEqual([200, 200]);
  });

  it('by logout also ends tokens that were handed out before the last refresh', async () => {
    const { body: renewed } = await t.refresh(first!.refresh_token).expect(200);
    await t.call('post', '/auth/logout', renewed.access_token).expect(204);
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(renewed)).toEqual([401, 401]);
  });

  it('of all devices spares other users', async () => {
    await t.call('delete', '/auth/sessions', first!.access_token).expect(204);
    expect(await alive(first!)).toEqual([401, 401]);
    expect(await alive(second!)).toEqual([401, 401]);
    expect(await alive(third!)).toEqual([200, 200]);
  });

  it('of all other devices spares the calling one', async () => {
    await t.call('delete', '/auth/sessions/others', first!.access_token).expect(204);
    expect(await alive(second!)).toEqual([401, 401]);
    expect(await alive(third!)).toEqual([200, 200]);
    expect(await alive(first!)).toEqual([200, 200]);
  });

  it('needs a token', async () => {
    await t.http.post('/auth/logout').expect(401);
    await t.http.delete('/auth/sessions').expect(401);
    await t.http.delete('/auth/sessions/others').expect(401);
  });

  it('works from server code, by session and by user', async () => {
    const ours = await t.auth.startSession('1', { label: 'token', claims: { tenant: 'x' } });
    const { body: caller } = await t.get('/private', ours.accessToken).expect(200);
    expect(caller.claims.tenant).toBe('x');
    await t.auth.revoke(caller.familyId);
    await t.get('/private', ours.accessToken).expect(401);

    const [kept, other] = [await t.auth.startSession(1), await t.auth.startSession(1)];
    const { body: keeper } = await t.get('/private', kept.accessToken).expect(200);
    await t.auth.revokeOthers(1, keeper.familyId);
    await t.get('/private', other.accessToken).expect(401);
    await t.get('/private', kept.accessToken).expect(200);
    await t.auth.revokeAll(1);
    await t.get('/private', kept.accessToken).expect(401);
  });

  it('takes a session id in either case of its letters', async () => {
    const { body: caller } = await t.get('/private', first!.access_token).expect(200);
    await t.auth.revokeOthers(1, caller.familyId.toUpperCase());
    expect(await alive(second!)).toEqual([401, 401]);
    await t.get('/private', first!.access_token).expect(200);
    await t.auth.revoke(caller.familyId.toUpperCase());
    expect(await alive(first!)).toEqual([401, 401]);
  });

  it('reaches a co-issuer`s token that spells the session in capitals, and survives what it may call its own', async () => {
    for (const path of ['logout', 'sessions'] as const) {
      const { access_token: token } = await t.session();
      const shouted = forge({ claims: { fid: String(claimsOf(token).fid).toUpperCase() } });
      await t.get('/private', shouted).expect(200);
      await t.call(path === 'logout' ? 'post' : 'delete', `/auth/${path}`, token).expect(204);
      await t.get('/private', shouted).expect(401);
    }
    for (const fid of ['a\0b', '\ud800', "'", 'x'.repeat(3000)]) {
      const odd = forge({ claims: { fid } });
      await t.get('/auth/sessions', odd).expect(200);
      await t.call('delete', '/auth/sessions/others', odd).expect(204);
    }
  });

  it('keeps the rows, so that a replay is still recognised', async () => {
    await t.call('post', '/auth/logout', first!.access_token).expect(204);
    const [{ count }] = await t.database.query('SELECT count(*)::int FROM svc_sessions WHERE revoked_at IS NOT NULL');
    expect(count).toBeGreaterThan(0);
  });
});
