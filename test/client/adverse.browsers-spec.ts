import type { Dialog, Frame, Page } from 'playwright-core';
import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { VirtualAuthenticator, describeWithBrowser, inFirefox } from '../support/clients/browser';
import { CLIENT_PASSWORD, type ClientTab, ClientVisitor } from '../support/clients/client-page';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit } from '../support/sample/sample-page';

const LIMITS = { SVC_REGISTER_MAX_ATTEMPTS: '1000', SVC_COOKIE_MODE: 'true' };
const POLLS = 40;
const HOUR_MS = 3_600_000;
/** What a gateway answers, and not the guard. */
const GATEWAY = { contentType: 'application/json', body: '{"message":"Forbidden"}' };

/** A page without the functions of WebAuthn Level 3 for JSON, of which one throws, as with some password managers. */
const WITHOUT_JSON = `
  delete PublicKeyCredential.parseRequestOptionsFromJSON;
  delete PublicKeyCredential.parseCreationOptionsFromJSON;
  PublicKeyCredential.prototype.toJSON = () => { throw new TypeError('Illegal invocation'); };
`;

/** Waits until the page shows an alert, which stays open. */
async function alertIn(page: Page, work: () => Promise<unknown>): Promise<Dialog> {
  const shown = new Promise<Dialog>((resolve) => page.once('dialog', resolve));
  await work();
  return shown;
}

describeWithBrowser('the browser client, in adverse conditions,', () => {
  const visit = SampleVisit.forFile();
  visit.forTests(LIMITS);
  let person: ClientVisitor;
  let tab: ClientTab;
  let email: string;

  beforeEach(async () => {
    person = await ClientVisitor.of(visit);
    tab = await person.tab({});
    email = await tab.registers();
    await tab.events();
    person.refreshes.splice(0);
  });
  afterEach(() => person.context.close());

  const credentials = () => JSON.stringify({ email, password: CLIENT_PASSWORD });

  describe('beside a tab with an open alert', () => {
    let other: ClientTab;

    beforeEach(async () => {
      other = await person.tab({});
      await other.run('auth.restore()');
    });

    const works = async () => {
      expect(await tab.run('auth.renew()')).toMatchObject({ claims: {} });
      await tab.run('auth.logout()');
      expect(await tab.logsIn(email)).toBeNull();
      const next = await person.tab({});
      expect(await next.run('auth.restore()')).toMatchObject({ claims: { fid: (await tab.claims())!.fid } });
    };

    it('of a listener, renews, signs out and in, and restores the session in a new tab', async () => {
      await other.run(`void auth.on('renewed', () => alert('Renewed.'))`);
      const dialog = await alertIn(other.page, () => other.run('void auth.renew()'));
      await works();
      await dialog.accept();
    });

    it('during a request under the lock, takes the lock after its time', async () => {
      await person.context.route('**/auth/refresh', () => undefined, { times: 1 });
      // The alert opens while the tab has the lock.
      const dialog = await alertIn(other.page, () =>
        other.run(`void (auth.renew().catch(() => undefined), setTimeout(() => alert('Now.'), 500))`),
      );
      await tab.run(`void ((timeout) => {
        AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms > 15_000 ? 200 : ms);
      })(AbortSignal.timeout)`);
      await works();
      await dialog.accept();
    });
  });

  it('sends no refresh for refusals of another API, and ends no session for those of a gateway', async () => {
    await person.context.route('**/reports', (route) =>
      route.fulfill({ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="reports"' }, ...GATEWAY }),
    );
    const poll = `Promise.all(Array.from({ length: ${POLLS} }, () => auth.fetch('/reports').then(({ status }) => status)))`;
    expect(await tab.run(poll)).toEqual(Array.from({ length: POLLS }, () => 401));
    expect(person.refreshes).toEqual([]);
    for (const status of [401, 403]) {
      await person.context.route('**/auth/{refresh,logout}', (route) => route.fulfill({ status, ...GATEWAY }));
      for (const call of ['auth.renew()', 'auth.logout()'])
        expect(await tab.rejected(call)).toMatchObject({ status, reason: 'unreachable' });
      await person.context.unroute('**/auth/{refresh,logout}');
    }
    expect(await tab.run('auth.renew()')).toMatchObject({ claims: {} });
    expect(await tab.events()).toEqual(['renewed']);
  });

  it('renews in time although the clock is set back by three hours', async () => {
    const { context } = person;
    await context.clock.install();
    const page = await person.tab({});
    await page.logsIn(email);
    const before = await page.token();
    await context.clock.setSystemTime(Date.now() - 3 * HOUR_MS);
    await context.clock.fastForward(HOUR_MS / 4);
    await eventually(async () => (await page.token()) !== before);
    await page.page.close();
  });

  it('reads a text, and a table', async () => {
    const types = { 'text/csv': 'id,name\n1,Zoë\n', 'text/plain; charset=utf-8': '42' };
    for (const [contentType, body] of Object.entries(types)) {
      await person.context.route('**/export', (route) => route.fulfill({ contentType, body }), { times: 1 });
      expect(await tab.run(`auth.request('GET', '/export')`)).toBe(body);
    }
  });

  it('has the session of the page in a frame about:srcdoc', async () => {
    await tab.run(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = () => resolve();
      frame.srcdoc = '<p>A frame.</p>';
      document.documentElement.append(frame);
    })`);
    const frame = tab.page.frames().find((one) => one.url() === 'about:srcdoc') as Frame;
    const restored = `import('/web/auth-client.js').then(async ({ createAuthClient }) => {
      const auth = createAuthClient();
      await auth.restore();
      const { data } = await auth.request('GET', '/user');
      auth.close();
      return data;
    })`;
    expect(await frame.evaluate(restored)).toMatchObject({ email });
  });

  it('makes one request of a double click, and both clicks have its answer', async () => {
    await tab.run('auth.logout()');
    const sent: string[] = [];
    tab.page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    const twice = (call: string) => tab.run(`Promise.all([${call}, ${call}])`);
    expect(await twice(`auth.login(${credentials()})`)).toEqual([null, null]);
    const [first, second] = (await twice('auth.sessions()')) as [{ id: string }[], { id: string }[]];
    expect(first).toEqual(second);
    await tab.confirmsWith(CLIENT_PASSWORD);
    const [one, other] = (await twice('account.enrolTwoFactor()')) as [object, object];
    expect(one).toEqual(other);
    await twice('auth.logout()');
    const count = (path: string) => sent.filter((request) => request === `POST /auth${path}`).length;
    // The enrolment is sent again after the confirmation.
    expect(['/login', '/two-factor', '/confirm-password', '/logout'].map(count)).toEqual([1, 2, 1, 1]);
  });

  describe('with a passkey', () => {
    let authenticator: VirtualAuthenticator;

    beforeEach(async () => {
      authenticator = await VirtualAuthenticator.of(tab.page);
      await tab.confirmsWith(CLIENT_PASSWORD);
    });
    afterEach(() => authenticator.remove());

    it('creates one and signs in without the functions for JSON, with a double click', async () => {
      await tab.page.evaluate(WITHOUT_JSON);
      expect(await tab.run('auth.supportsPasskeys')).toBe(true);
      const add = 'account.addPasskey("Laptop")';
      await authenticator.touch(() => tab.run(`Promise.all([${add}, ${add}])`));
      expect(await authenticator.held()).toHaveLength(1);
      await tab.run('auth.logout()');
      const signIn = 'auth.loginWithPasskey()';
      await authenticator.touch(() => tab.run(`Promise.all([${signIn}, ${signIn}])`));
      expect(await tab.claims()).toMatchObject({ amr: ['webauthn'] });
      expect(await tab.events()).toEqual(['signedOut logout', 'signedIn login']);
    });

    it('lets the browser rename and forget one', async () => {
      await authenticator.touch(() => tab.run('account.addPasskey("Laptop")'));
      const renamed = `renamed-${email}`;
      await visit.sql(`UPDATE users SET email = '${renamed}' WHERE email = '${email}'`);
      expect(await tab.run('account.passkeys()')).toMatchObject({ user_name: renamed });
      const names = async () => (await authenticator.held()).map((one) => (one as { userName?: string }).userName);
      // Firefox has no signals.
      if (!inFirefox) await eventually(async () => (await names())[0] === renamed);
      await visit.sql('DELETE FROM svc_passkeys');
      await authenticator.touch(async () =>
        expect(await tab.rejected('auth.loginWithPasskey()')).toMatchObject({ reason: 'unknown_passkey' }),
      );
      if (!inFirefox) await eventually(async () => (await authenticator.held()).length === 0);
    });
  });
});

describeWithBrowser('the page of the sample, in adverse conditions,', () => {
  const visit = SampleVisit.forFile();
  visit.forTests();

  it('signs in with one request after a double click, and works beside a tab with an open alert', async () => {
    const person = await visit.person();
    const tab = await visit.tab(person);
    const sent: string[] = [];
    tab.page.on('request', (request) => request.url().endsWith('/auth/login') && sent.push(request.url()));
    await tab.fills({ Email: DEMO.user, Password: DEMO.password });
    await tab.button('Sign in').dblclick();
    await tab.sees('Overview');
    expect(sent).toHaveLength(1);
    const other = await visit.tab(person);
    const dialog = await alertIn(other.page, () =>
      other.page.evaluate(`import('/web/auth.js').then(({ auth }) => {
        auth.on('renewed', () => alert('Renewed.'));
        void auth.renew();
      })`),
    );
    await tab.comesToFront();
    await tab.presses('Renew now');
    await tab.lives('Renewed');
    const next = await visit.tab(person);
    await next.sees('Overview');
    await dialog.accept();
    expect(visit.complaints).toEqual([]);
    await person.close();
  });

  it('creates a passkey and signs in without the functions for JSON', async () => {
    const person = await visit.person();
    await person.addInitScript(WITHOUT_JSON);
    const tab = await visit.tab(person);
    const authenticator = await VirtualAuthenticator.of(tab.page);
    await tab.signsIn();
    await tab.goes('Passkeys');
    await tab.page.evaluate(`import('/web/auth.js').then(({ auth }) => auth.confirmPassword('${DEMO.password}'))`);
    await authenticator.touch(async () => {
      await tab.page.evaluate(`import('/web/auth.js').then(({ account }) => account.addPasskey('Laptop'))`);
    });
    await tab.page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await tab.signsOut();
    await authenticator.touch(async () => {
      await tab.presses('Sign in with a passkey');
      await tab.sees('Overview');
    });
    expect((await tab.payload()).amr).toEqual(['webauthn']);
    await authenticator.remove();
    await person.close();
  });
});
