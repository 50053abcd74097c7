import { TestApp, claimsOf } from '../support/hosts/app';
import { requestWith } from '../support/clients/raw-headers';
import { PASSWORD } from '../support/hosts/user-entities';

const cookieOf = (headers: Record<string, unknown>): string | undefined =>
  (headers['set-cookie'] as string[] | undefined)?.[0];

describe('cookie mode', () => {
  const t = TestApp.forFile({ options: { cookieMode: true, guards: { admin: { cookieMode: false } } } });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });

  const signIn = async (): Promise<{ cookie: string; access: string }> => {
    const { body, headers } = await t.login('ada@example.com').expect(200);
    return { cookie: cookieOf(headers)!.split(';')[0]!, access: body.access_token };
  };

  it('sets the refresh token as a cookie that is HttpOnly, SameSite=Strict and Secure', async () => {
    const { body, headers } = await t.login('ada@example.com').expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    const [pair, ...attributes] = cookieOf(headers)!.split('; ');
    expect(pair).toMatch(/^__Host-refresh=[\w-]{71}$/);
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict', 'Secure']);
  });

  it('refreshes by the cookie, and sets its Max-Age to the rest of the session', async () => {
    t.clock.stop();
    const { cookie } = await signIn();
    t.clock.advance(1000);
    const { headers, body } = await t.http.post('/auth/refresh').set('Cookie', cookie).expect(200);
    expect(body.refresh_token).toBeUndefined();
    const age = Number(/Max-Age=(\d+)/.exec(cookieOf(headers)!)![1]);
    expect(age).toBeGreaterThan(2592000 - 1003);
    expect(age).toBeLessThanOrEqual(2592000 - 1000);
  });

  it('ignores a token in the body', async () => {
    const { cookie } = await signIn();
    const token = cookie.split('=')[1]!;
    await t.refresh(token).expect(401);
    await t.refresh('f'.repeat(71)).set('Cookie', cookie).expect(200);
  });

  it('reads neither of two cookies of the name, in one header or in two', async () => {
    const { cookie } = await signIn();
    const url = `${await t.app.getUrl()}/auth/refresh`;
    const refresh = (...headers: string[]) =>
      requestWith(
        url,
        headers.flatMap((header) => ['Cookie', header]),
        'POST',
      );
    const planted = '__Host-refresh=planted';
    for (const header of [
      `${cookie}; ${planted}`,
      `${planted};${cookie}`,
      `${cookie}; ${cookie}`,
      `${cookie};\t${planted}`,
    ])
      expect([header, await refresh(header)]).toEqual([header, 401]);
    for (const [one, two] of [
      [cookie, planted],
      [planted, cookie],
      [cookie, cookie],
    ])
      expect([one, two, await refresh(one!, two!)]).toEqual([one, two, 401]);
    expect(await refresh(`other=1; ${cookie}; __Host-refresh-admin=x; __Host-refresh`)).toBe(200);
  });

  it('is not disturbed by a cookie of another host of the site whose name begins with U+00A0', async () => {
    const { cookie } = await signIn();
    const url = `${await t.app.getUrl()}/auth/refresh`;
    for (const header of [`\xa0__Host-refresh=planted; ${cookie}`, `${cookie};\xa0__Host-refresh=planted`])
      expect([header, await requestWith(url, ['Cookie', header], 'POST')]).toEqual([header, 200]);
  });

  it('never clears the cookie when a refresh fails, because another tab may have replaced it', async () => {
    const { headers } = await t.http.post('/auth/refresh').set('Cookie', '__Host-refresh=invalid').expect(401);
    expect(cookieOf(headers)).toBeUndefined();
  });

  it.each([
    ['post', '/auth/logout'],
    ['delete', '/auth/sessions'],
  ] as const)('clears the cookie after %s %s', async (method, path) => {
    const { access } = await signIn();
    const { headers } = await t.call(method, path, access).expect(204);
    expect(cookieOf(headers)!.split('; ').toSorted()).toEqual([
      'Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      'HttpOnly',
      'Max-Age=0',
      'Path=/',
      'SameSite=Strict',
      'Secure',
      '__Host-refresh=',
    ]);
  });

  it('clears the cookie when the calling session is ended from the list, and for no other session', async () => {
    const [own, other] = [await t.auth.startSession(1), await t.auth.startSession(1)];
    const end = (token: string) => t.call('delete', `/auth/sessions/${claimsOf(token).fid}`, own.accessToken);
    const kept = await end(other.accessToken).expect(204);
    expect(cookieOf(kept.headers)).toBeUndefined();
    const response = await end(own.accessToken).expect(204);
    expect(response.headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-refresh=; Max-Age=0;/)]);
  });

  it('keeps the cookie of the session that ended all others', async () => {
    const { access } = await signIn();
    const { headers } = await t.call('delete', '/auth/sessions/others', access).expect(204);
    expect(cookieOf(headers)).toBeUndefined();
  });

  it('does not clear the cookie when the session could not be ended', async () => {
    const { headers } = await t.http.post('/auth/logout').expect(401);
    expect(cookieOf(headers)).toBeUndefined();
  });

  it('is a setting of the guard: the other guard answers in the body', async () => {
    const { body, headers } = await t.login('root@example.com', PASSWORD, 'admin').expect(200);
    expect(body.refresh_token).toMatch(/^[\w-]{71}$/);
    expect(cookieOf(headers)).toBeUndefined();
  });
});

describe('the place of the refresh token', () => {
  const t = TestApp.forFile({
    options: { refreshTokenFrom: 'mode', guards: { admin: { refreshTokenFrom: 'both' } as never } },
  });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });

  it('is only the body in body mode', async () => {
    const { refresh_token: token } = await t.session('ada@example.com');
    const inCookie = { headers: { cookie: `__Host-refresh=${token}` } };
    await t.http.post('/auth/refresh').set('Cookie', inCookie.headers.cookie).expect(401);
    expect(t.auth.refreshTokenOf(inCookie)).toBe('');
    expect(t.auth.refreshTokenOf({ ...inCookie, body: { refresh_token: token } })).toBe(token);
    await t.refresh(token).set('Cookie', '__Host-refresh=other').expect(200);
  });

  it('is the body, otherwise the cookie, where the guard asks for both', async () => {
    const { refresh_token: token } = await t.session('root@example.com', 'admin');
    const cookie = `__Host-refresh-admin=${token}`;
    const post = () => t.http.post('/admin/auth/refresh').set('Cookie', cookie);
    await post()
      .send({ refresh_token: 'f'.repeat(71) })
      .expect(401);
    await post()
      .send({ refresh_token: ['x'] })
      .expect(200);
    await post().set('Cookie', 'other=1').send({ refresh_token: token }).expect(200);
    const admin = t.auth.guard('admin');
    expect(admin.refreshTokenOf({ headers: { cookie } })).toBe(token);
    expect(admin.refreshTokenOf({ headers: { cookie }, body: { refresh_token: 'first' } })).toBe('first');
    expect(admin.refreshTokenOf({ headers: { cookie: `${cookie}; ${cookie}` } })).toBe('');
  });

  it('is not read from the request of a page of another site, where the guard asks for both', async () => {
    const { refresh_token: token } = await t.session('root@example.com', 'admin');
    const post = t.http.post('/admin/auth/refresh').set('Cookie', `__Host-refresh-admin=${token}`);
    await post.set('Sec-Fetch-Site', 'cross-site').expect(403);
  });
});

describe('cookie mode on two guards over plain HTTP', () => {
  it('names the cookie of each guard differently, without prefix and Secure', async () => {
    const t = await TestApp.start({ options: { cookieMode: true, cookie: { secure: false } } });
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
    const [own, staff] = [await t.login('ada@example.com'), await t.login('root@example.com', PASSWORD, 'admin')];
    expect(cookieOf(own.headers)).toMatch(/^refresh=[\w-]{71}; /);
    expect(cookieOf(staff.headers)).toMatch(/^refresh-admin=[\w-]{71}; /);
    for (const { headers } of [own, staff]) expect(cookieOf(headers)).not.toMatch(/Secure/);

    const both = [own, staff].map(({ headers }) => cookieOf(headers)!.split(';')[0]).join('; ');
    await t.http.post('/auth/refresh').set('Cookie', both).expect(200);
    await t.http.post('/admin/auth/refresh').set('Cookie', both).expect(200);
    await t.stop();
  });

  it('appends the guard to a cookie name that is configured for the module', async () => {
    const t = await TestApp.start({ options: { cookieMode: true, cookie: { refreshName: '__Host-rt' } } });
    await t.person('root@example.com', 'admin');
    const { headers } = await t.login('root@example.com', PASSWORD, 'admin').expect(200);
    expect(cookieOf(headers)).toMatch(/^__Host-rt-admin=/);
    await t.stop();
  });
});
