import type { BrowserContext } from 'playwright-core';
import { describeWithBrowser, openWithoutStorage } from '../support/clients/browser';
import { SampleVisit } from '../support/sample/sample-page';

describeWithBrowser('the page of the sample, in a browser that stores nothing', () => {
  const visit = SampleVisit.forFile();
  let person: BrowserContext;

  beforeEach(async () => void (person = await openWithoutStorage()));
  afterEach(() => person.close());

  describe('in body mode', () => {
    visit.forTests();

    it('signs in, renews and signs out in one tab, and says how long the session lasts', async () => {
      const tab = await visit.tab(person);
      await tab.page.getByText('the session ends when you reload or close the page').waitFor();
      await tab.presses('Use the demo account');
      await tab.sees('Overview');
      await tab.presses('Renew now');
      await tab.lives('Renewed');
      await tab.page.getByText('This browser stores nothing for this page').waitFor();
      expect(await tab.page.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
      expect(await tab.page.getByRole('link', { name: 'Open a second tab.' }).count()).toBe(0);
      await tab.signsOut();
      expect(visit.complaints).toEqual([]);
    });
  });

  describe('in cookie mode', () => {
    visit.forTests({ SVC_COOKIE_MODE: 'true' });

    it('says that the browser has to allow cookies', async () => {
      const tab = await visit.tab(person);
      await tab.page.getByText('Allow cookies for this page to sign in.').waitFor();
      expect(visit.complaints).toEqual([]);
    });
  });
});
