import { describeWithBrowser, openWithoutStorage } from '../support/clients/browser';
import { type ClientTab, CLIENT_PASSWORD, ClientVisitor } from '../support/clients/client-page';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit } from '../support/sample/sample-page';

const MINUTES_OF_LIFE = 15;
const KEY = 'svc-auth:/auth';
const DEVICE_KEY = `${KEY}:device`;
/** The challenge of the guard for a refused access token. */
const REFUSED = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
const LIMITS = { SVC_REGISTER_MAX_ATTEMPTS: '1000', SVC_VERIFY_MAX_ATTEMPTS: '1000' };

const MODES = [
  ['cookie', { SVC_COOKIE_MODE: 'true' }],
  ['localStorage', {}],
] as const;

/** Waits until all tabs have the same token, which is not `before`. */
async function sharedToken(tabs: ClientTab[], before?: string): Promise<string> {
  let tokens: (string | undefined)[] = [];
  await eventually(async () => {
    tokens = await Promise.all(tabs.map((tab) => tab.token()));
    return !tokens.includes(before) && new Set(tokens).size === 1;
  });
  return tokens[0]!;
}

describeWithBrowser('the browser client', () => {
  const visit = SampleVisit.forFile();

  // Without a grace period: two tabs that present the same refresh token end the session.
  describe.each(MODES)('with the refresh token in %s, and no grace period', (refreshToken, env) => {
    visit.forTests({ ...LIMITS, ...env, SVC_GRACE: '0' });
    const isCookie = refreshToken === 'cookie';
    let person: ClientVisitor;
    let tab: ClientTab;
    let email: string;

    beforeEach(async () => {
      person = await ClientVisitor.of(visit);
      tab = await person.tab({ refreshToken });
      email = await tab.registers();
      await tab.events();
      person.refreshes.splice(0);
    });
    afterEach(() => person.context.close());

    /** Three tabs of one session. */
    const threeTabs = async (): Promise<ClientTab[]> => {
      const tabs = [tab, await person.tab({ refreshToken }), await person.tab({ refreshToken })];
      for (const other of tabs.slice(1)) await other.run('auth.restore()');
      await sharedToken(tabs);
      for (const one of tabs) await one.events();
      person.refreshes.splice(0);
      return tabs;
    };

    it('signs in, and rejects a wrong password with its messages', async () => {
      await tab.run('auth.logout()');
      expect(await tab.rejected(`auth.login(${JSON.stringify({ email, password: 'wrong' })})`)).toMatchObject({
        name: 'AuthError',
        status: 422,
        errors: { email: ['These credentials do not match our records.'] },
      });
      expect(await tab.logsIn(email)).toBeNull();
      expect(await tab.claims()).toMatchObject({ amr: ['pwd'] });
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
      expect(await tab.events()).toEqual(['signedOut logout', 'signedIn login']);
    });

    it('keeps the access token in memory only, and restores the session after a reload', async () => {
      const [token, storage] = [await tab.token(), await tab.storage()];
      expect(Object.keys(storage).toSorted()).toEqual(isCookie ? [KEY] : [KEY, DEVICE_KEY]);
      expect(JSON.stringify(storage)).not.toContain(token);
      const cookies = await person.context.cookies();
      if (isCookie) {
        expect(storage[KEY]).toBe('1');
        const hidden = { httpOnly: true, sameSite: 'Strict' };
        expect(cookies.toSorted((a, b) => a.name.length - b.name.length)).toMatchObject([
          { name: 'refresh', ...hidden },
          { name: 'refresh.device', ...hidden },
        ]);
      } else expect(cookies).toEqual([]);
      const { fid } = (await tab.claims())!;
      await tab.reload();
      expect(await tab.run('auth.session')).toBeNull();
      expect(await tab.run('auth.restore()')).toMatchObject({ claims: { fid } });
      expect(await tab.events()).toEqual(['signedIn restored']);
      expect(person.refreshes).toHaveLength(1);
    });

    it('sends no request to restore a session where there is none', async () => {
      const stranger = await ClientVisitor.of(visit);
      const empty = await stranger.tab({ refreshToken });
      expect(await empty.run('auth.restore()')).toBeNull();
      expect(await empty.run('auth.accessToken()')).toBeNull();
      expect(stranger.refreshes).toEqual([]);
      await stranger.context.close();
    });

    it('renews in three tabs at once with one request', async () => {
      const tabs = await threeTabs();
      const before = await tab.token();
      // No answer before all tabs have asked: a tab that asks later renews the new token.
      let asked: Promise<unknown> = Promise.resolve();
      await person.context.route('**/auth/refresh', async (route) => {
        await asked;
        await route.fallback();
      });
      asked = Promise.all(tabs.map((one) => one.run('void (globalThis.renewal = auth.renew())')));
      await asked;
      await Promise.all(tabs.map((one) => one.run('renewal')));
      await sharedToken(tabs, before);
      expect(person.refreshes).toHaveLength(1);
      const events = await Promise.all(tabs.map((one) => one.events()));
      expect(events.flat().toSorted()).toEqual(['renewed', 'renewed other tab', 'renewed other tab']);
      for (const one of tabs) expect(await one.run(`auth.fetch('/user').then(({ status }) => status)`)).toBe(200);
    });

    it('renews three refused tokens with one request, and repeats the requests', async () => {
      const tabs = await threeTabs();
      const before = await tab.token();
      await person.context.route('**/user', (route) =>
        route.request().headers().authorization === `Bearer ${before}`
          ? route.fulfill({ status: 401, headers: REFUSED, json: { message: 'Authentication is required.' } })
          : route.fallback(),
      );
      const answers = await Promise.all(tabs.map((one) => one.run(`auth.request('GET', '/user')`)));
      expect(answers).toMatchObject(tabs.map(() => ({ data: { email } })));
      expect(person.refreshes).toHaveLength(1);
    });

    it('signs out in all tabs', async () => {
      const [first, second, third] = (await threeTabs()) as [ClientTab, ClientTab, ClientTab];
      await second.run('auth.logout()');
      await eventually(async () => !(await first.token()) && !(await third.token()));
      expect(await first.events()).toEqual(['signedOut logout other tab']);
      expect(await second.events()).toEqual(['signedOut logout']);
      // The token of the device remains: the next sign-in is not one on a new device.
      // The storage of this tab may be later than the message of the other one.
      const kept = async () => Object.keys(await first.storage());
      await eventually(async () => !(await kept()).includes(KEY));
      expect(await kept()).toEqual(isCookie ? [] : [DEVICE_KEY]);
      expect(await first.rejected(`auth.request('GET', '/user')`)).toMatchObject({ status: 401 });
    });

    it('signs in in all tabs, also as another user', async () => {
      const tabs = await threeTabs();
      await tabs[1]!.run('auth.logout()');
      const other = await tabs[2]!.registers();
      await sharedToken(tabs);
      expect(await tab.events()).toEqual(['signedOut logout other tab', 'signedIn login other tab']);
      expect(await tab.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email: other } });
      expect(person.refreshes).toEqual([]);
    });

    it('ends the session in all tabs when the server does not renew it', async () => {
      const tabs = await threeTabs();
      const { access_token: token } = (
        await visit.sample.call('POST', '/auth/login', { email, password: CLIENT_PASSWORD })
      ).body;
      await visit.sample.call('DELETE', '/auth/sessions', undefined, token);
      expect(await tab.rejected(`auth.request('GET', '/user')`)).toMatchObject({ status: 401, reason: 'signedOut' });
      await eventually(async () => !(await tabs[2]!.token()));
      expect(await tab.events()).toEqual(['signedOut ended']);
      expect(await tabs[2]!.events()).toEqual(['signedOut ended other tab']);
      expect(await tab.storage()).not.toHaveProperty([KEY]);
    });

    it('keeps the session while the server cannot renew it, and offline', async () => {
      const before = await tab.token();
      await person.context.route('**/auth/refresh', (route) =>
        route.fulfill({ status: 503, json: { message: 'Not now.' } }),
      );
      expect(await tab.rejected('auth.renew()')).toMatchObject({ status: 503, message: 'Not now.' });
      await person.context.unroute('**/auth/refresh');
      await person.context.setOffline(true);
      expect(await tab.rejected('auth.renew()')).toMatchObject({ status: 0, reason: 'unreachable' });
      expect(await tab.token()).toBe(before);
      await person.context.setOffline(false);
      expect(await tab.run('auth.renew()')).toMatchObject({ claims: { fid: (await tab.claims())!.fid } });
      expect(await tab.token()).not.toBe(before);
    });

    it('renews by itself before the token expires, once for all tabs', async () => {
      const other = await ClientVisitor.of(visit);
      await other.context.clock.install();
      const first = await other.tab({ refreshToken });
      await first.logsIn(email);
      const tabs = [first, await other.tab({ refreshToken })];
      await tabs[1]!.run('auth.restore()');
      let token = await sharedToken(tabs);
      other.refreshes.splice(0);
      for (let round = 1; round <= 3; round++) {
        await other.context.clock.fastForward(MINUTES_OF_LIFE * 60_000);
        token = await sharedToken(tabs, token);
        expect(other.refreshes.length).toBeGreaterThanOrEqual(round);
        // A tab hears of the renewal by a message, which can come after the lock: then it renews once more.
        expect(other.refreshes.length).toBeLessThanOrEqual(tabs.length * round);
      }
      await other.context.close();
    });
  });

  describe.each(MODES)('with the refresh token in %s', (refreshToken, env) => {
    visit.forTests({ ...LIMITS, ...env });
    let person: ClientVisitor;
    let tab: ClientTab;

    beforeEach(async () => {
      person = await ClientVisitor.of(visit);
      tab = await person.tab({ refreshToken });
      await tab.registers();
    });
    afterEach(() => person.context.close());

    it('repeats a refresh whose answer is lost, and the session continues', async () => {
      const [before, { fid }] = [await tab.token(), (await tab.claims())!];
      const cookie = (await person.context.cookies()).find(({ name }) => name === 'refresh');
      const { [KEY]: token } = await tab.storage();
      let answers = 0;
      await person.context.route('**/auth/refresh', async (route) => {
        if (answers++ > 0) return route.fallback();
        // The server rotates the token, and the connection breaks before its answer.
        const { status } = await fetch(`${visit.url}/auth/refresh`, {
          method: 'POST',
          headers: cookie ? { Cookie: `${cookie.name}=${cookie.value}` } : { 'Content-Type': 'application/json' },
          ...(!cookie && { body: JSON.stringify({ refresh_token: token }) }),
        });
        expect(status).toBe(200);
        return route.abort();
      });
      expect(await tab.run('auth.renew()')).toMatchObject({ claims: { fid } });
      expect(await tab.token()).not.toBe(before);
      expect(answers).toBe(2);
      expect(await tab.run(`auth.fetch('/user').then(({ status }) => status)`)).toBe(200);
      await person.context.unroute('**/auth/refresh');
      expect(await tab.run('auth.renew()')).toMatchObject({ claims: { fid } });
    });

    it('signs in and out where the user blocks storage, and with it Web Locks', async () => {
      const context = await openWithoutStorage();
      try {
        const page = await (await ClientVisitor.of(visit, context)).tab({ refreshToken });
        expect(await page.rejected('localStorage.length')).toMatchObject({ name: 'SecurityError' });
        expect(await page.rejected(`navigator.locks.request('any', () => 0)`)).toMatchObject({ name: 'SecurityError' });
        const email = await page.registers();
        expect(await page.run(`auth.request('GET', '/user')`)).toMatchObject({ data: { email } });
        // The browser does not keep the cookie of the server.
        if (refreshToken === 'localStorage') expect(await page.run('auth.renew()')).toMatchObject({ claims: {} });
        await page.events();
        await page.run('auth.logout()');
        expect(await page.logsIn(email)).toBeNull();
        expect(await page.events()).toEqual(['signedOut logout', 'signedIn login']);
      } finally {
        await context.close();
      }
    });

    it('stays signed in in three tabs without Web Locks', async () => {
      await person.context.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
      await tab.reload();
      const tabs = [tab, await person.tab({ refreshToken }), await person.tab({ refreshToken })];
      expect(await tab.run('navigator.locks === undefined')).toBe(true);
      await Promise.all(tabs.map((one) => one.run('auth.restore()')));
      await Promise.all(tabs.map((one) => one.run('auth.renew()')));
      for (const one of tabs) expect(await one.run(`auth.fetch('/user').then(({ status }) => status)`)).toBe(200);
      expect((await Promise.all(tabs.map((one) => one.events()))).flat()).not.toContain('signedOut ended');
    });
  });

  describe('with the refresh token in memory', () => {
    visit.forTests(LIMITS);

    it('has a session for each tab, which a reload ends, and stores nothing', async () => {
      const person = await ClientVisitor.of(visit);
      const [first, second] = [
        await person.tab({ refreshToken: 'memory' }),
        await person.tab({ refreshToken: 'memory' }),
      ];
      const email = await first.registers();
      expect(await second.token()).toBeUndefined();
      await second.logsIn(email);
      expect((await first.claims())!.fid).not.toBe((await second.claims())!.fid);
      await second.run('auth.logout()');
      expect(await first.run('auth.renew()')).toMatchObject({ claims: { fid: (await first.claims())!.fid } });
      expect(await first.storage()).toEqual({});
      await first.reload();
      expect(await first.run('auth.restore()')).toBeNull();
      await person.context.close();
    });

    it('ends a session whose refresh token was used twice', async () => {
      const person = await ClientVisitor.of(visit);
      const tab = await person.tab({ refreshToken: 'localStorage' });
      await tab.registers();
      const { [KEY]: stolen } = await tab.storage();
      const refresh = (token: string) => visit.sample.call('POST', '/auth/refresh', { refresh_token: token });
      const { refresh_token: next } = (await refresh(stolen!)).body;
      await refresh(next!);
      // The grace period is over.
      await visit.sql(`UPDATE svc_sessions SET recent = '{}'`);
      expect(await tab.run('auth.renew()')).toBeNull();
      expect(await tab.events()).toEqual(['signedIn login', 'signedOut ended']);
      expect(await tab.storage()).not.toHaveProperty([KEY]);
      await person.context.close();
    });
  });
});
