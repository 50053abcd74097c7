import { RefreshTokenReused } from '@svc/auth';
import { TestApp, claimsOf } from '../support/app';

describe('each core flag has its effect when it is off', () => {
  let t: TestApp;
  const start = async (features: object): Promise<void> => {
    t = await TestApp.start({ options: { features } });
    await t.person('ada@example.com');
  };
  afterEach(() => t.stop());

  it('rotation: the same refresh token comes back and goes on, and nothing is consumed', async () => {
    await start({ rotation: false });
    const { refresh_token: token, access_token: first } = await t.session();
    for (const _ of [1, 2, 3]) {
      const { body } = await t.refresh(token).expect(200);
      expect(body.refresh_token).toBe(token);
      expect(claimsOf(body.access_token).jti).not.toBe(claimsOf(first).jti);
      t.clock.advance(600);
    }
    expect(await t.database.query('SELECT rotated_at FROM svc_refresh_tokens')).toEqual([{ rotated_at: null }]);
    const { body } = await t.refresh(token).expect(200);
    await t.call('post', '/auth/logout', body.access_token).expect(204);
    await t.refresh(token).expect(401);
  });

  it('reuse detection: a replay is refused, and the session lives on', async () => {
    await start({ reuseDetection: false });
    const reused = t.recorded(RefreshTokenReused);
    const { refresh_token: old } = await t.session();
    const { body } = await t.refresh(old).expect(200);
    t.clock.advance(31);
    await t.refresh(old).expect(401);
    await t.refresh(body.refresh_token).expect(200);
    expect(reused).toEqual([]);
  });

  it('denylist: access tokens live until they expire, refresh tokens do not', async () => {
    await start({ denylist: false });
    const { access_token: access, refresh_token: refresh } = await t.session();
    await t.call('post', '/auth/logout', access).expect(204);
    await t.get('/private', access).expect(200);
    await t.refresh(refresh).expect(401);
  });

  it('logout of all: the route is not there', async () => {
    await start({ logoutAll: false });
    const { access_token: access } = await t.session();
    await t.call('delete', '/auth/sessions', access).expect(404);
    await t.call('delete', '/auth/sessions/others', access).expect(204);
  });
});

describe('a flag of one guard', () => {
  it('leaves the other guard as it is', async () => {
    const t = await TestApp.start({
      options: { guards: { admin: { features: { rotation: false, logoutAll: false } } } },
    });
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
    const [own, staff] = [await t.session(), await t.session('root@example.com', 'admin')];
    expect((await t.refresh(own.refresh_token)).body.refresh_token).not.toBe(own.refresh_token);
    expect((await t.refresh(staff.refresh_token, 'admin')).body.refresh_token).toBe(staff.refresh_token);
    await t.call('delete', '/admin/auth/sessions', staff.access_token).expect(404);
    await t.call('delete', '/auth/sessions', own.access_token).expect(204);
    await t.stop();
  });
});

describe('a flag that is undefined', () => {
  it('is the default, and switches nothing off', async () => {
    const t = await TestApp.start({ options: { features: { denylist: undefined, logoutAll: undefined } } });
    await t.person('ada@example.com');
    const { access_token: access } = await t.session();
    await t.call('delete', '/auth/sessions', access).expect(204);
    await t.get('/private', access).expect(401);
    await t.stop();
  });
});
