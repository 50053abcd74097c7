import type { Locator } from 'playwright-core';
import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { violationsIn } from '../support/clients/accessibility';
import { describeWithBrowser, inFirefox } from '../support/clients/browser';
import { LOOKS, ObservedPage } from '../support/clients/page-quality';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { send } from '../support/hosts/processes';
import { SampleAccount } from '../support/sample/sample-account';
import { REFUSALS, SampleVisit } from '../support/sample/sample-page';
import { SupportTab } from '../support/sample/support-page';

/** Of a page. The tests are compiled without the types of a browser. */
interface Styles {
  getComputedStyle(element: unknown): { color: string; backgroundColor: string };
}

/** For a document with all views, without compression: the sample leaves that to a proxy. */
const BUDGET = { pictures: 4000, others: 150_000 };

describeWithBrowser('the page of the support', () => {
  const visit = SampleVisit.forFile();

  describe('helps a user', () => {
    visit.forTests({
      SVC_LOCKOUT_MAX_ATTEMPTS: '3',
      SVC_REGISTER_MAX_ATTEMPTS: '1000',
      SVC_ADMIN_OPERATORS_MAX_ATTEMPTS: '10000',
    });
    let tab: SupportTab;
    let ada: SampleAccount;

    const signIn = async () => visit.sample.call('POST', '/auth/login', ada.credentials);
    /** The status of a request with a token of the user. */
    const statusWith = async (token?: string) => (await visit.sample.call('GET', '/user', undefined, token)).status;
    const idOf = async (token?: string) =>
      ((await visit.sample.call('GET', '/user', undefined, token)).body as unknown as { data: { id: string } }).data.id;

    const fails = async (email: string, times: number) => {
      for (let left = times; left > 0; left--)
        await visit.sample.call('POST', '/auth/login', { email, password: 'wrong' });
    };

    beforeAll(async () => {
      tab = await SupportTab.of(visit);
      await fails(DEMO.user, 1);
      await tab.finds(DEMO.user);
      // Later actions are confirmed by this one.
      await tab.does('Release', 'Release');
      await tab.confirms();
      await tab.succeeds('Locks and limits are released.');
    });
    beforeEach(async () => void (ada = await SampleAccount.of(visit)));

    it('who is found by email and by id, and says that there is no other', async () => {
      const id = await idOf((await signIn()).body.access_token);
      await tab.asks('unknown@example.com');
      await tab.isRefused('No user has the email or id “unknown@example.com”.');
      await tab.asks('9eaf0a54-cd9a-42a2-ba2e-6ad5db1acc4e');
      await tab.isRefused('No user has the email or id “9eaf0a54-cd9a-42a2-ba2e-6ad5db1acc4e”.');
      for (const text of [ada.email, ` ${id.toUpperCase()} `]) {
        await tab.finds(DEMO.user);
        // The answer to a search never stands above the account of another one. The way back leads there.
        await tab.asks('unknown@example.com');
        await tab.isRefused('No user has the email or id “unknown@example.com”.');
        await tab.sees('Find an account');
        expect(await tab.page.getByRole('heading', { name: DEMO.user }).count()).toBe(0);
        await tab.page.goBack();
        await tab.sees(DEMO.user);
        await tab.asks(text);
        await tab.sees(ada.email);
        await tab.page.getByText(id).waitFor();
      }
      // The address is that of the account, also in another tab with the session of the operator.
      const other = await SupportTab.open(visit, tab.person, `#/users/${id}`);
      await other.sees(ada.email);
      await other.page.goto(`${visit.url}/support#/users/nope`);
      await other.sees('No such user');
      await other.page.close();
      await tab.comesToFront();
    });

    it('whose account it shows: sessions, devices, factors, keys, and the history, page by page or its sign-ins only', async () => {
      await ada.addAuthenticator();
      const challenge = await signIn();
      for (let left = 2; left > 0; left--) await visit.sample.login(ada.email);
      expect(challenge.body.challenge_token).toBeTruthy();
      await tab.finds(ada.email);
      for (const text of ['Active', 'Email confirmed', 'Two-factor on'])
        await tab.page.getByText(text).first().waitFor();
      await tab.part('Second factor').getByText('Authenticator app').waitFor();
      await tab.part('Also checked').getByText('No passkey, no access key and no trusted device.').waitFor();
      const entries = tab.part('History').locator('tbody tr');
      const shown = await entries.count();
      await tab.part('History').getByText('Two-factor turned on').waitFor();
      // The server does not know who sent a refused request.
      await tab.part('History').locator('tr', { hasText: 'Sign-in refused' }).getByText('Unknown').first().waitFor();
      await visit.sql(
        `INSERT INTO svc_audit SELECT (jsonb_populate_record(line, jsonb_build_object('id', gen_random_uuid(), 'at', line.at - n * interval '1 day'))).*
           FROM svc_audit line, generate_series(1, 30) n WHERE line.operation = 'auth.two_factor.enabled'`,
      );
      await tab.finds(DEMO.user);
      await tab.finds(ada.email);
      expect(await entries.count()).toBeGreaterThanOrEqual(shown);
      const before = await entries.count();
      await tab.presses('Show older entries');
      await tab.hears('older entries are shown.');
      expect(await entries.count()).toBeGreaterThan(before);
      await tab.hasFocus(entries.nth(before));
      await tab.presses('Only sign-ins');
      await tab.part('History').getByText('Two-factor turned on').first().waitFor({ state: 'hidden' });
      await tab.part('History').getByText('Signed in').first().waitFor();
    });

    it('with a question before each change, whose last button is filled where the first one has a red edge', async () => {
      await signIn();
      await tab.finds(ada.email);
      const styleOf = (button: Locator) =>
        button.evaluate((element) => {
          const { color, backgroundColor } = (globalThis as unknown as Styles).getComputedStyle(element);
          return { color, backgroundColor };
        });
      const plain = await styleOf(tab.button('Act as user'));
      const red = (await styleOf(tab.button('Suspend'))).color;
      const neutral = [tab.button('Require new password'), tab.button('Sign out Unknown device')];
      for (const button of neutral) expect((await styleOf(button)).color).not.toBe(red);
      expect((await styleOf(tab.button('Sign out all'))).color).toBe(red);
      for (const name of [
        'Act as user',
        'Require new password',
        'Suspend',
        'Sign out all',
        'Sign out Unknown device',
      ]) {
        const asks = await styleOf(tab.button(name));
        expect(asks.backgroundColor).toBe(plain.backgroundColor);
        await tab.presses(name);
        const [cancel, acts] = await tab.question().locator('.answers > button').all();
        const filled = await styleOf(acts!);
        expect(await cancel!.innerText()).toBe('Cancel');
        expect([name, filled.backgroundColor === asks.color]).toEqual([name, asks.color !== plain.color]);
        expect(filled.backgroundColor).not.toBe((await styleOf(cancel!)).backgroundColor);
        await cancel!.click();
        await tab.isCurrent();
      }
    });

    it('whose sessions it ends: one, then all, with the reason in the history', async () => {
      const [one, two] = [await signIn(), await signIn()];
      await tab.finds(ada.email);
      await tab.presses('Sign out Unknown device');
      await tab.fills({ Reason: 'the newest device is lost' });
      await tab.answers('Sign out');
      await tab.succeeds('Signed out: Unknown device.');
      const left = [await statusWith(one.body.access_token), await statusWith(two.body.access_token)];
      expect(left.toSorted()).toEqual([200, 401]);
      await tab.does('Sign out all', 'Sign out all');
      await tab.succeeds('All sessions are signed out.');
      expect([await statusWith(one.body.access_token), await statusWith(two.body.access_token)]).toEqual([401, 401]);
      await tab.part('Also checked').getByText('No open session.').waitFor();
      await tab.part('History').getByText('the newest device is lost').waitFor();
    });

    it('whose locks it releases', async () => {
      await tab.finds(ada.email);
      await tab.part('Also checked').getByText('Nothing is locked, and no failed attempt counts.').waitFor();
      expect(await tab.button('Release').count()).toBe(0);
      await fails(ada.email, 3);
      expect((await signIn()).status).not.toBe(200);
      await tab.finds(ada.email);
      await tab.page.getByText('Locked', { exact: true }).first().waitFor();
      await tab.part('Locks and limits').getByText('Sign-in with the password').waitFor();
      await tab
        .part('Locks and limits')
        .getByText(/^3 of \d+ failures$/)
        .first()
        .waitFor();
      await tab.does('Release', 'Release');
      await tab.succeeds('Locks and limits are released.');
      expect((await signIn()).status).toBe(200);
    });

    it('whose authenticator, passkey and access key it removes', async () => {
      await ada.addAuthenticator();
      const { sample } = visit;
      await visit.sql(`
        INSERT INTO svc_passkeys (credential_id, user_id, guard, name, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
        SELECT '${'A'.repeat(43)}', id, 'api', 'Blue key', '', gen_random_uuid(), false, false, now(), now()
          FROM users WHERE email = '${ada.email}'`);
      const { challenge_token } = (await signIn()).body;
      const answer = { challenge_token, code: await ada.code() };
      const { access_token: token } = (await sample.call('POST', '/auth/two-factor-challenge', answer)).body;
      const confirmed = await sample.call('POST', '/auth/confirm-password', { password: ada.password }, token);
      const headers = { 'X-Svc-Confirmation': confirmed.body.confirmation_token };
      const wanted = { label: 'CI', abilities: ['orders.read'] };
      const { access_key: key } = (await send(`${sample.url}/auth/access-keys`, 'POST', wanted, token, headers))
        .body as unknown as { access_key: string };
      expect((await sample.call('GET', '/orders', undefined, key)).status).toBe(200);

      await tab.finds(ada.email);
      for (const [verb, past, name] of [
        ['Remove', 'Removed', 'the authenticator app'],
        ['Delete', 'Deleted', 'the passkey Blue key'],
        ['Revoke', 'Revoked', 'the access key CI'],
      ]) {
        await tab.does(`${verb} ${name}`, verb!);
        await tab.succeeds(`${past}: ${name}.`);
      }
      await tab.page.getByText('No authenticator app, no passkey, no access key').waitFor();
      expect((await sample.call('GET', '/orders', undefined, key)).status).toBe(401);
      expect((await signIn()).status).toBe(200);
    });

    it('who needs a new password, and gets a link', async () => {
      const { access_token: token } = (await signIn()).body;
      await tab.finds(ada.email);
      await tab.does('Require new password', 'Require new password');
      await tab.succeeds('The password no longer works.');
      expect([await statusWith(token), (await signIn()).status]).toEqual([401, 422]);
      expect(await visit.mailed(ada.email, '/reset-password')).toContain('token=');
    });

    it('who is suspended until a time, and restored', async () => {
      const { access_token: token } = (await signIn()).body;
      await tab.finds(ada.email);
      await tab.does('Suspend', 'Suspend account', { 'End (optional)': '2020-01-01T12:00' });
      await tab.isRefused('Choose a time from now to ten years ahead.');
      expect(await tab.field('Reason').inputValue()).toBe('ticket 7');
      const next = `${new Date().getUTCFullYear() + 1}-01-31T12:00`;
      await tab.fills({ 'End (optional)': next });
      await tab.answers('Suspend account');
      await tab.succeeds('The account is suspended, and its sessions have ended.');
      expect([await statusWith(token), (await signIn()).status]).toEqual([401, 401]);
      const state = tab.page.getByRole('group', { name: 'Suspension' });
      expect(await state.innerText()).toMatch(/until .*Jan 31.*“?ticket 7/s);
      await tab.does('Act as user', 'Act as user');
      await tab.isRefused('You cannot act as a user who may not sign in.');
      await tab.answers('Cancel');
      await tab.isCurrent();
      await tab.does('Restore', 'Restore account');
      await tab.succeeds('The account is restored.');
      await tab.page.getByText('Active', { exact: true }).waitFor();
      expect((await signIn()).status).toBe(200);
    });

    it('as whom the operator acts, with what the token may do, until somebody ends it', async () => {
      await tab.finds(ada.email);
      await tab.does('Act as user', 'Act as user', { Minutes: '2' });
      await tab.succeeds('You act as the user now.');
      const banner = tab.page.getByRole('region', { name: 'You act as a user' });
      expect(await banner.innerText()).toMatch(
        new RegExp(`You act as ${ada.email} with orders.read. It ends in [12]:`, 's'),
      );
      await tab.part('Sessions').getByText('Customer support').waitFor();
      await tab.button('Act as user').press('Enter');
      await tab.hears(`You act as ${ada.email} already.`);
      await tab.presses('Orders of the user');
      await tab.dialog().getByText('No order.').waitFor();
      await tab.answers('Order tea');
      await tab.dialog().getByText('Refused: This needs the ability orders.write.').waitFor();
      await tab.answers('Close');
      await tab.presses('Stop acting');
      await tab.hears(`You no longer act as ${ada.email}.`);
      await banner.waitFor({ state: 'hidden' });
      await tab.part('Also checked').getByText('No open session.').waitFor();

      await tab.presses('Act as user');
      await tab.fills({ Reason: 'ticket 7' });
      await tab.field('Order for the user').check();
      await tab.answers('Act as user');
      await tab.succeeds('You act as the user now.');
      await tab.presses('Orders of the user');
      await tab.answers('Order tea');
      await tab.dialog().getByText('tea, ').waitFor();
      await tab.answers('Close');
      const { access_token: token } = (await signIn()).body;
      await visit.sample.call('DELETE', '/auth/sessions/others', undefined, token);
      await tab.presses('Orders of the user');
      await tab.hears('The acting has ended: the user or an operator has ended its session.');
      await banner.waitFor({ state: 'hidden' });
    });

    it('only after a confirmation, which loses nothing that was typed', async () => {
      const other = await SampleAccount.of(visit);
      await tab.finds(ada.email);
      // A confirmation is one of the password of its time.
      const take = (email: string) =>
        visit.sql(
          `UPDATE admins SET password_hash = (SELECT password_hash FROM users WHERE email = '${email}') WHERE email = '${DEMO.admin}'`,
        );
      await take(other.email);
      await tab.does('Suspend', 'Suspend account');
      // One question is seen at a time: the confirmation names the action and both accounts.
      const confirmation = tab.page.getByRole('dialog');
      await confirmation.getByText('Confirm it’s you').waitFor();
      expect(await confirmation.locator('dl > div').allInnerTexts()).toEqual([
        expect.stringMatching(/^Action\s+Suspend the account$/),
        expect.stringMatching(new RegExp(`^Account\\s+${ada.email}$`)),
        expect.stringMatching(new RegExp(`^You\\s+${DEMO.admin}$`)),
      ]);
      expect(await tab.page.getByLabel('Reason').isVisible()).toBe(false);
      await tab.confirms('wrong');
      await tab.isRefused('The password is not correct.');
      await tab.question().getByRole('button', { name: 'Cancel' }).click();
      await tab.isRefused('Nothing was changed: you did not confirm that it is you.');
      expect(await tab.field('Reason').inputValue()).toBe('ticket 7');
      await tab.answers('Suspend account');
      await tab.confirms(other.password);
      await tab.succeeds('The account is suspended');
      await take(DEMO.user);
    });

    it('unless the user is gone, the role does not allow it, or the session has ended', async () => {
      const sam = await SupportTab.of(visit, DEMO.support);
      await sam.finds(ada.email);
      expect(await sam.button('Suspend').getAttribute('aria-disabled')).toBe('true');
      await sam.button('Suspend').press('Enter');
      await sam.hears('Your role may not suspend or restore accounts. Ask an administrator.');
      // The token of an administrator, whose role changes while the question is open. Another tab renews it.
      await visit.sql(`UPDATE admins SET role = 'administrator' WHERE email = '${DEMO.support}'`);
      await sam.page.reload();
      await sam.sees(ada.email);
      await sam.presses('Suspend');
      await sam.fills({ Reason: 'ticket 7' });
      await visit.sql(`UPDATE admins SET role = 'support' WHERE email = '${DEMO.support}'`);
      const second = await SupportTab.open(visit, sam.person);
      await second.sees('Find an account');
      await sam.comesToFront();
      await sam.answers('Suspend account');
      await sam.isRefused('Your role may not suspend or restore accounts. Ask an administrator.');
      await sam.answers('Cancel');

      await fails(ada.email, 1);
      await sam.finds(ada.email);
      await visit.sql(`DELETE FROM users WHERE email = '${ada.email}'`);
      await sam.does('Release', 'Release');
      await sam.confirms();
      await sam.isRefused('This account does not exist any more.');
      await sam.answers('Cancel');
      await sam.sees('No such user');

      const { access_token: token } = (await visit.sample.login(DEMO.support, '/admin/auth')).body;
      await visit.sample.call('DELETE', '/admin/auth/sessions', undefined, token);
      await sam.asks(DEMO.user);
      await sam.hears('Your session has ended. Sign in again.');
      await sam.enters(DEMO.support);
      await sam.person.close();
    });

    it('by the keyboard alone, which a question keeps inside, and which goes on where it was', async () => {
      const mine = await SupportTab.open(visit);
      const { keyboard } = mine.page;
      const has = (name: string) => mine.hasFocus(mine.button(name));
      const outside = () =>
        mine.page.evaluate<boolean>(`document.activeElement.matches('#page :is(a, button, input)')`);
      await mine.field('Email').focus();
      for (const keys of [DEMO.admin, DEMO.password]) {
        await keyboard.type(keys);
        await keyboard.press(keys === DEMO.admin ? 'Tab' : 'Enter');
      }
      await mine.hasFocus(mine.field('Email or id of a user'));
      await keyboard.type(ada.email);
      await keyboard.press('Enter');
      await mine.hasFocus(mine.page.getByRole('heading', { name: ada.email }));
      for (const name of ['Copy id', 'Act as user', 'Require new password', 'Suspend']) {
        await keyboard.press('Tab');
        await has(name);
      }
      await keyboard.press('Enter');
      await mine.hasFocus(mine.field('Reason'));
      // After the last control, Firefox goes to its own bar, and keeps the next keys.
      for (let presses = 0; presses < (inFirefox ? 4 : 12); presses++) {
        await keyboard.press('Tab');
        expect(await outside()).toBe(false);
      }
      await keyboard.press('Escape');
      await has('Suspend');
      // The focus comes back before the end of the question, and until then the button does nothing.
      await mine.page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
      await keyboard.press('Enter');
      await mine.hasFocus(mine.field('Reason'));
      await keyboard.type('ticket 7');
      await keyboard.press('Enter');
      await mine.hasFocus(mine.field('Password'));
      await keyboard.type(DEMO.password);
      await keyboard.press('Enter');
      await mine.succeeds('The account is suspended');
      await mine.hasFocus(mine.page.getByRole('heading', { name: ada.email }));
      await mine.person.close();
    });

    describe.each(LOOKS)('and has no fault, %s', (_, look) => {
      const views = [
        'the sign-in',
        'the search',
        'an account',
        'a locked account',
        'an account as which one acts',
      ] as const;

      it(`in ${views.join(', ')}, and in its questions`, async () => {
        const seen = await ObservedPage.open(await visit.person(look), visit.url, REFUSALS);
        const mine = SupportTab.over(seen.page);
        const found: string[] = [];
        const isFaultless = async (view: (typeof views)[number]) =>
          found.push(...(await seen.faults(BUDGET)).map((fault) => `${view}: ${fault}`));
        const isReadable = async (question: string) =>
          found.push(...(await violationsIn(mine.page)).map((fault) => `${question}: ${fault}`));
        await mine.page.goto(`${visit.url}/support`);
        await mine.sees('Sign in to support');
        await isFaultless('the sign-in');
        await mine.enters(DEMO.admin);
        await isFaultless('the search');
        await signIn();
        await mine.finds(ada.email);
        await isFaultless('an account');
        await mine.presses('Suspend');
        await isReadable('the suspension');
        await mine.fills({ Reason: 'ticket 7', 'End (optional)': '2020-01-01T12:00' });
        await mine.answers('Suspend account');
        await mine.question().getByLabel('Password', { exact: true }).waitFor();
        await isReadable('the confirmation');
        await mine.confirms();
        await mine.isRefused('Choose a time');
        await isReadable('a refusal');
        await mine.answers('Cancel');
        await mine.isCurrent();
        await mine.does('Act as user', 'Act as user');
        await mine.succeeds('You act as the user now.');
        await isFaultless('an account as which one acts');
        await fails(ada.email, 3);
        await mine.does('Suspend', 'Suspend account');
        await mine.succeeds('The account is suspended');
        await isFaultless('a locked account');
        expect(found).toEqual([]);
        await seen.page.context().close();
      });
    });
  });

  describe('while the server refuses', () => {
    let proxy: TcpProxy;
    visit.forTests(async (database) => {
      proxy = await TcpProxy.to(Number(new URL(database).port));
      return {
        DATABASE_URL: proxy.through(database),
        SVC_ADMIN_OPERATORS_MAX_ATTEMPTS: '60',
        SVC_ADMIN_OPERATORS_DECAY: '3600',
      };
    });
    afterAll(() => proxy.close());
    let tab: SupportTab;
    beforeAll(async () => void (tab = await SupportTab.of(visit)));

    it('says that the server could not finish, and goes on when it can', async () => {
      await visit.sample.call('POST', '/auth/login', { email: DEMO.user, password: 'wrong' });
      await tab.finds(DEMO.user);
      await tab.does('Release', 'Release');
      await tab.confirms();
      await tab.succeeds('Locks and limits are released.');
      await tab.presses('Suspend');
      await tab.fills({ Reason: 'ticket 7' });
      proxy.down();
      await tab.answers('Suspend account');
      await tab.isRefused('The server could not finish. The suspension may be stored already');
      proxy.heal();
      await tab.answers('Suspend account');
      await tab.succeeds('The account is suspended');
    });

    it('says when to try again after too many requests', async () => {
      const { access_token: token } = (await visit.sample.login(DEMO.admin, '/admin/auth')).body;
      const find = () => visit.sample.call('POST', '/admin/auth/operators/find', { identifier: 'x' }, token);
      for (let status = 200; status !== 429;) ({ status } = await find());
      await tab.asks(DEMO.support);
      await tab.isRefused(/^Too many requests. Try again in \d+ seconds/);
    });
  });
});
