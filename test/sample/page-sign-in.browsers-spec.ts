import generate from 'qrcode-generator';
import { DEMO } from '../../apps/sample/src/dev/demo-accounts';
import { PHONE, findingsIn } from '../support/clients/accessibility';
import {
  VirtualAuthenticator,
  choosePasskey,
  describeWithBrowser,
  inFirefox,
  savedDuring,
} from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit, type Tab } from '../support/sample/sample-page';
import { codeAt, secretIn } from '../support/flows/two-factor';

const CANCELLED = 'The passkey was not used: the request was cancelled, or took too long.';

const step = (): number => Math.floor(Date.now() / 30_000);

describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile();

  describe('with passkeys and second factors', () => {
    // All pages of Firefox have the same authenticators, and two of them answer each prompt in any order. This hook stands
    // before `forTests`, because Jest runs such hooks in this order, and Chromium needs the page that `forTests` closes.
    afterAll(() => authenticator.remove());
    visit.forTests();
    let tab: Tab;
    let authenticator: VirtualAuthenticator;

    beforeAll(async () => {
      tab = await visit.tab();
      authenticator = await VirtualAuthenticator.of(tab.page);
    });

    const passkeyNames = () => tab.page.locator('main').getByRole('listitem').getByRole('heading').allInnerTexts();

    describe('a passkey', () => {
      it('is added after a confirmation with the password, and the request is repeated automatically', async () => {
        await tab.presses('Use the demo account');
        await tab.sees('Overview');
        expect((await tab.payload()).amr).toEqual(['pwd']);
        await tab.goes('Passkeys');
        await tab.fills({ Name: 'Laptop' });
        await tab.presses('Add passkey');
        await tab.dialog().waitFor();
        expect(await authenticator.held()).toEqual([]);
        await authenticator.touch(async () => {
          await tab.confirms();
          await tab.hears('Passkey added.');
        });
        expect(await authenticator.held()).toMatchObject([{ rpId: 'localhost' }]);
        expect(await passkeyNames()).toEqual(['Laptop']);
      });

      it('is refused by a device that already has one', async () => {
        await authenticator.touch(async () => {
          await tab.presses('Add passkey');
          await tab.isRefused('This device already has a passkey for this account.');
        });
      });

      it('is what a user without another factor signs in again with where the password is not enough', async () => {
        await tab.goes('Orders');
        await tab.presses('Order one of everything');
        await tab.dialog().getByRole('link', { name: 'Set up two-factor' }).waitFor();
        expect(await tab.dialog().getByRole('button').allInnerTexts()).toEqual(['Sign in with a passkey', 'Not now']);
        await authenticator.touch(async () => {
          await tab.answers('Sign in with a passkey');
          await tab.page.getByRole('status').getByText('Ordered: tea, coffee, cake.').waitFor();
        });
      });

      it('signs in with autofill, without an identifier or a click', async () => {
        await authenticator.touch(async () => {
          await tab.presses('Sign out');
          await choosePasskey(tab.field('Email'));
          await tab.sees('Overview');
        });
        expect((await tab.payload()).amr).toEqual(['webauthn']);
      });

      it('signs in with a button', async () => {
        // Autofill starts at some time after the sign-out, and could be faster than the click.
        await tab.page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
        await tab.signsOut();
        await authenticator.touch(async () => {
          await tab.presses('Sign in with a passkey');
          await tab.sees('Overview');
        });
      });

      it('confirms the identity of a user who has only a passkey, and is then renamed', async () => {
        await tab.goes('Passkeys');
        await tab.presses('Rename Laptop');
        await tab.dialog().getByLabel('Name').fill('Old laptop');
        const requests: string[] = [];
        tab.page.on('request', (request) => requests.push(request.method()));
        // The server lists the ways of this user.
        const headers = {
          'WWW-Authenticate': 'Bearer error="insufficient_user_authentication"',
          'X-Svc-Confirmation-Methods': 'passkey',
        };
        const refusal = { status: 423, headers, json: { message: 'Confirm your identity.' } };
        await tab.page.route('**/auth/passkeys/*', (route) => route.fulfill(refusal), { times: 1 });
        await tab.answers('Rename');
        await tab.button('Confirm with a passkey').waitFor();
        expect(await tab.dialog().getByRole('button').allInnerTexts()).toEqual(['Confirm with a passkey', 'Not now']);
        expect(requests).toEqual(['PATCH']);
        await authenticator.refuse(async () => {
          await tab.presses('Confirm with a passkey');
          // Within the dialog: the rest of the page is inert.
          await tab.dialog().getByRole('alert').getByText(CANCELLED).waitFor();
        });
        await authenticator.touch(async () => {
          await tab.presses('Confirm with a passkey');
          await tab.hears('Passkey renamed.');
        });
        expect(await passkeyNames()).toEqual(['Old laptop']);
      });

      it('is deleted after a question, also by the authenticator', async () => {
        await tab.presses('Delete Old laptop');
        await tab.answers('Delete passkey');
        await tab.hears('Passkey deleted.');
        await tab.page.getByText('No passkeys yet.').waitFor();
        // Firefox does not have the signal of accepted passkeys.
        if (!inFirefox) await eventually(async () => (await authenticator.held()).length === 0);
      });
    });

    describe('a second factor', () => {
      let secret: string;
      let codes: string[];

      const challenge = async () => {
        await tab.signsOut();
        await tab.signsIn();
        await tab.sees('One more step');
      };
      const shownCodes = () => tab.page.locator('.codes li').allInnerTexts();

      it('is set up with a QR code of the URI that is shown as text, and with a code', async () => {
        await tab.goes('Two-factor');
        await tab.presses('Set up two-factor');
        const picture = tab.page.getByRole('img', { name: 'QR code for your authenticator app' });
        await picture.waitFor();
        const uri = await tab.page.locator('.uri').textContent();
        secret = secretIn(uri!);
        expect(await tab.page.locator('.key').innerText()).toBe(secret.match(/.{4}/g)!.join(' '));

        const expected = generate(0, 'M');
        expected.addData(uri!);
        expected.make();
        const drawn = new Set((await picture.locator('path').getAttribute('d'))!.match(/M\d+ \d+/g));
        const size = Array.from({ length: expected.getModuleCount() }, (_, i) => i);
        for (const row of size) {
          const dark = size.filter((column) => drawn.has(`M${column + 4} ${row + 4}`));
          expect(dark).toEqual(size.filter((column) => expected.isDark(row, column)));
        }
      });

      it('is not set up after a cancellation', async () => {
        await tab.presses('Cancel');
        await tab.button('Set up two-factor').waitFor();
        await tab.presses('Set up two-factor');
        await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
        secret = secretIn((await tab.page.locator('.uri').textContent())!);
      });

      it('is turned on only with a correct code', async () => {
        await tab.fills({ 'Code from the app': '000000' });
        await tab.presses('Turn on');
        await tab.isRefused('The code is not correct.');
        expect(await shownCodes()).toEqual([]);
        // A pasted code with a space is not cut.
        await tab.fills({ 'Code from the app': codeAt(secret, step()).replace(/^.../, '$& ') });
        await tab.presses('Turn on');
        await tab.hears('Two-factor is on.');
      });

      it('then has recovery codes to copy and to download, and does not show them again', async () => {
        codes = await shownCodes();
        expect(codes).toHaveLength(8);
        await tab.presses('Copy codes');
        await tab.hears('Copied.');
        expect(await tab.page.evaluate('navigator.clipboard.readText()')).toBe(`${codes.join('\n')}\n`);
        const { name, text } = await savedDuring(tab.page, () => tab.presses('Download codes'));
        expect([name, text]).toEqual(['recovery-codes.txt', expect.stringContaining(`${codes.join('\n')}\n`)]);
        await tab.presses('Continue');
        await tab.page.getByText('8 of 8 recovery codes are left.').waitFor();
        expect(await shownCodes()).toEqual([]);
      });

      it('is required after the password, as a code', async () => {
        await challenge();
        await tab.fills({ 'Code from your authenticator app': '000000' });
        await tab.presses('Continue');
        await tab.isRefused('The code is not correct.');
        // The code of the next time step: the current one is used, and clocks may differ by one step.
        await tab.fills({ 'Code from your authenticator app': codeAt(secret, step() + 1).replace(/^.../, '$&-') });
        await tab.presses('Continue');
        await tab.sees('Overview');
        expect((await tab.payload()).amr).toEqual(['pwd', 'otp']);
      });

      it('is required after the password, as a recovery code', async () => {
        await challenge();
        await tab.page.getByText('Use a recovery code instead').click();
        await tab.fills({ 'Recovery code': codes[0]! });
        await tab.presses('Use recovery code');
        await tab.sees('Overview');
        await tab.goes('Two-factor');
        await tab.page.getByText('7 of 8 recovery codes are left.').waitFor();
      });

      it('gets new recovery codes, and is turned off', async () => {
        await tab.presses('Get new codes');
        await tab.answers('Replace codes');
        await tab.page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
        await tab.confirms();
        await tab.page.getByText('8 of 8 recovery codes are left.').waitFor();
        expect((await shownCodes()).filter((code) => codes.includes(code))).toEqual([]);
        await tab.presses('Turn off');
        await tab.answers('Turn off');
        await tab.hears('Two-factor is off.');
        await tab.signsOut();
        await tab.signsIn(DEMO.user);
        await tab.sees('Overview');
      });
    });

    it('cause no violation of the policy of the page', () => expect(visit.complaints).toEqual([]));
  });

  describe('a link to a view', () => {
    visit.forTests();

    it('is followed after the sign-in, and not by the next user after a sign-out', async () => {
      const tab = await visit.tab(undefined, `${visit.url}/#/two-factor`);
      await tab.sees('Sign in');
      await tab.page.getByRole('link', { name: 'Create an account' }).click();
      await tab.sees('Create your account');
      await tab.page.getByRole('link', { name: 'Sign in' }).click();
      await tab.signsIn();
      await tab.sees('Two-factor');
      expect(tab.page.url()).toBe(`${visit.url}/#/two-factor`);
      await tab.goes('Orders');
      await tab.signsOut();
      await tab.signsIn();
      await tab.sees('Overview');
    });

    it('is followed again after a session that the server has ended', async () => {
      const tab = await visit.tab();
      await tab.signsIn();
      await tab.sees('Overview');
      const others = await visit.sample.login(DEMO.user);
      await tab.goes('Sessions');
      await visit.sample.call('DELETE', '/auth/sessions/others', undefined, others.body.access_token);
      await tab.chooses('Orders');
      await tab.sees('Sign in');
      await tab.signsIn();
      await tab.sees('Orders');
    });
  });

  describe('the demo account', () => {
    visit.forTests();

    it.each([
      ['has another password', "UPDATE users SET password_hash = 'x'"],
      ['is deleted', 'DELETE FROM users'],
    ])('says how to get it again when it %s', async (_, statement) => {
      await visit.sql(statement);
      const tab = await visit.tab();
      await tab.presses('Use the demo account');
      await tab.page.getByRole('alert').getByText('Restart the sample to get the demo account again.').waitFor();
      await tab.page.context().close();
    });
  });

  describe('a passkey after the password', () => {
    visit.forTests({ SVC_PASSKEY_REQUIRED: 'true' });
    let tab: Tab;
    let authenticator: VirtualAuthenticator;
    let secret: string;

    beforeAll(async () => {
      tab = await visit.tab();
      await tab.page.setViewportSize(PHONE);
      await tab.page.emulateMedia({ reducedMotion: 'reduce' });
      authenticator = await VirtualAuthenticator.of(tab.page);
    });

    const challenge = async () => {
      await tab.signsIn();
      await tab.sees('One more step');
    };
    const byPasskey = () => tab.presses('Use a passkey');
    const isIn = async () => {
      await tab.sees('Overview');
      expect((await tab.payload()).amr).toEqual(['pwd', 'webauthn']);
    };

    it('is not required of a user without a passkey', async () => {
      await tab.signsIn();
      await tab.sees('Overview');
      await tab.goes('Passkeys');
      await tab.presses('Add passkey');
      await tab.dialog().waitFor();
      await authenticator.touch(async () => {
        await tab.confirms();
        await tab.hears('Passkey added.');
      });
      await tab.signsOut();
    });

    it('is required of a user with a passkey', async () => {
      await challenge();
      expect(await tab.page.locator('main').getByRole('button').allInnerTexts()).toEqual([
        'Use a passkey',
        'Start over',
      ]);
      expect(await tab.page.locator('main').getByRole('textbox').count()).toBe(0);
      expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('One more step');
    });

    it('is accessible in light and dark, and fits a phone', async () => {
      expect(await findingsIn(tab.page)).toEqual([]);
    });

    it('can be cancelled with a return to the sign-in form', async () => {
      await tab.presses('Start over');
      await challenge();
    });

    it('shows an accessible message after a cancellation, and changes nothing', async () => {
      await authenticator.refuse(async () => {
        await byPasskey();
        await tab.page.getByRole('alert').getByText(CANCELLED).waitFor();
      });
      expect(await findingsIn(tab.page)).toEqual([]);
      await tab.sees('One more step');
      await tab.hasFocus(tab.button('Use a passkey'));
    });

    it('signs in, also after a cancelled attempt', async () => {
      await authenticator.touch(async () => {
        await tab.page.keyboard.press('Enter');
        await isIn();
      });
      expect(await tab.page.getByText(CANCELLED).count()).toBe(0);
    });

    it('is an authentication method of its session, also after a refresh', async () => {
      await tab.page.reload();
      await isIn();
    });

    it('is not offered at an address without passkeys, and the page says so', async () => {
      const elsewhere = await visit.tab(await visit.person(), visit.sample.url);
      await elsewhere.signsIn();
      await elsewhere.sees('One more step');
      await elsewhere.page
        .getByText('None of the second factors of this account works in this browser at this address.')
        .waitFor();
      expect(await elsewhere.button('Use a passkey').count()).toBe(0);
      expect(await findingsIn(elsewhere.page)).toEqual([]);
      await elsewhere.presses('Start over');
      await elsewhere.sees('Sign in');
      await elsewhere.page.context().close();
      await tab.comesToFront();
    });

    it('is offered together with the codes of a second factor, and also completes the login', async () => {
      await tab.goes('Two-factor');
      await tab.presses('Set up two-factor');
      await tab.confirms();
      await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
      secret = secretIn((await tab.page.locator('.uri').textContent())!);
      await tab.fills({ 'Code from the app': codeAt(secret, step()) });
      await tab.presses('Turn on');
      await tab.hears('Two-factor is on.');
      await tab.signsOut();
      await challenge();
      await tab.field('Code from your authenticator app').waitFor();
      await tab.page.getByText('Use a recovery code instead').waitFor();
      expect(await findingsIn(tab.page)).toEqual([]);
      await authenticator.touch(async () => {
        await byPasskey();
        await isIn();
      });
      await tab.signsOut();
    });

    it('is refused after its deletion, and a code is still accepted', async () => {
      await challenge();
      await visit.sql('DELETE FROM svc_passkeys');
      await authenticator.touch(async () => {
        await tab.presses('Use a passkey');
        await tab.page.getByRole('alert').getByText('No account has this passkey.').waitFor();
      });
      await tab.fills({ 'Code from your authenticator app': codeAt(secret, step() + 1) });
      await tab.presses('Continue');
      await tab.sees('Overview');
      expect((await tab.payload()).amr).toEqual(['pwd', 'otp']);
    });

    it('cause no violation of the policy of the page', () => expect(visit.complaints).toEqual([]));
  });
});
