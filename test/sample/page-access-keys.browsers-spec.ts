import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser } from '../support/clients/browser';
import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

describeWithBrowser('access keys on the page of the sample', () => {
  const visit = SampleVisit.forFile();
  visit.forTests();
  let tab: Tab;
  let key: string;

  const statusWith = async (credential: string, method = 'GET') =>
    (await visit.sample.call(method, '/orders', method === 'GET' ? undefined : { item: 'tea' }, credential)).status;
  const endKeys = () => tab.field('Also revoke my access keys');
  const isAccessible = async () => expect(await findingsIn(tab.page)).toEqual([]);

  beforeAll(async () => {
    tab = await visit.tab();
    await tab.page.setViewportSize(PHONE);
    await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    await tab.signsIn();
    await tab.sees('Overview');
  });

  it('are none at first, and the form of the password does not name them', async () => {
    await tab.goes('Password');
    expect(await endKeys().count()).toBe(0);
    await tab.goes('Access keys');
    await tab.page.getByText('No access keys yet.').waitFor();
    // The command is not cut on a phone.
    expect(await tab.page.locator('pre').evaluate((pre) => pre.scrollWidth - pre.clientWidth)).toBe(0);
    await isAccessible();
  });

  it('are created after a confirmation, with the errors at their fields', async () => {
    await tab.presses('New access key');
    await tab.fills({ Label: 'Nightly report', 'Only from these networks': 'nowhere' });
    await isAccessible();
    await tab.answers('Create key');
    await tab.confirms();
    await tab.isRefused('These are no networks.');
    await tab.fills({ 'Only from these networks': '127.0.0.0/8, ::1' });
    await tab.field('365 days').check();
    await tab.answers('Create key');
    await tab.page.getByRole('heading', { name: 'Your key for “Nightly report”' }).waitFor();
    key = (await tab.dialog().locator('.whole').textContent())!;
    expect(key).toMatch(/^orders_/);
    await isAccessible();
  });

  it('are shown once, with a button that copies them', async () => {
    await tab.hasFocus(tab.button('Copy key'));
    await tab.presses('Copy key');
    await tab.hears('Copied.');
    await tab.answers('Done');
    await tab.page.getByRole('heading', { name: 'Nightly report' }).waitFor();
    expect(await tab.page.content()).not.toContain(key);
    await tab.page.reload();
    await tab.sees('Access keys');
    const facts = await tab.page.locator('main .facts dd').allInnerTexts();
    expect(facts.slice(0, 2).map((text) => text.split(/\s+/))).toEqual([['orders.read'], ['127.0.0.0/8', '::1/128']]);
    expect(await tab.page.content()).not.toContain(key);
    await isAccessible();
  });

  it('are accepted by the route of a script, for their abilities, and by no other', async () => {
    expect(await statusWith(key)).toBe(200);
    expect(await statusWith(key, 'POST')).toBe(401);
    expect((await visit.sample.call('GET', '/user', undefined, key)).status).toBe(401);
  });

  it('end with the password if the user wants it', async () => {
    await tab.goes('Password');
    await isAccessible();
    await tab.fills({ 'Current password': DEMO.password, 'New password': 'another horse entirely' });
    await endKeys().check();
    await tab.presses('Change password');
    await tab.hears('Your password is changed.');
    expect(await endKeys().count()).toBe(0);
    expect(await statusWith(key)).toBe(401);
  });

  it('are refused after they were revoked', async () => {
    await tab.goes('Access keys');
    await tab.presses('New access key');
    await tab.fills({ Label: 'Cron' });
    await tab.answers('Create key');
    // The confirmation has ended with the former password.
    await tab.confirms('another horse entirely');
    await tab.dialog().locator('.whole').waitFor();
    key = (await tab.dialog().locator('.whole').textContent())!;
    await tab.answers('Done');
    expect(await statusWith(key)).toBe(200);
    await tab.presses('Revoke Cron');
    await tab.dialog().waitFor();
    await tab.answers('Revoke key');
    await tab.hears('Key revoked.');
    await tab.page.getByText('No access keys yet.').waitFor();
    expect(await statusWith(key)).toBe(401);
  });

  it('cause no violation of the policy of the page', () => expect(visit.complaints).toEqual([]));
});
