import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser, inFirefox, savedDuring } from '../support/clients/browser';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

const ADA = 'ada@example.com';
const [FIRST, SECOND, THIRD] = ['a horse with wings', 'another horse entirely', 'a third one, of wood'];

describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile();
  visit.forTests({ SVC_GRACE: '600' });

  describe('in every view', () => {
    let tab: Tab;

    beforeAll(async () => {
      tab = await visit.tab();
      await tab.page.setViewportSize(PHONE);
      await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    });

    const findings = () => findingsIn(tab.page);

    const at = async (address: string, heading: string) => {
      await tab.page.goto(visit.url + address);
      await tab.sees(heading);
    };
    const press = async (name: string) => {
      await tab.presses(name);
      await tab.dialog().waitFor();
    };

    it.each<[string, () => Promise<unknown>]>([
      ['Sign in', () => tab.sees('Sign in')],
      [
        'Sign in, refused',
        async () => {
          await tab.signsIn('demo@example.com', 'wrong');
          await tab.isRefused('These credentials do not match our records.');
        },
      ],
      ['Create your account', () => at('/#/register', 'Create your account')],
      ['Create your account with a passkey', () => at('/#/register-passkey', 'Create your account with a passkey')],
      ['Sign in with a code', () => at('/#/sign-in-code', 'Sign in with a code')],
      ['Confirm your new email', () => at('/confirm-email?token=t', 'Confirm your new email')],
      ['Restore your email', () => at('/undo-email?token=t', 'Restore your email')],
      ['Was this you?', () => at('/unknown-sign-in?token=t', 'Was this you?')],
      ['Forgot your password?', () => at('/#/forgot-password', 'Forgot your password?')],
      [
        'Check your email',
        async () => {
          await tab.fills({ Email: 'demo@example.com' });
          await tab.presses('Send link');
          await tab.sees('Check your email');
        },
      ],
      ['Choose a new password', () => at('/reset-password?token=t&email=a%40example.com', 'Choose a new password')],
      ['Choose a new password, without a link', () => at('/reset-password', 'This link does not work')],
      ['Your email is confirmed', () => at('/verified?verified=1', 'Your email is confirmed')],
      ['Mailbox', () => tab.page.goto(`${visit.url}/mailbox`)],
      [
        'Overview',
        async () => {
          await at('/', 'Sign in');
          await tab.signsIn();
          await tab.sees('Overview');
        },
      ],
      [
        'Overview, with the token opened',
        async () => {
          await tab.presses('Renew now');
          await tab.lives('Renewed');
          await tab.page.getByText('What is in the access token').click();
        },
      ],
      [
        'Orders, with refusals',
        async () => {
          await tab.goes('Orders');
          await tab.presses('Order tea');
          await tab.hears('Ordered: tea.');
          await tab.presses('Try without a token');
          await tab.page.getByText('401 Unauthorized').waitFor();
        },
      ],
      [
        'Sessions',
        async () => {
          await visit.sample.login(DEMO.user);
          await tab.goes('Sessions');
        },
      ],
      ['Sessions, with a question', () => press('Sign out other sessions')],
      [
        'Password',
        async () => {
          await tab.answers('Cancel');
          await tab.goes('Password');
        },
      ],
      ['Email', () => tab.goes('Email')],
      ['Devices', () => tab.goes('Devices')],
      ['Passkeys', () => tab.goes('Passkeys')],
      ['Your data', () => tab.goes('Your data')],
      ['Two-factor, off', () => tab.goes('Two-factor')],
      ['Confirm it’s you', () => press('Set up two-factor')],
      [
        'Two-factor, being set up',
        async () => {
          await tab.confirms();
          await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
        },
      ],
      [
        'Overview, with a replay',
        async () => {
          await tab.goes('Overview');
          await tab.presses('Renew now');
          await tab.lives('Renewed');
          await tab.presses('Replay the old token');
          await tab.lives('Replayed in time');
        },
      ],
    ])('is accessible in light and dark, and fits a phone: %s', async (_, show) => {
      await show();
      expect(await findings()).toEqual([]);
    });

    // axe needs Chromium: see `violationsIn`.
    if (!inFirefox) {
      it('is as easy to read while a button is busy', async () => {
        await tab.page.evaluate(
          "document.querySelectorAll('main button').forEach((b) => b.setAttribute('aria-busy', 'true'))",
        );
        expect(await findings()).toEqual([]);
        await tab.page.evaluate(
          "document.querySelectorAll('main button').forEach((b) => b.removeAttribute('aria-busy'))",
        );
      });

      it('reports a planted finding: the accessibility check works under the policy of the page', async () => {
        await tab.page.evaluate("document.querySelector('main').append(document.createElement('input'))");
        expect(await findings()).toContainEqual(expect.stringMatching(/^light: label: <input/));
        await tab.page.evaluate("document.querySelector('main > input').remove()");
      });
    }

    it('focuses its heading, and has its name in the title', async () => {
      await tab.goes('Sessions');
      expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Sessions');
      expect(await tab.page.title()).toBe('Sessions · @svc/auth');
      await tab.page.keyboard.press('Tab');
      const outline = await tab.page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect(outline).toBe('solid');
    });

    it('has no animation for users who prefer reduced motion', async () => {
      await tab.goes('Overview');
      const styles = await tab.page.evaluate<string[]>(
        "['main', '.events li'].map((name) => getComputedStyle(document.querySelector(name))).flatMap((style) => [style.transitionDuration, style.animationName])",
      );
      expect(styles).toEqual(['0s', 'none', '0s', 'none']);
    });

    it('has fields for passwords, names and codes that password managers recognize', async () => {
      await tab.signsOut();
      const hint = (label: string) => tab.field(label).getAttribute('autocomplete');
      expect([await hint('Email'), await hint('Password')]).toEqual(['username webauthn', 'current-password']);
      await at('/#/register', 'Create your account');
      expect([await hint('Name'), await hint('Email'), await hint('Password')]).toEqual([
        'name',
        'username',
        'new-password',
      ]);
    });

    it.each([
      '/',
      '/reset-password?token=%22%3E%3Cscript%3E&email=x',
      '/verified',
      '/sign-in-code',
      '/confirm-email?token=%22%3E%3Cscript%3E',
      '/undo-email?token=%22%3E%3Cscript%3E',
      '/unknown-sign-in?token=%22%3E%3Cscript%3E',
      '/mailbox',
    ])('runs only scripts of the server, and sends no referrer: %s', async (path) => {
      const response = await fetch(visit.url + path);
      const [policy, text] = [response.headers.get('content-security-policy')!, await response.text()];
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(text).not.toMatch(/<script>|&quot;|<style| style=| on\w+=/);
      const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);
      const others = addresses.filter((address) => new URL(address, visit.url).origin !== visit.url);
      // The links to the library, in the footer.
      expect(others.filter((address) => !address.startsWith('https://github.com/svc-auth/'))).toEqual([]);
    });

    it('loads only the files of the page', async () => {
      const status = (path: string) => visit.sample.status(path);
      expect(await status('/web/main.js')).toBe(200);
      for (const path of [
        '/web/',
        '/web/nothing.js',
        '/web/../web.controller.js',
        '/web/%2e%2e/page-config.js',
        '/web/index.html',
      ])
        expect(await status(path)).toBe(404);
    });
  });

  describe('for an account', () => {
    let tab: Tab;

    beforeAll(async () => void (tab = await visit.tab()));

    const badge = (text: string) => tab.page.locator('main').getByText(text, { exact: true }).waitFor();

    it('is registered, after the form has shown the errors', async () => {
      await tab.sees('Sign in');
      await tab.page.getByRole('link', { name: 'Create an account' }).click();
      await tab.sees('Create your account');
      await tab.fills({ Name: 'Ada', Email: ADA, Password: 'password' });
      await tab.presses('Create account');
      await tab.isRefused('This password is one of the most common ones.');
      await tab.hasFocus(tab.field('Password'));
      expect(await tab.field('Password').getAttribute('aria-invalid')).toBe('true');
      await tab.field('Password').fill(FIRST);
      await tab.presses('Create account');
      await tab.sees('Overview');
      await tab.page.getByRole('heading', { name: 'Your account' }).waitFor();
      await tab.lives('Account created');
      await tab.page.getByText('12 hours left').first().waitFor();
    });

    it('shows the claims and the remaining lifetime of its token, and renews it on request', async () => {
      const { jti, amr } = await tab.payload();
      expect(amr).toEqual(['pwd']);
      expect(JSON.parse((await tab.page.locator('#token-header').textContent())!)).toEqual({
        alg: 'HS256',
        typ: 'at+jwt',
      });
      await tab.page
        .locator('main svg.life .value')
        .getByText(/^1[45]:\d\d left$/)
        .waitFor();
      await tab.presses('Renew now');
      await tab.lives('Renewed');
      expect((await tab.payload()).jti).not.toBe(jti);
    });

    it('confirms its address with the link in the mailbox, which does not remain in the address bar', async () => {
      await badge('Not confirmed');
      const row = tab.page.locator('.notice', { has: tab.button('Resend link') }).locator('a, button');
      expect(await row.allTextContents()).toEqual(['Open the mailbox', 'Resend link']);
      await tab.presses('Resend link');
      await tab.hears('We have sent a new link.');
      await tab.goes('Email');
      await badge('Not confirmed');
      await tab.button('Resend link').waitFor();
      const link = await visit.mailed(ADA, '/email/verify/');
      await tab.page.goto(link.replace('signature=', 'signature=0'));
      await tab.sees('Your email is not confirmed');
      expect(tab.page.url()).toBe(`${visit.url}/#/verified`);
      await tab.page.goto(`${link.replace('&', '&amp;')}>`);
      await tab.sees('Your email is confirmed');
      expect(tab.page.url()).toBe(`${visit.url}/#/verified`);
      await tab.page.getByRole('link', { name: 'continue' }).click();
      await tab.sees('Overview');
      await badge('Confirmed');
    });

    it('changes its password, which ends its other sessions', async () => {
      const other = await visit.tab();
      await other.signsIn(ADA, FIRST);
      await other.sees('Overview');
      await tab.comesToFront();
      await tab.goes('Password');
      await tab.fills({ 'Current password': 'wrong', 'New password': SECOND });
      await tab.presses('Change password');
      await tab.isRefused('The password is not correct.');
      await tab.fills({ 'Current password': FIRST });
      await tab.presses('Change password');
      await tab.hears('Your password is changed.');
      await other.comesToFront();
      await other.page.getByRole('link', { name: 'Sessions' }).click();
      await other.sees('Sign in');
      await other.hears('Your session has ended.');
      await other.page.context().close();
    });

    it('ends one session, all other sessions, and all sessions', async () => {
      const login = () => visit.sample.call('POST', '/auth/login', { email: ADA, password: SECOND });
      await tab.goes('Sessions');
      const rows = tab.page.locator('main').getByRole('listitem');
      expect(await rows.count()).toBe(1);
      await login();
      await tab.page.reload();
      await tab.sees('Sessions');
      await login();
      await tab.goes('Overview');
      await tab.goes('Sessions');
      expect(await rows.count()).toBe(3);
      expect(await rows.first().innerText()).toContain('This session');
      await tab
        .button(/^Sign out of (?!this)/)
        .first()
        .click();
      await tab.hears('Session signed out.');
      expect(await rows.count()).toBe(2);
      await tab.presses('Sign out other sessions');
      await tab.answers('Cancel');
      await tab.hasFocus(tab.button('Sign out other sessions'));
      expect(await rows.count()).toBe(2);
      await tab.presses('Sign out other sessions');
      await tab.answers('Sign out');
      await tab.hears('All other sessions signed out.');
      expect(await rows.count()).toBe(1);
      expect(await tab.button('Sign out other sessions').count()).toBe(0);
      await login();
      await tab.page.reload();
      await tab.presses('Sign out other sessions');
      await tab.dialog().getByLabel('Sign out here, too').check();
      await tab.answers('Sign out');
      await tab.seesOwnSignOut();
    });

    it('refuses a wrong password, and does not show which addresses exist', async () => {
      for (const email of [ADA, 'nobody@example.com']) {
        await tab.signsIn(email, 'wrong');
        await tab.isRefused('These credentials do not match our records.');
      }
    });

    it('gets another password with a mailed link, whose token is not visible', async () => {
      for (const email of ['nobody@example.com', ADA]) {
        await tab.page.getByRole('link', { name: 'Forgot your password?' }).click();
        await tab.sees('Forgot your password?');
        await tab.fills({ Email: email });
        await tab.presses('Send link');
        await tab.sees('Check your email');
        await tab.page.getByText(`If there is an account for ${email}, we have sent a link to it.`).waitFor();
        await tab.page.getByRole('link', { name: 'Back to sign in' }).click();
        await tab.sees('Sign in');
      }
      const requests: string[] = [];
      tab.page.on('request', (request) => requests.push(`${request.url()} ${request.headers().referer ?? ''}`));
      const link = await visit.mailed(ADA, '/reset-password');
      const token = new URL(link).searchParams.get('token')!;
      await tab.page.goto(link);
      await tab.sees('Choose a new password');
      expect(tab.page.url()).toBe(`${visit.url}/#/reset-password`);
      expect(requests.filter((line) => line.includes(token))).toEqual([expect.stringContaining('/reset-password?')]);
      expect(await tab.page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(token);

      await tab.fills({ 'New password': THIRD });
      await tab.presses('Set new password');
      await tab.hears('Your password is changed.');
      await tab.hasFocus(tab.field('Password'));
      expect(await tab.field('Email').inputValue()).toBe(ADA);

      // Each link works once.
      const again = await visit.tab(tab.page.context(), link);
      await again.fills({ 'New password': THIRD });
      await again.presses('Set new password');
      await again.sees('This link does not work');
      expect(await findingsIn(again.page)).toEqual([]);
      await again.presses('Send a new link');
      await again.sees('Check your email');
      expect(await visit.mailed(ADA, '/reset-password', 2)).not.toBe(link);
      await again.page.close();
      await tab.signsIn(ADA, THIRD);
      await tab.sees('Overview');
    });

    it('exports its data after a confirmation with the password, with one dialog for several requests', async () => {
      await tab.goes('Your data');
      const { name, text } = await savedDuring(tab.page, async () => {
        await tab.presses('Download data');
        await tab.dialog().waitFor();
        await tab.confirms('wrong');
        await tab.isRefused('The password is not correct.');
        await tab.confirms(THIRD);
      });
      expect(name).toBe('account.json');
      expect(JSON.parse(text)).toMatchObject({ account: { identifier: ADA } });
    });

    it('is asked for the password only, without a passkey, and gets the focus back after Escape', async () => {
      await tab.signsOut();
      await tab.signsIn(ADA, THIRD);
      await tab.sees('Overview');
      await tab.goes('Your data');
      await tab.button('Download data').focus();
      await tab.page.keyboard.press('Enter');
      await tab.dialog().waitFor();
      expect(await tab.dialog().getByRole('button').allInnerTexts()).toEqual(['Show', 'Not now', 'Confirm']);
      await tab.page.keyboard.press('Escape');
      await tab.dialog().waitFor({ state: 'detached' });
      await tab.hasFocus(tab.button('Download data'));
    });

    it('is not changed without a confirmation', async () => {
      // Another session, for which the confirmation of the first one is not valid.
      await tab.signsOut();
      await tab.signsIn(ADA, THIRD);
      await tab.sees('Overview');
      await tab.goes('Your data');
      await tab.deletesAccount();
      await tab.page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
      await tab.page.keyboard.press('Escape');
      await tab.dialog().waitFor({ state: 'detached' });
      await tab.goes('Overview');
    });

    it('is deleted', async () => {
      await tab.goes('Your data');
      await tab.deletesAccount();
      await tab.page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
      await tab.confirms(THIRD);
      await tab.hears('Your account is deleted.');
      await tab.signsIn(ADA, THIRD);
      await tab.isRefused('These credentials do not match our records.');
    });
  });

  it('causes no violation of the policy of the page', () => expect(visit.complaints).toEqual([]));
});
