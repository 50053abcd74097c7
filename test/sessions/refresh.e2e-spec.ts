import { RefreshFamilyForked, RefreshTokenReused } from '@svc/auth';
import { TestApp, claimsOf } from '../support/app';

describe('a refresh token', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start();
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('is exchanged for a new pair of the same session', async () => {
    const first = await t.session();
    const { body: second } = await t.refresh(first.refresh_token).expect(200);

    expect(Object.keys(second).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(second.refresh_token).toMatch(/^[0-9a-f]{64}$/);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(claimsOf(second.access_token).fid).toBe(claimsOf(first.access_token).fid);
    expect(claimsOf(second.access_token).jti).not.toBe(claimsOf(first.access_token).jti);
    await t.get('/private', second.access_token).expect(200);
  });

  it('is tolerated inside the grace window, its boundary included, as often as it comes', async () => {
    t.clock.stop();
    const { refresh_token: lost } = await t.session();
    await t.refresh(lost).expect(200);
    t.clock.advance(29);
    const { body: again } = await t.refresh(lost).expect(200);
    const { body: oncemore } = await t.refresh(lost).expect(200);
    for (const { refresh_token } of [again, oncemore]) await t.refresh(refresh_token).expect(200);
  });

  it('ends the whole session when it comes back after the grace window', async () => {
    const reused = t.recorded(RefreshTokenReused);
    const stolen = await t.session();
    const { body: successor } = await t.refresh(stolen.refresh_token).expect(200);
    t.clock.advance(31);

    const refused = await t.refresh(stolen.refresh_token).expect(401);

    expect(refused.body).toEqual({ message: expect.any(String) });
    await t.refresh(successor.refresh_token).expect(401);
    await t.get('/private', successor.access_token).expect(401);
    expect(reused).toEqual([{ familyId: claimsOf(stolen.access_token).fid, reason: 'reuse' }]);
  });

  it('does not slide its grace window with every sibling', async () => {
    const { refresh_token: first } = await t.session();
    await t.refresh(first).expect(200);
    t.clock.advance(20);
    await t.refresh(first).expect(200);
    t.clock.advance(20);
    await t.refresh(first).expect(401);
  });

  it('reports a fork on the third replay of the first token, with four live tokens', async () => {
    const forked = t.recorded(RefreshFamilyForked);
    const { refresh_token, access_token } = await t.session();
    for (const _ of [1, 2, 3]) await t.refresh(refresh_token).expect(200);
    expect(forked).toEqual([]);
    await t.refresh(refresh_token).expect(200);
    expect(forked).toEqual([
      { userId: claimsOf(access_token).sub, familyId: claimsOf(access_token).fid, liveTokens: 4 },
    ]);
  });

  it('dies at the deadline set at login, which refreshing never moves', async () => {
    let { refresh_token: token } = await t.session();
    for (const _ of [1, 2, 3]) {
      t.clock.advance(2_592_000 / 4);
      ({ refresh_token: token } = (await t.refresh(token).expect(200)).body);
    }
    t.clock.advance(2_592_000 / 4 + 1);
    await t.refresh(token).expect(401);
  });

  it('is refused with one body whatever the reason', async () => {
    const revoked = await t.session();
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    const answers = await Promise.all(
      [revoked.refresh_token, 'f'.repeat(64), '', ['a'], { a: 1 }, 7, null, undefined, 'ÿ\0', 'x'.repeat(5000)].map(
        (token) => t.refresh(token),
      ),
    );
    for (const { status, text, headers } of answers) {
      expect([status, text]).toEqual([401, '{"message":"The session could not be renewed. Please sign in again."}']);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  it('is never read from the query string', async () => {
    const { refresh_token } = await t.session();
    await t.http.post(`/auth/refresh?refresh_token=${refresh_token}`).expect(401);
    await t.refresh(refresh_token).expect(200);
  });

  it('is taken from a form as well as from JSON', async () => {
    const { refresh_token } = await t.session();
    await t.http.post('/auth/refresh').type('form').send({ refresh_token }).expect(200);
  });

  it('keeps amr and auth_time through every rotation', async () => {
    const first = await t.session();
    const { amr, auth_time: authTime } = claimsOf(first.access_token);
    expect(amr).toEqual(['pwd']);
    expect(Math.abs(Number(authTime) - t.clock.seconds())).toBeLessThanOrEqual(2);
    let token = first.refresh_token;
    for (const _ of [1, 2, 3]) {
      t.clock.advance(100);
      const { body } = await t.refresh(token).expect(200);
      expect(claimsOf(body.access_token)).toMatchObject({ amr, auth_time: authTime });
      token = body.refresh_token;
    }
  });

  it('is stored as its hash alone', async () => {
    const { refresh_token } = await t.session();
    await t.refresh(refresh_token).expect(200);
    const rows: object[] = await t.database.query('SELECT * FROM svc_refresh_tokens, svc_sessions');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(refresh_token);
  });
});
