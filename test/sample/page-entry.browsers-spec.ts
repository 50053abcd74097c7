import { findingsIn } from '../support/clients/accessibility';
import { VirtualAuthenticator, describeWithBrowser, inFirefox } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleAccount } from '../support/sample/sample-account';
import { SampleVisit, type Tab } from '../support/sample/sample-page';
import { codeAt, secretIn } from '../support/flows/totp';

const LIMITS = { SVC_REGISTER_MAX_ATTEMPTS: '1000', SVC_CODE_MAX_ATTEMPTS: '1000' };
const DAY = 86_400_000;

/** Autofill could be faster than a click. */
const WITHOUT_AUTOFILL = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false';

describeWithBrowser('the entry to the page of the sample', () => {
  const visit = SampleVisit.forFile();

  // No error, and no violation of the policy of the page.
  afterEach(() => expect(visit.complaints).toEqual([]));

  const amr = async (tab: Tab) => (await tab.payload()).amr;
  const isAccessible = async (tab: Tab) => expect(await findingsIn(tab.page)).toEqual([]);

  describe('with a mailed code', () => {
    visit.forTests(LIMITS);
    let tab: Tab;
    let ada: SampleAccount;

    beforeEach(async () => {
      tab = await visit.tab();
      ada = await SampleAccount.of(visit);
    });
    afterEach(() => tab.page.context().close());

    const asks = async (email = ada.email) => {
      await tab.presses('Email me a code');
      await tab.sees('Sign in with a code');
      await tab.fills({ Email: email });
      await tab.presses('Send code');
      await tab.sees('Enter your code');
    };
    const link = () => visit.mailed(ada.email, '/sign-in-code');
    const code = async () => new URLSearchParams(new URL(await link()).hash.slice(1)).get('code')!;

    it('signs in with the code of the mail, after a wrong one was refused', async () => {
      await asks();
      const mailed = await code();
      await tab.hasFocus(tab.field('Code from the email'));
      await tab.fills({ 'Code from the email': mailed.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)) });
      await tab.presses('Sign in');
      await tab.isRefused('This code is not correct, or not valid any more.');
      await tab.fills({ 'Code from the email': [...mailed].join(' - ') });
      await tab.presses('Sign in');
      await tab.sees('Overview');
      expect(await amr(tab)).toEqual(['email']);
      await tab.lives('Signed in');
      await tab.page.getByText('By emailed code.').waitFor();
    });

    it('is mailed at once to the address of the sign-in, which another code and other ways keep', async () => {
      const carried = () => tab.field('Email').inputValue();
      await tab.fills({ Email: 'ada@' });
      await tab.presses('Email me a code');
      await tab.sees('Sign in with a code');
      expect(await carried()).toBe('ada@');
      for (const [way, view] of [
        ['Forgot your password?', 'Forgot your password?'],
        ['Create an account', 'Create your account'],
      ] as const) {
        await tab.page.goBack();
        await tab.sees('Sign in');
        await tab.fills({ Email: ada.email });
        await tab.page.getByRole('link', { name: way }).click();
        await tab.sees(view);
        expect(await carried()).toBe(ada.email);
      }
      await tab.page.goBack();
      await tab.sees('Sign in');
      await tab.fills({ Email: ada.email });
      await tab.page.route('**/auth/login/code', (route) => route.abort());
      await tab.presses('Email me a code');
      await tab.page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
      expect(await carried()).toBe(ada.email);
      await tab.page.unrouteAll();
      // The browser logs the request that got no answer.
      visit.complaints.splice(0);
      await tab.page.goBack();
      await tab.sees('Sign in');
      await tab.fills({ Email: ada.email });
      await tab.presses('Email me a code');
      await tab.sees('Enter your code');
      expect(await code()).toMatch(/./);
      await tab.presses('Get a new code');
      await tab.button('Send code').waitFor();
      expect(await carried()).toBe(ada.email);
    });

    it('signs in with the link of the mail in another tab, and signs in the first tab', async () => {
      await asks();
      const other = await visit.tab(tab.page.context(), await link());
      await other.sees('Sign in with a code');
      expect(other.page.url()).toBe(`${visit.url}/#/sign-in-code`);
      expect(await other.field('Code from the email').inputValue()).toBe(await code());
      await other.presses('Sign in');
      await other.sees('Overview');
      await tab.comesToFront();
      await tab.sees('Overview');
    });

    it('does not sign in with the link in another browser', async () => {
      await asks();
      const other = await visit.tab(undefined, await link());
      await other.presses('Sign in');
      await other.isRefused('This code is not correct, or not valid any more.');
      await other.page.getByRole('link', { name: 'Get a new code' }).click();
      await other.button('Send code').waitFor();
      await other.page.context().close();
      await tab.fills({ 'Code from the email': await code() });
      await tab.presses('Sign in');
      await tab.sees('Overview');
    });

    it('offers another code when one is refused', async () => {
      await asks();
      await tab.presses('Get a new code');
      await tab.button('Send code').waitFor();
    });

    it('asks for the second factor, too', async () => {
      await ada.addAuthenticator();
      await asks();
      await tab.fills({ 'Code from the email': await code() });
      await tab.presses('Sign in');
      await tab.sees('One more step');
      await tab.page.getByText('Your code is correct.').waitFor();
      await tab.fills({ 'Code from your authenticator app': await ada.code() });
      await tab.presses('Continue');
      await tab.sees('Overview');
      expect(await amr(tab)).toEqual(['email', 'otp']);
    });

    it('says the same for an address without an account, and is accessible in each step', async () => {
      await tab.page.setViewportSize({ width: 360, height: 740 });
      await tab.presses('Email me a code');
      await tab.sees('Sign in with a code');
      await isAccessible(tab);
      await tab.page.getByRole('link', { name: 'Back to sign in' }).click();
      await tab.sees('Sign in');
      await asks('nobody@example.com');
      await tab.page.getByText('If there is an account for nobody@example.com, we have sent a code to it.').waitFor();
      await isAccessible(tab);
      await tab.page.goto(`${visit.url}/sign-in-code#code=12345678`);
      await tab.field('Code from the email').waitFor();
      await isAccessible(tab);
      await tab.page.getByRole('link', { name: 'Back to sign in' }).click();
      await tab.sees('Sign in');
      await tab.presses('Email me a code');
      await tab.button('Send code').waitFor();
    });
  });

  describe('that remembers the user or not', () => {
    // Before `forTests`, which closes the page: Jest runs such hooks in this order.
    afterAll(() => authenticator.remove());
    visit.forTests({ ...LIMITS, SVC_COOKIE_MODE: 'true' });
    let tab: Tab;
    let authenticator: VirtualAuthenticator;

    beforeAll(async () => {
      tab = await visit.tab();
      authenticator = await VirtualAuthenticator.of(tab.page);
    });

    /** The end of the refresh cookie in days; -1 if it ends with the browser. */
    const cookieDays = async () => {
      const cookies = await tab.page.context().cookies();
      const { expires } = cookies.find(({ name }) => name.endsWith('refresh'))!;
      return expires < 0 ? -1 : Math.round((expires * 1000 - Date.now()) / DAY);
    };
    /** When the session in the list ends, in hours. */
    const sessionHours = async () => {
      await tab.goes('Sessions');
      const card = tab.page.getByRole('listitem').filter({ hasText: 'This session' });
      const end = card.locator('dl > div', { hasText: 'Ends' }).locator('time');
      return Math.round((Date.parse((await end.getAttribute('datetime'))!) - Date.now()) / 3_600_000);
    };

    it('ends the session with the browser, and after twelve hours, without the choice', async () => {
      await tab.page.getByText('Otherwise the session ends with the browser, and after 12 hours.').waitFor();
      await tab.signsIn();
      await tab.sees('Overview');
      expect([await cookieDays(), await sessionHours()]).toEqual([-1, 12]);
      await tab.goes('Passkeys');
      await tab.presses('Add passkey');
      await tab.dialog().waitFor();
      await authenticator.touch(async () => {
        await tab.confirms();
        await tab.hears('Passkey added.');
      });
    });

    it('keeps the session for thirty days with the choice', async () => {
      await tab.page.evaluate(WITHOUT_AUTOFILL);
      await tab.signsOut();
      await tab.field('Stay signed in').check();
      await tab.signsIn();
      await tab.sees('Overview');
      expect([await cookieDays(), await sessionHours()]).toEqual([30, 720]);
    });

    it.each([
      [false, -1, 12],
      [true, 30, 720],
    ])('with a passkey: %s', async (isRemembered, days, hours) => {
      await tab.signsOut();
      await tab.field('Stay signed in').setChecked(isRemembered);
      await authenticator.touch(async () => {
        await tab.presses('Sign in with a passkey');
        await tab.sees('Overview');
      });
      expect([await cookieDays(), await sessionHours()]).toEqual([days, hours]);
    });
  });

  describe('on a trusted device', () => {
    visit.forTests(LIMITS);
    let tab: Tab;
    let ada: SampleAccount;

    beforeAll(async () => {
      tab = await visit.tab();
      ada = await SampleAccount.of(visit);
      await ada.addAuthenticator();
    });

    it('needs the second factor once, if the user trusts the device', async () => {
      await ada.signsIn(tab);
      await tab.sees('One more step');
      // The code is first, and has the focus. The choice is below it.
      await tab.hasFocus(tab.field('Code from your authenticator app'));
      await tab.page.keyboard.press('Tab');
      await tab.hasFocus(tab.field('Trust this device for 30 days'));
      await tab.field('Trust this device for 30 days').check();
      await isAccessible(tab);
      await tab.fills({ 'Code from your authenticator app': await ada.code() });
      await tab.presses('Continue');
      await tab.sees('Overview');
      expect(await amr(tab)).toEqual(['pwd', 'otp']);
      await tab.signsOut();
      await ada.signsIn(tab);
      await tab.sees('Overview');
      expect(await amr(tab)).toEqual(['pwd']);
    });

    it('is not trusted in another browser', async () => {
      const other = await visit.tab();
      await ada.signsIn(other);
      await other.sees('One more step');
      await other.page.context().close();
    });

    it('needs the second factor again after the end of the trust', async () => {
      await tab.goes('Devices');
      await isAccessible(tab);
      await tab.button(/^Stop trusting /).click();
      await tab.hears('This device is no longer trusted.');
      await tab.page.getByText('No trusted devices.').waitFor();
      await tab.signsOut();
      await ada.signsInWithCode(tab);
    });
  });

  describe('where a second factor is required', () => {
    // Before `forTests`, which closes the page: Jest runs such hooks in this order.
    afterAll(() => authenticator.remove());
    visit.forTests({ ...LIMITS, SVC_2FA_REQUIRED: 'true' });
    let tab: Tab;
    let authenticator: VirtualAuthenticator;

    beforeAll(async () => {
      tab = await visit.tab();
      authenticator = await VirtualAuthenticator.of(tab.page);
    });

    const heading = 'Set up a second factor';

    it('sets up an authenticator app, and then shows the recovery codes', async () => {
      await tab.presses('Use the demo account');
      await tab.sees(heading);
      await isAccessible(tab);
      await tab.presses('Use an authenticator app');
      await tab.sees('Set up your authenticator app');
      await isAccessible(tab);
      const secret = secretIn((await tab.page.locator('.uri').textContent())!);
      await tab.fills({ 'Code from the app': '000000' });
      await tab.presses('Turn on and sign in');
      await tab.isRefused('The code is not correct.');
      await tab.fills({ 'Code from the app': codeAt(secret, Math.floor(Date.now() / 30_000)) });
      await tab.presses('Turn on and sign in');
      await tab.sees('Save your recovery codes');
      expect(await tab.page.locator('.codes li').count()).toBe(8);
      await isAccessible(tab);
      await tab.presses('Continue');
      await tab.sees('Overview');
      expect(await amr(tab)).toEqual(['pwd', 'otp']);
      await tab.signsOut();
      await tab.signsIn();
      await tab.sees('One more step');
      await tab.presses('Start over');
    });

    it('sets up a passkey after a registration', async () => {
      await tab.page.evaluate(WITHOUT_AUTOFILL);
      await tab.page.getByRole('link', { name: 'Create an account' }).click();
      await tab.sees('Create your account');
      await tab.fills({ Name: 'Ada', Email: 'ada@example.com', Password: 'seven green bottles' });
      await tab.presses('Create account');
      await tab.sees(heading);
      await authenticator.refuse(async () => {
        await tab.presses('Create a passkey');
        await tab.page.getByRole('alert').getByText('The passkey was not used').waitFor();
      });
      await authenticator.touch(async () => {
        await tab.presses('Create a passkey');
        await tab.sees('Overview');
      });
      expect(await amr(tab)).toEqual(['pwd', 'webauthn']);
      expect(await authenticator.held()).toHaveLength(1);
      await tab.signsOut();
    });

    it('begins with the password again when the enrolment is not valid any more', async () => {
      const { email, password } = { email: 'grace@example.com', password: 'seven green bottles' };
      const fields = { name: 'Grace', email, password, password_confirmation: password };
      await visit.sample.call('POST', '/auth/register', fields);
      await tab.signsIn(email, password);
      await tab.sees(heading);
      await visit.sql("UPDATE users SET password_hash = NULL WHERE email = 'grace@example.com'");
      await tab.presses('Use an authenticator app');
      await tab.sees('Sign in');
      await tab.page.getByRole('alert').getByText('Please start again.').waitFor();
    });
  });

  describe('without a password', () => {
    afterAll(() => authenticator.remove());
    visit.forTests(LIMITS);
    let tab: Tab;
    let authenticator: VirtualAuthenticator;

    beforeAll(async () => {
      tab = await visit.tab();
      await tab.page.evaluate(WITHOUT_AUTOFILL);
      authenticator = await VirtualAuthenticator.of(tab.page);
    });

    it('creates an account with a passkey, after the form has shown the errors', async () => {
      await tab.page.getByRole('link', { name: 'Create an account' }).click();
      await tab.sees('Create your account');
      await tab.hasFocus(tab.field('Name'));
      await tab.page.getByRole('link', { name: 'Use a passkey, without a password' }).click();
      await tab.sees('Create your account with a passkey');
      await isAccessible(tab);
      await tab.fills({ Name: 'Ada', Email: 'ada@example.com' });
      await authenticator.refuse(async () => {
        await tab.presses('Create account with a passkey');
        await tab.isRefused('The passkey was not used');
      });
      await authenticator.touch(async () => {
        // Firefox does not have the signal of unknown passkeys, and would keep that of the refused registration.
        if (!inFirefox) {
          await tab.fills({ Email: 'demo@example.com' });
          await tab.presses('Create account with a passkey');
          await tab.isRefused('This email is taken.');
          await eventually(async () => (await authenticator.held()).length === 0);
          await tab.fills({ Email: 'ada@example.com' });
        }
        await tab.presses('Create account with a passkey');
        await tab.sees('Overview');
      });
      await tab.page.getByRole('heading', { name: 'Your account' }).waitFor();
      expect(await amr(tab)).toEqual(['webauthn']);
    });

    it('keeps the last passkey, until a first password is set', async () => {
      await tab.goes('Passkeys');
      const remove = async () => {
        await tab.presses('Delete Unnamed passkey');
        await tab.answers('Delete passkey');
      };
      await authenticator.touch(async () => {
        await remove();
        await tab.presses('Confirm with a passkey');
        await tab.page.getByRole('alert').getByText('This is your only way to sign in.').waitFor();
      });
      await tab.goes('Password');
      await tab.fills({ 'New password': 'seven green bottles' });
      await tab.presses('Set password');
      await tab.hears('Your password is set.');
      await tab.field('Current password').waitFor();
      await tab.goes('Passkeys');
      await remove();
      await tab.dialog().getByLabel('Password', { exact: true }).waitFor();
      await tab.confirms('seven green bottles');
      await tab.hears('Passkey deleted.');
    });

    describe('a passkey that the password manager creates by itself', () => {
      it('is not created where the browser has not filled in the password, and nothing is said', async () => {
        await tab.page.evaluate(WITHOUT_AUTOFILL);
        await tab.signsOut();
        const ada = await SampleAccount.of(visit);
        await authenticator.touch(async () => {
          await ada.signsIn(tab);
          await tab.sees('Overview');
        });
        await tab.goes('Passkeys');
        await tab.page.getByText('No passkeys yet.').waitFor();
        await tab.signsOut();
      });

      // Browsers create one only after their password manager has filled in the password, which no test can cause. So the
      // conditional ceremony is replaced by one that the virtual authenticator answers.
      it('is stored, with a small notice, and no second one is created at the next sign-in', async () => {
        await tab.page.evaluate(`(() => {
          PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
          const create = navigator.credentials.create.bind(navigator.credentials);
          globalThis.mediations = [];
          navigator.credentials.create = ({ mediation, ...rest }) => (mediations.push(mediation), create(rest));
        })()`);
        const ada = await SampleAccount.of(visit);
        await authenticator.touch(async () => {
          await ada.signsIn(tab);
          await tab.hears('Passkey saved. Next time, sign in with it.');
        });
        expect(await tab.page.evaluate('mediations')).toEqual(['conditional']);
        await isAccessible(tab);
        await tab.goes('Passkeys');
        await tab.page.getByText('Unnamed passkey').waitFor();
        await tab.signsOut();
        await ada.signsIn(tab);
        await tab.sees('Overview');
        await tab.goes('Passkeys');
        expect(await tab.page.evaluate('mediations')).toEqual(['conditional']);
        expect(await tab.dialog().count()).toBe(0);
        await tab.signsOut();
      });

      it('is also stored after a code', async () => {
        const ada = await SampleAccount.of(visit);
        await ada.addAuthenticator();
        await authenticator.touch(async () => {
          await ada.signsInWithCode(tab);
          await tab.hears('Passkey saved. Next time, sign in with it.');
        });
      });
    });
  });
});
