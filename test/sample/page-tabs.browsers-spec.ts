import type { BrowserContext, Request } from 'playwright-core';
import { describeWithBrowser } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

const [MINUTES_OF_LIFE, ROUNDS] = [15, 5];

describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile();

  // Without a grace period: two tabs that present the same refresh token end the session. A tab that gets the lock before it hears
  // the message about a renewal renews once more, with the new token: then there is more than one request, and none of them is wrong.
  describe.each([
    ['body mode', {}],
    ['cookie mode', { SVC_COOKIE_MODE: 'true' }],
  ])('several tabs in %s', (mode, env) => {
    visit.forTests({ ...env, SVC_GRACE: '0' });
    let person: BrowserContext;
    let tabs: Tab[];
    let refreshes: Request[];

    beforeAll(async () => {
      person = await visit.person();
      await person.clock.install();
      refreshes = [];
      person.on('request', (request) => request.url().endsWith('/auth/refresh') && refreshes.push(request));
      const first = await visit.tab(person);
      await first.signsIn();
      await first.sees('Overview');
      tabs = [first, await visit.tab(person), await visit.tab(person)];
    });

    beforeEach(async () => {
      for (const tab of tabs) await tab.sees('Overview');
      await sharedToken('');
      refreshes.splice(0);
    });

    /** What the storage has, besides the token of the device, which is no credential and stays after a sign-out. */
    const stored = async (): Promise<Record<string, string>> => {
      const all = await tabs[0]!.page.evaluate<Record<string, string>>('({ ...localStorage, ...sessionStorage })');
      return Object.fromEntries(Object.entries(all).filter(([name]) => name !== 'svc-auth:/auth:device'));
    };

    /** Waits until all tabs have the same token, which differs from `before`. */
    async function sharedToken(before: string): Promise<string> {
      let held: string[] = [];
      await eventually(async () => {
        held = await Promise.all(tabs.map(async (tab) => (await tab.payload()).jti));
        return !held.includes(before) && new Set(held).size === 1;
      });
      return held[0]!;
    }

    it('stay signed in during five refreshes, in which no tab presents a token of another one', async () => {
      const { fid } = await tabs[0]!.payload();
      let jti = await sharedToken('');
      for (let round = 1; round <= ROUNDS; round++) {
        await person.clock.fastForward(MINUTES_OF_LIFE * 60_000);
        jti = await sharedToken(jti);
        expect(refreshes.length).toBeGreaterThanOrEqual(round);
        expect(refreshes.length).toBeLessThanOrEqual(tabs.length * round);
      }
      for (const tab of tabs) {
        expect(await tab.payload()).toMatchObject({ fid });
        await tab.comesToFront();
        await tab.goes('Sessions');
        await tab.page.getByText('This session').waitFor();
        await tab.goes('Overview');
      }
    });

    it('refresh a refused token, and repeat the request, in any tab', async () => {
      const { jti } = await tabs[0]!.payload();
      const refused = new Set<string>();
      await person.route('**/auth/sessions', async (route) => {
        const token = route.request().headers().authorization!;
        // Simulates the expiry of the token in all tabs.
        if (refused.size > 0 && !refused.has(token)) return route.continue();
        refused.add(token);
        const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
        await route.fulfill({ status: 401, headers, json: { message: 'Authentication is required.' } });
      });
      await Promise.all(tabs.map((tab) => tab.goesBehind('Sessions')));
      for (const tab of tabs) await tab.page.getByText('This session').waitFor();
      await person.unroute('**/auth/sessions');
      await Promise.all(tabs.map((tab) => tab.goesBehind('Overview')));
      expect(await sharedToken(jti)).not.toBe(jti);
      expect(refreshes.length).toBeGreaterThanOrEqual(1);
      expect(refreshes.length).toBeLessThanOrEqual(tabs.length);
    });

    it('stay signed in while the server cannot refresh, and refresh when it can', async () => {
      const [tab] = tabs as [Tab];
      const { jti } = await tab.payload();
      await person.route('**/auth/refresh', (route) => route.fulfill({ status: 503, json: { message: 'Not now.' } }));
      await person.clock.fastForward(MINUTES_OF_LIFE * 60_000);
      await eventually(async () => refreshes.length >= tabs.length);
      expect((await tab.payload()).jti).toBe(jti);
      await person.unroute('**/auth/refresh');
      await person.clock.fastForward(10_000);
      await sharedToken(jti);
    });

    it('sign out and in together', async () => {
      const [first, second, third] = tabs as [Tab, Tab, Tab];
      await second.comesToFront();
      await second.signsOut();
      await Promise.all([first.sees('Sign in'), third.sees('Sign in')]);
      // The storage of a tab may be later than the message of another one.
      await eventually(async () => Object.keys(await stored()).length === 0);
      await third.comesToFront();
      await third.signsIn();
      await Promise.all(tabs.map((tab) => tab.sees('Overview')));
      await sharedToken('');
      expect(refreshes).toEqual([]);
    });

    it('store no access token, and in cookie mode no refresh token', async () => {
      await eventually(async () => Object.keys(await stored()).length > 0);
      expect(Object.keys(await stored())).toEqual(['svc-auth:/auth']);
      const [kept] = Object.values(await stored());
      expect(kept).toMatch(mode === 'body mode' ? /^[\w-]{71}$/ : /^1$/);
      const cookies = (await person.cookies()).filter(({ name }) => name !== 'refresh.device');
      expect(cookies).toMatchObject(mode === 'body mode' ? [] : [{ httpOnly: true, sameSite: 'Strict' }]);
      await tabs[0]!.page.reload();
      await tabs[0]!.sees('Overview');
    });

    it('are signed out when the session is ended elsewhere, and cause no violation of the policy of the page', async () => {
      const { access_token: token } = (await visit.sample.login('demo@example.com')).body;
      await visit.sample.call('DELETE', '/auth/sessions', undefined, token);
      await tabs[0]!.link('Sessions').dispatchEvent('click');
      await Promise.all(tabs.map((tab) => tab.sees('Sign in')));
      expect(await stored()).toEqual({});
      expect(visit.complaints.filter((text) => !/status of 503/.test(text))).toEqual([]);
    });
  });
});
