import { SessionEnded } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { altered, forge } from '../support/clients/forge';
import { ADA } from '../support/hosts/user-entities';

const BOB = 'bob@example.com';
const LATER = 16 * 60;

describe.each([
  ['body mode', false],
  ['cookie mode', true],
])('a logout with an expired access token, in %s', (_, cookieMode) => {
  const t = TestApp.forFile({ options: { cookieMode, accessTtl: 900 } });
  beforeEach(async () => {
    for (const email of [ADA, BOB]) await t.person(email);
  });

  const signIn = async (email = ADA) => {
    const { body, headers } = await t.login(email).expect(200);
    const cookie = (headers['set-cookie'] as unknown as string[] | undefined)?.[0]?.split(';')[0];
    return { access: body.access_token as string, refresh: cookie ?? (body.refresh_token as string) };
  };
  const logOut = (access: string | undefined, refresh?: string, headers: Record<string, string> = {}) => {
    const request = t.call('post', '/auth/logout', access ?? '').set(headers);
    if (refresh === undefined) return request.send();
    return cookieMode ? request.set('Cookie', refresh).send() : request.send({ refresh_token: refresh });
  };
  const refreshes = (refresh: string) =>
    cookieMode ? t.http.post('/auth/refresh').set('Cookie', refresh) : t.refresh(refresh);

  it('ends the session of both tokens', async () => {
    const ended: SessionEnded[] = [];
    t.on(SessionEnded, (event) => ended.push(event));
    const { access, refresh } = await signIn();
    t.clock.advance(LATER);
    const { headers } = await logOut(access, refresh).expect(204);
    expect(String(headers['set-cookie'] ?? '')).toMatch(cookieMode ? /^__Host-refresh=;/ : /^$/);
    expect(ended).toEqual([expect.objectContaining({ reason: 'logout' })]);
    await refreshes(refresh).expect(401);
    await logOut(access, refresh).expect(401);
  });

  it('also with a replaced refresh token, because every one of them shows who has the session', async () => {
    const { access, refresh } = await signIn();
    await refreshes(refresh).expect(200);
    t.clock.advance(LATER);
    await logOut(access, refresh).expect(204);
  });

  it('is refused without a refresh token, with a forged one, and with that of another session', async () => {
    const [ada, bob] = [await signIn(), await signIn(BOB)];
    t.clock.advance(LATER);
    for (const refresh of [undefined, altered(ada.refresh), bob.refresh, 'x'])
      await logOut(ada.access, refresh).expect(401);
    // The access token must be valid in everything but its time.
    for (const access of [undefined, altered(ada.access), forge({ claims: { exp: 1, aud: 'https://other.test' } })])
      await logOut(access, ada.refresh).expect(401);
    await refreshes(ada.refresh).expect(200);
    await refreshes(bob.refresh).expect(200);
  });

  if (!cookieMode) return;

  it('does not read the cookie for a page of another origin', async () => {
    const { access, refresh } = await signIn();
    t.clock.advance(LATER);
    await logOut(access, refresh, { 'Sec-Fetch-Site': 'cross-site' }).expect(403);
    await refreshes(refresh).expect(200);
  });

  it('of a tab with an older session never removes the cookie of another account', async () => {
    const [ada, bob] = [await signIn(), await signIn(BOB)];
    for (const path of ['/auth/logout', '/auth/sessions']) {
      const { access } = path === '/auth/logout' ? ada : await signIn();
      const method = path === '/auth/logout' ? 'post' : 'delete';
      const { headers } = await t.call(method, path, access).set('Cookie', bob.refresh).expect(204);
      expect(headers['set-cookie']).toBeUndefined();
    }
    await refreshes(bob.refresh).expect(200);
  });
});
