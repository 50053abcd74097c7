import type { Browser } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { describeWithRedis } from '../support/stores/with-redis';
import { offersRoutesOf } from './life-of-a-session';
import {
  OWN,
  Visitor,
  followsOwnPathsOnly,
  inCookieMode,
  passesOnTheAddress,
  refusesForeignPages,
  register,
  rendersForTheUser,
  worksInABrowser,
} from './server-rendered';

describeWithRedis('the example sveltekit', () => {
  let host: RunningExample;
  beforeAll(async () => void (host = await start('sveltekit')));
  afterAll(() => host?.stop());

  const frontEnd = () => inCookieMode(host.urls);
  rendersForTheUser(frontEnd);
  refusesForeignPages(frontEnd);
  followsOwnPathsOnly(frontEnd, (html) => /\bnext:"([^"]*)"/.exec(html)?.[1]);
  // Nothing is in front of this server, so the browser could have chosen the header.
  passesOnTheAddress(frontEnd, '203.0.113.7', '127.0.0.1');

  it('renders the page for the user under each spelling of its path, also its data', async () => {
    const visitor = new Visitor(host.urls.web!);
    await frontEnd().signIn(visitor, await register(host.urls.api!, 'Ada'));
    for (const path of ['/%61ccount', '/%61ccount/__data.json', '/account/__data.json']) {
      visitor.drop('__Host-access');
      const { status, headers, body } = await visitor.open(path);
      expect([status, body]).toEqual([200, expect.stringContaining('Hello, Ada!')]);
      expect(headers.get('cache-control')).toMatch(OWN);
    }
  });

  describe('behind a proxy', () => {
    let other: RunningExample;
    beforeAll(
      async () => void (other = await start('sveltekit', { ADDRESS_HEADER: 'x-forwarded-for', XFF_DEPTH: '1' })),
    );
    afterAll(() => other?.stop());

    passesOnTheAddress(() => inCookieMode(other.urls), '198.51.100.9, 203.0.113.7', '203.0.113.7');
  });

  it('offers the routes of its page', () => offersRoutesOf('sveltekit', Object.values(host.urls)));

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => void (browser = await openBrowser()));
    afterAll(() => browser?.close());

    it('signs in, also after a link on another site, and signs out', async () =>
      worksInABrowser(await browser.newPage(), frontEnd()));
  });
});
