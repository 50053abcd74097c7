import { randomBytes } from 'node:crypto';
import type { BrowserContext } from 'playwright-core';
import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { describeWithBrowser } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleAccount } from '../support/sample/sample-account';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

const PASSWORD = 'seven green bottles';
const HOUR_MS = 3_600_000;
const LIMITS = { SVC_REGISTER_MAX_ATTEMPTS: '1000' };

describeWithBrowser('the page of the sample, used as people use it,', () => {
  const visit = SampleVisit.forFile();
  visit.forTests(LIMITS);
  let person: BrowserContext;
  let tab: Tab;
  let sent: string[];

  beforeEach(async () => {
    person = await visit.person();
    tab = await visit.tab(person);
    sent = [];
    tab.page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  });
  afterEach(() => person.close());

  const count = (request: string) => sent.filter((one) => one === request).length;
  const token = () => tab.page.evaluate<string>(`import('/web/auth.js').then(({ auth }) => auth.session.token)`);
  const registers = async (email: string, press: () => Promise<unknown>) => {
    await tab.page.goto(`${visit.url}/#/register`);
    await tab.sees('Create your account');
    await tab.fills({ Name: 'Ada', Email: email, Password: PASSWORD });
    await press();
    await tab.sees('Overview');
  };

  it('takes a code that is typed in two groups, and one in full-width digits', async () => {
    const ada = await SampleAccount.of(visit);
    await ada.addAuthenticator();
    const spellings = [
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code: string) => code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ];
    for (const spelled of spellings) {
      await ada.signsIn(tab);
      await tab.sees('One more step');
      const code = await ada.code();
      // Keys, because a browser cuts only what a person types or pastes.
      await tab.field('Code from your authenticator app').pressSequentially(spelled(code));
      await tab.presses('Continue');
      await tab.sees('Overview');
      await tab.signsOut();
    }
  });

  it('knows one mailbox in each spelling of its domain', async () => {
    const name = randomBytes(6).toString('hex');
    await registers(`${name}@m\u00fcller.example`, () => tab.presses('Create account'));
    for (const domain of ['xn--mller-kva.example', 'mu\u0308ller.example', 'M\u00dcLLER.example']) {
      await tab.signsOut();
      await tab.signsIn(`${name}@${domain}`, PASSWORD);
      await tab.sees('Overview');
    }
    // An application sends the domain as it is typed.
    const credentials = { email: `${name}@m\u00fcller.example`, password: PASSWORD };
    expect((await visit.sample.call('POST', '/auth/login', credentials)).status).toBe(200);
  });

  it('creates one account, and sets one password, with a double click', async () => {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    await registers(email, () => tab.button('Create account').dblclick());
    expect(count('POST /auth/register')).toBe(1);
    await tab.signsOut();
    await visit.sample.call('POST', '/auth/forgot-password', { email });
    await tab.page.goto(await visit.mailed(email, '/reset-password'));
    await tab.sees('Choose a new password');
    await tab.fills({ 'New password': 'eight green bottles' });
    await tab.button('Set new password').dblclick();
    await tab.hears('Your password is changed. Sign in with the new one.');
    expect(count('POST /auth/reset-password')).toBe(1);
    await tab.signsIn(email, 'eight green bottles');
    await tab.sees('Overview');
  });

  it('keeps its session when another API or a gateway refuses, and reads a text', async () => {
    await tab.signsIn();
    await tab.sees('Overview');
    const refusal = { status: 401, contentType: 'application/json', body: '{"message":"Forbidden"}' };
    await person.route('**/reports', (route) => route.fulfill(refusal));
    await person.route('**/export', (route) => route.fulfill({ contentType: 'text/csv', body: 'id,name\n1,Zoë\n' }));
    sent.length = 0;
    const call = <T>(expression: string) =>
      tab.page.evaluate<T>(`import('/web/auth.js').then(({ auth }) => ${expression})`);
    expect(await call(`auth.fetch('/reports').then(({ status }) => status)`)).toBe(401);
    expect(await call(`auth.request('GET', '/export')`)).toBe('id,name\n1,Zoë\n');
    expect(count('POST /auth/refresh')).toBe(0);
    await person.route('**/auth/refresh', (route) => route.fulfill({ ...refusal, status: 403 }), { times: 1 });
    expect(await call(`auth.renew().then(() => null, ({ reason }) => reason)`)).toBe('unreachable');
    await tab.sees('Overview');
    expect(await call(`auth.session.claims.sub`)).toEqual(expect.any(String));
  });

  it('renews its token in time although the clock is set back', async () => {
    await person.clock.install();
    const later = await visit.tab(person);
    await later.signsIn(DEMO.user);
    await later.sees('Overview');
    tab = later;
    const before = await token();
    await person.clock.setSystemTime(Date.now() - 3 * HOUR_MS);
    await person.clock.fastForward(HOUR_MS / 4);
    await eventually(async () => (await token()) !== before);
  });
});
