import { readFile } from 'node:fs/promises';
import { describeWithBrowser } from '../support/browser';
import { SampleVisit, Tab } from '../support/sample-page';

const ADA = 'ada@example.com';
const [FIRST, SECOND, THIRD] = ['a horse with wings', 'another horse entirely', 'a third one, of wood'];

describeWithBrowser('an account at the page of the sample', () => {
  let visit: SampleVisit;
  let tab: Tab;

  beforeAll(async () => {
    visit = await SampleVisit.begin();
    tab = await visit.tab();
  }, 60_000);
  afterAll(() => visit?.end());

  const badge = (text: string) => tab.page.locator('main').getByText(text, { exact: true }).waitFor();

  it('is registered, after the form has said what is wrong', async () => {
    await tab.sees('Sign in');
    await tab.page.getByRole('link', { name: 'Create an account' }).click();
    await tab.sees('Create an account');
    await tab.fills({ Name: 'Ada', Email: ADA, Password: 'password' });
    await tab.presses('Create the account');
    await tab.isRefused('This password is one of the most common ones.');
    await tab.page.locator('.summary a').click();
    await tab.hasFocus(tab.field('Password'));
    expect(await tab.field('Password').getAttribute('aria-invalid')).toBe('true');
    await tab.field('Password').fill(FIRST);
    await tab.presses('Create the account');
    await tab.sees('Overview');
    await tab.page.getByRole('heading', { name: 'Hello, Ada' }).waitFor();
  });

  it('shows what its token says, how long it lives, and renews it when asked to', async () => {
    const { jti, amr } = await tab.payload();
    expect(amr).toEqual(['pwd']);
    expect(JSON.parse(await tab.page.locator('#token-header').innerText())).toEqual({ alg: 'HS256', typ: 'at+jwt' });
    await tab.page.getByText(/^1[45]:\d\d left$/).waitFor();
    await tab.presses('Renew it now');
    await tab.hears('Renewed.');
    expect((await tab.payload()).jti).not.toBe(jti);
  });

  it('confirms its address by the link in the mailbox, which leaves nothing in the address bar', async () => {
    await badge('not confirmed');
    await tab.presses('Mail it again');
    await tab.hears('The link is on its way.');
    await tab.page.goto(await visit.mailed(ADA, '/email/verify/'));
    await tab.sees('Your address is confirmed');
    expect(tab.page.url()).toBe(`${visit.url}/#/verified`);
    await tab.page.getByRole('link', { name: 'go on' }).click();
    await tab.sees('Overview');
    await badge('confirmed');
  });

  it('changes its password, which ends its other sessions', async () => {
    const other = await visit.tab();
    await other.signsIn(ADA, FIRST);
    await other.sees('Overview');
    await tab.goes('Password');
    await tab.fills({ 'Current password': 'wrong', 'New password': SECOND });
    await tab.presses('Change the password');
    await tab.isRefused('The password is not correct.');
    await tab.fills({ 'Current password': FIRST });
    await tab.presses('Change the password');
    await tab.hears('Your password is changed.');
    await other.page.getByRole('link', { name: 'Sessions' }).click();
    await other.sees('Sign in');
    await other.hears('Your session has ended.');
    await other.page.context().close();
  });

  it('ends one session, all others, and all', async () => {
    const login = () => visit.sample.call('POST', '/auth/login', { email: ADA, password: SECOND });
    await tab.goes('Sessions');
    const rows = tab.page.locator('main').getByRole('listitem');
    expect(await rows.count()).toBe(1);
    await login();
    await login();
    await tab.page.reload();
    await tab.sees('Sessions');
    await tab
      .button(/^End the session of/)
      .first()
      .click();
    await tab.hears('The session has ended.');
    expect(await rows.count()).toBe(2);
    await tab.presses('End all others');
    await tab.hears('All other sessions have ended.');
    expect(await rows.count()).toBe(1);
    await tab.presses('Sign out everywhere…');
    await tab.answers('Cancel');
    await tab.hasFocus(tab.button('Sign out everywhere…'));
    await tab.presses('Sign out everywhere…');
    await tab.answers('Sign out everywhere');
    await tab.hears('You are signed out everywhere.');
  });

  it('refuses a wrong password, and tells nobody which addresses it knows', async () => {
    for (const email of [ADA, 'nobody@example.com']) {
      await tab.signsIn(email, 'wrong');
      await tab.isRefused('These credentials do not match our records.');
    }
  });

  it('gets another password by a mailed link, whose token is nowhere to be seen', async () => {
    for (const email of ['nobody@example.com', ADA]) {
      await tab.page.getByRole('link', { name: 'Forgot your password?' }).click();
      await tab.sees('Forgot your password?');
      await tab.fills({ Email: email });
      await tab.presses('Mail the link');
      await tab.sees('Look into your mail');
      await tab.page.getByText(`If there is an account for ${email}, a link is on its way.`).waitFor();
      await tab.page.getByRole('link', { name: 'Back to sign in' }).click();
      await tab.sees('Sign in');
    }
    const asked: string[] = [];
    tab.page.on('request', (request) => asked.push(`${request.url()} ${request.headers().referer ?? ''}`));
    const link = await visit.mailed(ADA, '/reset-password');
    const token = new URL(link).searchParams.get('token')!;
    await tab.page.goto(link);
    await tab.sees('Choose a new password');
    expect(tab.page.url()).toBe(`${visit.url}/#/reset-password`);
    expect(asked.filter((line) => line.includes(token))).toEqual([expect.stringContaining('/reset-password?')]);
    expect(await tab.page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(token);

    await tab.fills({ 'New password': THIRD });
    await tab.presses('Set the password');
    await tab.hears('Your password is changed.');
    await tab.signsIn(ADA, THIRD);
    await tab.sees('Overview');
  });

  it('takes its data along, confirmed by the password, with one question for several requests', async () => {
    await tab.goes('Your data');
    const save = tab.page.waitForEvent('download');
    await tab.presses('Download your data');
    await tab.dialog().waitFor();
    await tab.confirms('wrong');
    await tab.isRefused('The password is not correct.');
    await tab.confirms(THIRD);
    const saved = await save;
    expect(saved.suggestedFilename()).toBe('account.json');
    expect(JSON.parse(await readFile(await saved.path(), 'utf8'))).toMatchObject({ account: { identifier: ADA } });
  });

  it('does nothing that is not confirmed', async () => {
    // Another session, so that the proof of the first is worth nothing.
    await tab.signsOut();
    await tab.signsIn(ADA, THIRD);
    await tab.sees('Overview');
    await tab.goes('Your data');
    await tab.presses('Delete the account…');
    await tab.answers('Delete it');
    await tab.page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    await tab.page.keyboard.press('Escape');
    await tab.dialog().waitFor({ state: 'detached' });
    await tab.goes('Overview');
  });

  it('is deleted', async () => {
    await tab.goes('Your data');
    await tab.presses('Delete the account…');
    await tab.answers('Delete it');
    await tab.page.getByRole('heading', { name: 'Is it you?' }).waitFor();
    await tab.confirms(THIRD);
    await tab.hears('Your account is deleted.');
    await tab.signsIn(ADA, THIRD);
    await tab.isRefused('These credentials do not match our records.');
  });

  it('has broken no rule of the page', () => expect(visit.complaints).toEqual([]));
});
