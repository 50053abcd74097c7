import type { Browser } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { describeWithRedis } from '../support/stores/with-redis';
import { offersRoutesOf } from './life-of-a-session';
import { inCookieMode, refusesForeignPages, rendersForTheUser, worksInABrowser } from './server-rendered';

describeWithRedis('the example sveltekit', () => {
  let host: RunningExample;
  beforeAll(async () => void (host = await start('sveltekit')));
  afterAll(() => host?.stop());

  const frontEnd = () => inCookieMode(host.urls);
  rendersForTheUser(frontEnd);
  refusesForeignPages(frontEnd);

  it('offers the routes of its page', () => offersRoutesOf('sveltekit', Object.values(host.urls)));

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => void (browser = await openBrowser()));
    afterAll(() => browser?.close());

    it('signs in, also after a link on another site, and signs out', async () =>
      worksInABrowser(await browser.newPage(), frontEnd()));
  });
});
