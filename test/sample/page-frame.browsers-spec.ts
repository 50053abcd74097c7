import type { Locator } from 'playwright-core';
import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleAccount } from '../support/sample/sample-account';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

/** The controls of the page that a message is drawn above. */
const COVERED = `(() => {
  const toast = [...document.querySelectorAll('.toast')].find((one) => one.textContent);
  const { left, right, top, bottom } = toast.getBoundingClientRect();
  const found = new Set();
  for (let x = left + 1; x < right; x += 8)
    for (let y = top + 1; y < bottom; y += 4)
      for (const element of document.elementsFromPoint(x, y)) {
        const control = element.closest('a, button, input, select, summary');
        if (control && !toast.contains(control)) found.add(control.outerHTML);
      }
  return { height: bottom - top, isInView: bottom <= innerHeight && top >= 0, found: [...found] };
})()`;

/** Of a page. The tests are compiled without the types of a browser. */
interface Styles {
  getComputedStyle(element: unknown): { backgroundColor: string };
}

const boxOf = async (element: Locator) => (await element.boundingBox())!;

describeWithBrowser('around the views of the sample', () => {
  const visit = SampleVisit.forFile();
  visit.forTests({ SVC_REGISTER_MAX_ATTEMPTS: '1000' });
  let tab: Tab;

  beforeEach(async () => void (tab = await visit.tab()));
  afterEach(async () => {
    await tab.page.context().close();
    expect(visit.complaints).toEqual([]);
  });

  const signsIn = async () => {
    await tab.presses('Use the demo account');
    await tab.sees('Overview');
  };

  it.each([
    ['a phone', PHONE],
    ['a desktop', { width: 1280, height: 720 }],
  ])('a message covers no control on %s, wherever the page is scrolled to', async (_, size) => {
    await tab.page.setViewportSize(size);
    await signsIn();
    await tab.goes('Orders');
    for (const place of ['top', 'bottom']) {
      await tab.page.evaluate(`document.getElementById('page').scrollTo(0, ${place === 'top' ? 0 : 1e6})`);
      await tab.button('Order tea').evaluate((element: { click?(): void }) => element.click?.());
      await tab.hears('Ordered: tea.');
      const { height, isInView, found } = await tab.page.evaluate<{
        height: number;
        isInView: boolean;
        found: string[];
      }>(COVERED);
      expect([height > 20, isInView, found]).toEqual([true, true, []]);
      await tab.presses('Dismiss');
    }
  });

  it('the header says who is signed in, also after a change of the view, and nobody after the sign-out', async () => {
    const ada = await SampleAccount.of(visit);
    await ada.signsIn(tab);
    await tab.sees('Overview');
    const header = tab.page.getByRole('banner');
    await header.getByText(ada.email).waitFor();
    await tab.goes('Sessions');
    await header.getByText(ada.email).waitFor();
    await header.getByText('Ada', { exact: true }).waitFor();
    await tab.signsOut();
    expect((await header.innerText()).split('\n')).toEqual(['@svc/auth', 'NestJS · PostgreSQL · Redis']);
  });

  it('the views are behind a menu on a phone, and beside the view on a desktop', async () => {
    await signsIn();
    const menu = tab.button('Menu');
    expect(await menu.isVisible()).toBe(false);
    await tab.link('Orders').waitFor();
    await tab.page.setViewportSize(PHONE);
    await menu.waitFor();
    expect(await tab.link('Orders').isVisible()).toBe(false);
    await menu.click();
    await tab.link('Orders').waitFor();
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.page.keyboard.press('Escape');
    expect(await tab.link('Orders').isVisible()).toBe(false);
    await tab.hasFocus(menu);
    await tab.goes('Orders');
    expect(await tab.link('Orders').isVisible()).toBe(false);
  });

  it('the mailbox shows each mail as high as it is, also when it is opened later or the window changes', async () => {
    const { page } = tab;
    const open = page.locator('.mail[open] iframe');
    const isFitting = () =>
      eventually(() =>
        page.evaluate<boolean>(`[...document.querySelectorAll('.mail[open] iframe')].every((frame) => {
          const { URL: address, documentElement: mail } = frame.contentDocument;
          return address !== 'about:blank' && mail?.offsetHeight > 200 && mail.offsetHeight === frame.offsetHeight;
        })`),
      );
    await page.goto(`${visit.url}/mailbox/examples/en`);
    await isFitting();
    expect(await open.count()).toBe(2);
    await page.locator('summary').filter({ hasText: 'newSignIn' }).click();
    await isFitting();
    expect(await open.count()).toBe(4);
    expect(await page.locator('.templates [aria-current]').allInnerTexts()).toEqual(['English']);
    await page.setViewportSize({ width: 800, height: 700 });
    await isFitting();
    for (const mode of ['Light', 'Dark']) await page.getByText(mode, { exact: true }).first().waitFor();
    expect(await findingsIn(page)).toEqual([]);
  });

  it('an unknown address has a page with a way back', async () => {
    const answer = await tab.page.goto(`${visit.url}/nope`);
    // The browser logs the status.
    visit.complaints.splice(0);
    expect(answer!.status()).toBe(404);
    await tab.sees('Page not found');
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.page.getByRole('link', { name: 'Back to sign in' }).click();
    await signsIn();
    await tab.page.goto(`${visit.url}/#/nope`);
    await tab.sees('Page not found');
    await tab.page.getByRole('link', { name: 'Back to the overview' }).click();
    await tab.sees('Overview');
  });

  it('asks before it destroys something: what changes nothing is at the left, what destroys is filled and needs a word', async () => {
    await signsIn();
    await tab.goes('Your data');
    await tab.presses('Delete account');
    const [keep, destroy] = ['Cancel', 'Delete account'].map((name) =>
      tab.dialog().getByRole('button', { name, exact: true }),
    );
    // A key that was pressed too often destroys nothing: the field is empty.
    await tab.hasFocus(tab.dialog().getByLabel('Type “delete” to confirm'));
    await tab.page.keyboard.press('Enter');
    const [first, second] = [await boxOf(keep!), await boxOf(destroy!)];
    expect(first.y).toBe(second.y);
    expect(first.x + first.width).toBeLessThan(second.x);
    const filling = (button: Locator) =>
      button.evaluate((element) => (globalThis as unknown as Styles).getComputedStyle(element).backgroundColor);
    expect(await filling(destroy!)).not.toBe(await filling(keep!));
    await tab.answers('Cancel');
  });

  it('says at its field why a form is not sent, until the user changes the field', async () => {
    await tab.presses('Email me a code');
    await tab.sees('Sign in with a code');
    await tab.hasFocus(tab.field('Email'));
    await tab.presses('Send code');
    const error = tab.page.locator('.field:has([aria-invalid]:focus) .error');
    await error.getByText('Fill in this field.').waitFor();
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.page.keyboard.type('a');
    await error.waitFor({ state: 'detached' });
  });

  it('asks in a dialog without the message about what was done before', async () => {
    await signsIn();
    await tab.goes('Orders');
    await tab.presses('Order tea');
    await tab.hears('Ordered: tea.');
    await tab.presses('Order one of everything');
    await tab.dialog().getByRole('link', { name: 'Passkey' }).waitFor();
    expect(await tab.dialog().innerText()).not.toContain('Ordered');
    expect(await findingsIn(tab.page)).toEqual([]);
  });

  it('shows one message: an error goes when the next work fails, and that error when the next form is refused', async () => {
    const [above, below] = [tab.page.locator('main .summary'), tab.page.locator('.toast[role=alert]')];
    await tab.signsIn('demo@example.com', 'wrong');
    await tab.isRefused('These credentials do not match our records.');
    await tab.page.route('**/auth/login', (route) => route.abort());
    await tab.presses('Use the demo account');
    await below.getByText('The server cannot be reached.').waitFor();
    expect(await above.textContent()).toBe('');
    await tab.page.unroute('**/auth/login');
    await tab.presses('Sign in');
    await tab.isRefused('These credentials do not match our records.');
    expect(await below.textContent()).toBe('');
    // The browser logs the request that got no answer.
    visit.complaints.splice(0);
    // The wrong password is selected.
    await tab.page.keyboard.type('x');
    expect(await tab.field('Password').inputValue()).toBe('x');
    await tab.fills({ Password: '' });
    await tab.presses('Sign in');
    await tab.isRefused('Fill in this field.');
    expect(await above.textContent()).toBe('');
  });

  it.each([
    ['served', false],
    ['lost', true],
  ])('draws the first view of a session after its styles, which are %s', async (_, isLost) => {
    if (isLost) await tab.page.route('**/web/session.css', (route) => route.abort());
    // What the styles are at the moment at which the drawing appears.
    await tab.page.evaluate(`void new MutationObserver((_, observer) => {
      const list = document.querySelector('.events');
      if (!list) return;
      window.styled = getComputedStyle(list).display;
      observer.disconnect();
    }).observe(document.getElementById('main'), { childList: true, subtree: true })`);
    await signsIn();
    expect(await tab.page.evaluate('window.styled')).toBe(isLost ? 'block' : 'grid');
    if (isLost) visit.complaints.splice(0);
  });

  it('draws the life of the session above its buttons, which change it', async () => {
    await signsIn();
    for (const size of [PHONE, { width: 1280, height: 720 }]) {
      await tab.page.setViewportSize(size);
      expect((await boxOf(tab.page.locator('.picture'))).y).toBeLessThan((await boxOf(tab.button('Renew now'))).y);
    }
    expect(await findingsIn(tab.page)).toEqual([]);
  });

  it('begins with a notice while the user still has to confirm the address', async () => {
    const ada = await SampleAccount.of(visit);
    const headings = () => tab.page.locator('main h2').allInnerTexts();
    await visit.sql(`UPDATE users SET email_verified_at = NULL WHERE email = '${ada.email}'`);
    await ada.signsIn(tab);
    await tab.sees('Overview');
    const order = ['The life of your session', 'Try next', 'Your account'];
    const notice = tab.page.locator('main').getByText('Confirm your email with the link we sent.');
    await notice.waitFor();
    expect(await headings()).toEqual(order);
    await visit.sql(`UPDATE users SET email_verified_at = now() WHERE email = '${ada.email}'`);
    await tab.goes('Sessions');
    await tab.goes('Overview');
    expect(await headings()).toEqual(order);
    expect(await notice.count()).toBe(0);
  });

  it('devices are in rows of one size, with the name above what is known, and times from now', async () => {
    const other = await visit.tab();
    await other.presses('Use the demo account');
    await other.sees('Overview');
    await other.page.context().close();
    await signsIn();
    await tab.goes('Devices');
    const rows = tab.page.getByRole('group', { name: 'Known devices' }).getByRole('listitem');
    const boxes = await Promise.all((await rows.all()).map(boxOf));
    expect(boxes.length).toBeGreaterThan(1);
    expect(new Set(boxes.map(({ width, height }) => `${width} ${height}`)).size).toBe(1);
    for (const row of await rows.all()) {
      expect((await boxOf(row.getByRole('heading'))).y).toBeLessThan((await boxOf(row.locator('dl'))).y);
      expect(await row.locator('time').first().innerText()).toMatch(/^(now|\d+ (second|minute)s? ago)$/);
    }
  });

  it('offers the password of the demo account where it asks for it, and takes the question back with the view', async () => {
    await signsIn();
    await tab.goes('Two-factor');
    await tab.presses('Set up two-factor');
    const question = tab.page.getByRole('dialog', { name: 'Confirm it’s you' });
    await question.waitFor();
    await tab.page.goBack();
    await question.waitFor({ state: 'detached' });
    await tab.goes('Two-factor');
    await tab.presses('Set up two-factor');
    const buttons = question.getByRole('button');
    await buttons.first().waitFor();
    expect(await buttons.allInnerTexts()).toEqual(['Show', 'Fill in', 'Not now', 'Confirm']);
    await tab.presses('Fill in');
    await tab.presses('Confirm');
    await tab.page.getByLabel('Code from the app').waitFor();
    expect(await tab.page.getByText('correct-horse-battery').count()).toBe(0);
  });

  it('explains the colours that the drawing has', async () => {
    await signsIn();
    const explained = () => tab.page.getByRole('list', { name: 'Legend' }).getByRole('listitem').allInnerTexts();
    expect(await explained()).toEqual(['valid', 'time left']);
    await tab.presses('Renew now');
    await tab.lives('Renewed');
    expect(await explained()).toEqual(['valid', 'time left', 'replaced', 'still accepted']);
    await tab.signsOut();
    expect(await explained()).toEqual(['valid', 'replaced', 'still accepted', 'refused']);
  });

  it('promises a link that undoes a change of the email only to an address that is confirmed', async () => {
    const ada = await SampleAccount.of(visit);
    const promise = tab.page.getByText('For 7 days the old address can undo the change.');
    await ada.signsIn(tab);
    await tab.sees('Overview');
    await tab.goes('Email');
    await promise.waitFor();
    await visit.sql(`UPDATE users SET email_verified_at = NULL WHERE email = '${ada.email}'`);
    await tab.goes('Overview');
    await tab.goes('Email');
    expect(await promise.count()).toBe(0);
  });

  it('signs in a user of another guard with a username, for as long as the page is open', async () => {
    await tab.page.getByRole('link', { name: 'Staff sign-in' }).click();
    await tab.sees('Staff sign-in');
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.fills({ Username: 'casey', Password: 'wrong' });
    await tab.presses('Sign in');
    await tab.isRefused('These credentials do not match our records.');
    await tab.fills({ Username: 'casey', Password: 'correct-horse-battery' });
    await tab.presses('Sign in');
    await tab.page.getByRole('heading', { name: 'Signed in as casey' }).waitFor();
    await tab.presses('Send GET /staff');
    await tab.page.locator('.answer').getByText('200 OK').waitFor();
    await tab.presses('Send GET /user');
    await tab.page.locator('.answer').getByText('401 Unauthorized').waitFor();
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.presses('Sign out');
    await tab.presses('Use the demo account');
    await tab.page.getByRole('heading', { name: 'Signed in as casey' }).waitFor();
    await tab.page.reload();
    await tab.field('Username').waitFor();
  });
});
