import { describeWithBrowser } from '../support/clients/browser';
import { CHECK_NAMES, LOOKS, ObservedPage } from '../support/clients/page-quality';
import { REFUSALS, SampleVisit, Tab } from '../support/sample/sample-page';

/** For a document with all views, without compression: the sample leaves that to a proxy. */
const BUDGET = { pictures: 4000, others: 220_000 };

describeWithBrowser('the quality of a page', () => {
  const visit = SampleVisit.forFile();
  visit.forTests({ SVC_GRACE: '600' });

  describe.each(LOOKS)('the page of the sample, %s', (_, look) => {
    let seen: ObservedPage;
    let tab: Tab;

    beforeAll(async () => {
      seen = await ObservedPage.open(await visit.person(look), visit.url, REFUSALS);
      tab = new Tab(seen.page);
    });
    afterAll(() => seen.page.context().close());

    it.each<[string, () => Promise<unknown>]>([
      [
        'the first visit',
        async () => {
          await tab.page.goto(visit.url);
          await tab.sees('Sign in');
        },
      ],
      [
        'a form with an error',
        async () => {
          await tab.signsIn('demo@example.com', 'wrong');
          await tab.isRefused('These credentials do not match our records.');
        },
      ],
      [
        'the life of a session',
        async () => {
          await tab.presses('Use the demo account');
          await tab.sees('Overview');
          await tab.presses('Renew now');
          await tab.lives('Renewed');
          await tab.presses('Replay the old token');
          await tab.lives('Replayed in time');
        },
      ],
      [
        'a session that is restored',
        async () => {
          await tab.page.reload();
          await tab.sees('Overview');
        },
      ],
      [
        'orders, with a refusal',
        async () => {
          await tab.goes('Orders');
          await tab.presses('Order tea');
          await tab.hears('Ordered: tea.');
          await tab.presses('Try without a token');
          await tab.page.getByText('401 Unauthorized').waitFor();
        },
      ],
      ['sessions', () => tab.goes('Sessions')],
      ['password', () => tab.goes('Password')],
      [
        'a second factor that is being set up',
        async () => {
          await tab.goes('Two-factor');
          await tab.presses('Set up two-factor');
          await tab.confirms();
          await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
        },
      ],
      ['devices', () => tab.goes('Devices')],
      ['history', () => tab.goes('History')],
      ['email', () => tab.goes('Email')],
      ['passkeys', () => tab.goes('Passkeys')],
      ['your data', () => tab.goes('Your data')],
      [
        'the end of a session',
        async () => {
          await tab.signsOut();
          await tab.lives('Ended');
        },
      ],
      [
        'a mailed code',
        async () => {
          await tab.page.goto(`${visit.url}/sign-in-code#code=12345678`);
          await tab.sees('Sign in with a code');
        },
      ],
      [
        'a mailed link with a button',
        async () => {
          await tab.page.goto(`${visit.url}/unknown-sign-in?token=t`);
          await tab.sees('Was this you?');
        },
      ],
      ['the mailbox', () => tab.page.goto(`${visit.url}/mailbox`)],
    ])('has no fault: %s', async (_view, show) => {
      await show();
      expect(await seen.faults(BUDGET)).toEqual([]);
    });
  });

  it('has a fault of every kind where one is planted', async () => {
    const seen = await ObservedPage.open(await visit.person(), visit.url);
    const { page } = seen;
    await page.route('https://elsewhere.test/', (route) => route.fulfill({ body: '' }));
    await page.route('**/planted', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<html><body><h1>Planted</h1>
          <button style="outline: none">Invisible focus</button><img src="/web/icon.svg">
          <a href="/1" style="font-size: 4px">one</a><a href="/2" style="font-size: 4px">two</a>
          <div style="width: 3000px">wide</div><p>below</p>
          <script>
            console.error('planted');
            fetch('https://elsewhere.test/').catch(() => 0);
            const grow = () => document.querySelector('h1').style.marginTop = '600px';
            // After the first frame: a shift counts only in a page that was painted.
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(grow, 200)));
          </script>`,
      }),
    );
    await page.goto(`${visit.url}/planted`);
    await page.waitForLoadState('networkidle');
    await page.locator('h1[style]').waitFor();
    const faults = await seen.faults({ pictures: 0, others: 0 });
    expect(CHECK_NAMES.filter((name) => !faults.some((fault) => fault.startsWith(name)))).toEqual([]);
    await page.context().close();
  });
});
