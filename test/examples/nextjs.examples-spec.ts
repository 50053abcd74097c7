import { once } from 'node:events';
import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { describeWithRedis } from '../support/stores/with-redis';
import { offersRoutesOf } from './life-of-a-session';
import {
  type FrontEnd,
  OWN,
  PASSWORD,
  Visitor,
  followsOwnPathsOnly,
  inCookieMode,
  passesOnTheAddress,
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

/** An API whose answers a cache may keep. Its requests come with a cookie instead of the token, so a cache would. */
const cacheable = (api: () => string, isDown: () => boolean): Server =>
  createServer((incoming, outgoing) => {
    if (isDown()) return outgoing.destroy();
    const { method, headers, url } = incoming;
    const sent = request(api() + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, { ...answer.headers, 'cache-control': 'public, max-age=60' });
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });

describeWithRedis('the example nextjs', () => {
  describe('in cookie mode', () => {
    let host: RunningExample;
    beforeAll(async () => void (host = await start('nextjs')));
    afterAll(() => host?.stop());

    const frontEnd = () => inCookieMode(host.urls);
    rendersForTheUser(frontEnd);
    refusesForeignPages(frontEnd);
    passesOnTheAddress(frontEnd, '203.0.113.7', '203.0.113.7');
    followsOwnPathsOnly(frontEnd, (html) => /\\"next\\":\\"([^"\\]*)/.exec(html)?.[1]);

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
    let front: Server;
    let isDown = false;
    beforeAll(async () => {
      front = cacheable(
        () => host.urls.api!,
        () => isDown,
      );
      await once(front.listen(0, '127.0.0.1'), 'listening');
      const API_URL = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
      host = await start('nextjs', { AUTH_MODE: 'token', API_URL }, 'token-mode');
    });
    afterAll(async () => {
      await host?.stop();
      front?.close();
    });

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
    passesOnTheAddress(frontEnd, '203.0.113.7', '203.0.113.7');

    const signedIn = async () => {
      const visitor = new Visitor(host.urls.web!);
      const email = await register(host.urls.api!, 'Ada');
      await frontEnd().signIn(visitor, email);
      return visitor;
    };

    it('keeps the email in the form after a refusal, without scripts', async () => {
      const refused = await submit(new Visitor(host.urls.web!), '/login', 'Sign in', {
        email: 'ada@example.com',
        password: 'another horse',
      });
      expect(refused.body).toContain('These credentials do not match our records.');
      expect(refused.body).toContain('value="ada@example.com"');
    });

    it('adds the access token to requests for the API, and renews it', async () => {
      const visitor = await signedIn();
      for (const _ of [1, 2]) {
        const { status, headers, body } = await visitor.open('/api/hello');
        expect([status, body]).toEqual([200, '{"greeting":"Hello, Ada!"}']);
        expect(headers.get('cache-control')).toMatch(OWN);
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

    it('ends the session with a sign-out after the access token has expired', async () => {
      const visitor = await signedIn();
      const copy = visitor.copy();
      visitor.drop('__Host-access');
      // The proxy renews nothing for this page.
      expect((await submit(visitor, '/login', 'Sign out')).headers.get('location')).toContain('/login');
      expect(visitor.cookies.has('__Host-refresh')).toBe(false);
      expect((await copy.visit('/account')).headers.get('location')).toContain('/login?next=%2Faccount&ended=1');
    });

    it('says in the form of the login that the API cannot be reached', async () => {
      const visitor = new Visitor(host.urls.web!);
      isDown = true;
      const answer = await frontEnd()
        .signIn(visitor, 'ada@example.com')
        .finally(() => void (isDown = false));
      expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('Please try again later.')]);
    });

    it('refuses a sign-out of a foreign page', async () => {
      const visitor = await signedIn();
      const form = formOf((await visitor.visit('/account')).body, 'Sign out');
      expect((await visitor.post('/account', form, { Origin: 'https://evil.example' })).status).toBe(500);
      expect((await visitor.visit('/account')).body).toContain('Hello, Ada!');
    });

    followsOwnPathsOnly(frontEnd, (html) => formOf(html, 'Sign in').get('next'));

    describeWithBrowser('in a browser', () => {
      let browser: Browser;
      beforeAll(async () => void (browser = await openBrowser()));
      afterAll(() => browser?.close());

      it('signs in, also after a link on another site, and signs out', async () =>
        worksInABrowser(await browser.newPage(), frontEnd()));
    });
  });
});
