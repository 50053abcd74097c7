import { RefreshFamilyForked, RefreshTokenReused } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const t = TestApp.forFile();
beforeEach(async () => {
  await t.person('ada@example.com');
  await t.person('root@example.com', 'admin');
});

describe('a refresh token', () => {
  it('is exchanged for a new pair of the same session', async () => {
    const first = await t.session();
    const { body: second } = await t.refresh(first.refresh_token).expect(200);

    expect(Object.keys(second).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(second.refresh_token).toMatch(/^[\w-]{71}$/);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(claimsOf(second.access_token).fid).toBe(claimsOf(first.access_token).fid);
    expect(claimsOf(second.access_token).jti).not.toBe(claimsOf(first.access_token).jti);
    await t.get('/private', second.access_token).expect(200);
  });

  it('is answered any number of times in the grace period, with the same successor and a new access token', async () => {
    t.clock.stop();
    const { refresh_token: lost } = await t.session();
    const { body: first } = await t.refresh(lost).expect(200);
    t.clock.advance(29);
    const answers = [(await t.refresh(lost).expect(200)).body, (await t.refresh(lost).expect(200)).body];
    expect(answers.map(({ refresh_token }) => refresh_token)).toEqual([first.refresh_token, first.refresh_token]);
    const all = [first, ...answers];
    expect(new Set(all.map(({ access_token }) => claimsOf(access_token).jti)).size).toBe(3);
    for (const { access_token } of all) await t.get('/private', access_token).expect(200);
    await t.refresh(first.refresh_token).expect(200);
  });

  it('is answered with the newest token after two rotations in the grace period', async () => {
    const { refresh_token: zero } = await t.session();
    const { body: one } = await t.refresh(zero).expect(200);
    const { body: two } = await t.refresh(one.refresh_token).expect(200);
    for (const old of [zero, one.refresh_token, zero])
      expect((await t.refresh(old).expect(200)).body.refresh_token).toBe(two.refresh_token);
    await t.refresh(two.refresh_token).expect(200);
  });

  it('ends the whole session when it is presented after the grace period', async () => {
    const reused = t.recorded(RefreshTokenReused);
    const stolen = await t.session();
    const { body: successor } = await t.refresh(stolen.refresh_token).expect(200);
    t.clock.advance(31);

    const refused = await t.refresh(stolen.refresh_token).expect(401);

    expect(refused.body).toEqual({ message: expect.any(String) });
    await t.refresh(successor.refresh_token).expect(401);
    await t.get('/private', successor.access_token).expect(401);
    expect(reused).toEqual([{ familyId: claimsOf(stolen.access_token).fid, guard: 'api', reason: 'reuse' }]);
  });

  it('has a grace period that a replay does not extend', async () => {
    const { refresh_token: first } = await t.session();
    await t.refresh(first).expect(200);
    t.clock.advance(20);
    await t.refresh(first).expect(200);
    t.clock.advance(20);
    await t.refresh(first).expect(401);
  });

  it('reports a fork at its third replay, when four requests have exchanged it, and at no later one', async () => {
    const forked = t.recorded(RefreshFamilyForked);
    const { refresh_token, access_token } = await t.session();
    const { sub, fid } = claimsOf(access_token);
    const fork = { userId: sub, familyId: fid, holders: 4, guard: 'api' };
    for (const _ of [1, 2, 3]) await t.refresh(refresh_token).expect(200);
    expect(forked).toEqual([]);
    await t.refresh(refresh_token).expect(200);
    expect(forked).toEqual([fork]);
    const { body } = await t.refresh(refresh_token).expect(200);
    await Promise.all([1, 2, 3].map(() => t.refresh(refresh_token).expect(200)));
    expect(forked).toEqual([fork]);
    // The next token has its own holders.
    for (const _ of [1, 2, 3, 4, 5]) await t.refresh(body.refresh_token).expect(200);
    expect(forked).toEqual([fork, fork]);
  });

  it('reports one fork when replays cross the threshold concurrently', async () => {
    const forked = t.recorded(RefreshFamilyForked);
    const { refresh_token } = await t.session();
    await t.refresh(refresh_token).expect(200);
    await Promise.all(Array.from({ length: 8 }, () => t.refresh(refresh_token).expect(200)));
    expect(forked).toMatchObject([{ holders: 4 }]);
  });

  it('reports no fork when the replays belong to several rotations', async () => {
    const forked = t.recorded(RefreshFamilyForked);
    let { refresh_token: token } = await t.session();
    for (const _ of [1, 2, 3, 4]) {
      for (const _again of [1, 2]) await t.refresh(token).expect(200);
      token = (await t.refresh(token).expect(200)).body.refresh_token;
    }
    expect(forked).toEqual([]);
  });

  it('expires at the deadline set at login, which no refresh moves', async () => {
    let { refresh_token: token } = await t.session();
    for (const _ of [1, 2, 3]) {
      t.clock.advance(2_592_000 / 4);
      ({ refresh_token: token } = (await t.refresh(token).expect(200)).body);
    }
    t.clock.advance(2_592_000 / 4 + 1);
    await t.refresh(token).expect(401);
  });

  it('is refused with the same body for every reason', async () => {
    const revoked = await t.session();
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    const answers = await Promise.all(
      [
        revoked.refresh_token,
        'f'.repeat(64),
        'A'.repeat(71),
        '',
        ['a'],
        { a: 1 },
        7,
        null,
        undefined,
        'ÿ\0',
        'x'.repeat(5000),
      ].map((token) => t.refresh(token)),
    );
    for (const { status, text, headers } of answers) {
      expect([status, text]).toEqual([401, '{"message":"The session could not be renewed. Please sign in again."}']);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  it('is not read from the query string', async () => {
    const { refresh_token } = await t.session();
    await t.http.post(`/auth/refresh?refresh_token=${refresh_token}`).expect(401);
    await t.refresh(refresh_token).expect(200);
  });

  it('is read from a form as well as from JSON', async () => {
    const { refresh_token } = await t.session();
    await t.http.post('/auth/refresh').type('form').send({ refresh_token }).expect(200);
  });

  it('keeps amr and auth_time through every rotation', async () => {
    t.clock.stop();
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

  it('is not stored, and neither is its MAC', async () => {
    const { refresh_token: first } = await t.session();
    const { body } = await t.refresh(first).expect(200);
    const [{ row }] = await t.database.query('SELECT s::text AS row FROM svc_sessions s');
    for (const token of [first, body.refresh_token]) {
      const bytes = Buffer.from(token, 'base64url');
      for (const part of [token, bytes.toString('hex'), bytes.subarray(-32).toString('hex')])
        expect(row).not.toContain(part);
    }
  });

  it('is refused in every other base64url spelling of the same bytes', async () => {
    const { refresh_token: token } = await t.session();
    // The last character has four significant bits, so three other characters decode to the same bytes.
    const others = [...ALPHABET].map((last) => token.slice(0, -1) + last);
    const same = others.filter((text) => Buffer.from(text, 'base64url').equals(Buffer.from(token, 'base64url')));
    expect(same).toHaveLength(4);
    for (const spelling of [...same, `${token}=`, `${token}A`, token.slice(0, -1)].filter((text) => text !== token))
      await t.refresh(spelling).expect(401);
    await t.refresh(token).expect(200);
  });

  it('with a forged MAC ends no session, whatever its generation', async () => {
    const { refresh_token: token } = await t.session();
    await t.refresh(token).expect(200);
    t.clock.advance(31);
    for (const generation of [0, 1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
      const bytes = Buffer.from(token, 'base64url');
      bytes.writeUInt32BE(generation, 17);
      // Without this change, the MAC would be valid for generation 0.
      bytes[20 + 32]! ^= 1;
      await t.refresh(bytes.toString('base64url')).expect(401);
    }
    const [{ generation, revoked }] = await t.database.query(
      'SELECT generation, revoked_at IS NOT NULL AS revoked FROM svc_sessions',
    );
    expect([generation, revoked]).toEqual([1, false]);
  });

  it('of one guard is unknown at the other', async () => {
    const { refresh_token: token } = await t.session();
    await t.refresh(token, 'admin').expect(401);
    await t.refresh(token).expect(200);
  });
});
