import { TestApp, type Tokens, claimsOf } from '../support/app';

describe('two guards with users of the same ids', () => {
  let t: TestApp;
  let own: Tokens;
  let staff: Tokens;

  beforeAll(async () => {
    t = await TestApp.start();
    const ids = [await t.person('ada@example.com'), await t.person('root@example.com', 'admin')];
    expect(ids).toEqual(['1', '1']);
  });
  beforeEach(async () => {
    own = await t.session('ada@example.com');
    staff = await t.session('root@example.com', 'admin');
  });
  afterAll(() => t.stop());

  it('accept their own tokens, in either kind of Nest guard', async () => {
    for (const [path, token] of [
      ['/private', own],
      ['/passport', own],
      ['/staff', staff],
      ['/passport-staff', staff],
    ] as const) {
      await t.get(path, token.access_token).expect(200);
    }
  });

  it('refuse each other`s access tokens', async () => {
    for (const [path, token] of [
      ['/private', staff],
      ['/passport', staff],
      ['/staff', own],
      ['/passport-staff', own],
    ] as const) {
      await t.get(path, token.access_token).expect(401);
    }
  });

  it('refuse each other`s refresh tokens, which stay good where they belong', async () => {
    await t.refresh(own.refresh_token, 'admin').expect(401);
    await t.refresh(staff.refresh_token, 'api').expect(401);
    await t.refresh(own.refresh_token, 'api').expect(200);
    await t.refresh(staff.refresh_token, 'admin').expect(200);
  });

  it('know only their own users', async () => {
    await t.login('root@example.com', undefined, 'api').expect(422);
    await t.login('ada@example.com', undefined, 'admin').expect(422);
  });

  it('end only their own sessions, though the user ids are equal', async () => {
    await t.call('delete', '/auth/sessions', own.access_token).expect(204);
    await t.get('/staff', staff.access_token).expect(200);
    await t.refresh(staff.refresh_token, 'admin').expect(200);

    const { access_token: fresh } = await t.session('ada@example.com');
    await t.call('delete', '/admin/auth/sessions', staff.access_token).expect(204);
    await t.get('/private', fresh).expect(200);
  });

  it('do not let one end the other`s session by its token', async () => {
    await t.call('post', '/admin/auth/logout', own.access_token).expect(401);
    await t.call('delete', '/auth/sessions', staff.access_token).expect(401);
    await t.get('/private', own.access_token).expect(200);
    await t.get('/staff', staff.access_token).expect(200);
  });

  it('start sessions from server code for the guard that is named', async () => {
    const { accessToken } = await t.auth.guard('admin').startSession(1);
    expect(claimsOf(accessToken).aud).toBe('https://admin.example.com');
    await t.get('/staff', accessToken).expect(200);
    await t.get('/private', accessToken).expect(401);
    expect(() => t.auth.guard('nobody')).toThrow(/no guard "nobody".*Declared: admin, api/);
  });

  it('are stamped on every session row', async () => {
    const rows = await t.database.query('SELECT DISTINCT guard FROM svc_sessions ORDER BY guard');
    expect(rows).toEqual([{ guard: 'admin' }, { guard: 'api' }]);
  });
});
