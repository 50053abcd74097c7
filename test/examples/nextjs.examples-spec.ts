import type { Browser } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { describeWithRedis } from '../support/stores/with-redis';
import { offersRoutesOf } from './life-of-a-session';
import {
  type FrontEnd,
  PASSWORD,
  Visitor,
  inCookieMode,
  refusesForeignPages,
  register,
  rendersForTheUser,
  worksInABrowser,
} from './server-rendered';

/** The fields by which a form without scripts names its server action. */
function formOf(html: string, button: string, fields: Record<string, string> = {}): FormData {
  const form = html.match(/<form[\s\S]*?<\/form>/g)!.find((text) => text.includes(button))!;
  const data = new FormData();
  for (const [input] of form.matchAll(/<input [^>]*type="hidden"[^>]*>/g)) {
    const value = /value="([^"]*)"/.exec(input)?.[1] ?? '';
    data.append(/name="([^"]*)"/.exec(input)![1]!, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  }
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

describeWithRedis('the example nextjs', () => {
  describe('in cookie mode', () => {
    let host: RunningExample;
    beforeAll(async () => void (host = await start('nextjs')));
    afterAll(() => host?.stop());

    const frontEnd = () => inCookieMode(host.urls);
    rendersForTheUser(frontEnd);
    refusesForeignPages(frontEnd);

    it('offers the routes of its page', () => offersRoutesOf('nextjs', Object.values(host.urls)));

    describeWithBrowser('in a browser', () => {
      let browser: Browser;
      beforeAll(async () => void (browser = await openBrowser()));
      afterAll(() => browser?.close());

      it('signs in, also after a link on another site, and signs out', async () =>
        worksInABrowser(await browser.newPage(), frontEnd()));
    });
  });

  describe('in token mode', () => {
    let host: RunningExample;
    beforeAll(async () => void (host = await start('nextjs', { AUTH_MODE: 'token' })));
    afterAll(() => host?.stop());

    const submit = async (visitor: Visitor, page: string, button: string, fields?: Record<string, string>) =>
      visitor.post(page, formOf((await visitor.visit(page)).body, button, fields));
    const frontEnd = (): FrontEnd => ({
      web: host.urls.web!,
      api: host.urls.api!,
      signIn: (visitor, email) => submit(visitor, '/login', 'Sign in', { email, password: PASSWORD }),
      signOut: (visitor) => submit(visitor, '/account', 'Sign out'),
      refreshAt: async (api, token) => {
        const headers = { 'Content-Type': 'application/json' };
        const body = JSON.stringify({ refresh_token: token });
        return (await fetch(`${api}/auth/refresh`, { method: 'POST', headers, body })).status;
      },
    });

    rendersForTheUser(frontEnd);

    const signedIn = async () => {
      const visitor = new Visitor(host.urls.web!);
      const email = await register(host.urls.api!, 'Ada');
      await frontEnd().signIn(visitor, email);
      return visitor;
    };

    it('adds the access token to requests for the API, and renews it', async () => {
      const visitor = await signedIn();
      for (const _ of [1, 2]) {
        expect(await visitor.visit('/api/hello')).toMatchObject({ status: 200, body: '{"greeting":"Hello, Ada!"}' });
        visitor.cookies.delete('__Host-access');
      }
      expect((await new Visitor(host.urls.web!).visit('/api/hello')).status).toBe(401);
      expect((await visitor.post('/auth/refresh', {})).status).toBe(404);
    });

    it.each([
      ['Sec-Fetch-Site', { 'Sec-Fetch-Site': 'same-site' }],
      ['Origin, for older browsers', { 'Sec-Fetch-Site': '', Origin: 'https://evil.example' }],
      ['Origin, of a page without one', { 'Sec-Fetch-Site': '', Origin: 'null' }],
    ])('refuses changes of foreign pages, by %s', async (_, headers) => {
      const visitor = await signedIn();
      expect((await visitor.post('/api/hello', {}, headers)).status).toBe(403);
      // The API has no such route.
      expect((await visitor.post('/api/hello', {})).status).toBe(404);
    });

    it('refuses a sign-out of a foreign page', async () => {
      const visitor = await signedIn();
      const form = formOf((await visitor.visit('/account')).body, 'Sign out');
      expect((await visitor.post('/account', form, { Origin: 'https://evil.example' })).status).toBe(500);
      expect((await visitor.visit('/account')).body).toContain('Hello, Ada!');
    });

    it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/\t/evil.example'])(
      'leads to no other site after the sign-in: %j',
      async (next) => {
        const { body } = await new Visitor(host.urls.web!).visit(`/login?next=${encodeURIComponent(next)}`);
        expect(formOf(body, 'Sign in').get('next')).toBe('/account');
      },
    );

    describeWithBrowser('in a browser', () => {
      let browser: Browser;
      beforeAll(async () => void (browser = await openBrowser()));
      afterAll(() => browser?.close());

      it('signs in, also after a link on another site, and signs out', async () =>
        worksInABrowser(await browser.newPage(), frontEnd()));
    });
  });
});
