import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser } from '../support/clients/browser';
import { SampleAccount } from '../support/sample/sample-account';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

const LIMITS = {
  SVC_REGISTER_MAX_ATTEMPTS: '1000',
  SVC_VERIFY_MAX_ATTEMPTS: '1000',
  SVC_EMAIL_CHANGE_MAX_ATTEMPTS: '1000',
};
const [NEW_ADDRESS, NEW_PASSWORD] = ['ada@new.example.com', 'a horse with wings'];

describeWithBrowser('changes on the page of the sample', () => {
  const visit = SampleVisit.forFile();
  // No error, and no violation of the policy of the page.
  afterEach(() => expect(visit.complaints).toEqual([]));

  let tab: Tab;
  let ada: SampleAccount;

  /** A new customer, who has not signed in yet, and a new browser. */
  const isNew = async () => {
    ada = await SampleAccount.of(visit);
    tab = await visit.tab();
    await tab.page.setViewportSize(PHONE);
  };
  const leaves = () => tab.page.context().close();
  const isAccessible = async (of = tab) => expect(await findingsIn(of.page)).toEqual([]);

  describe('of the address', () => {
    visit.forTests(LIMITS);
    beforeEach(isNew);
    afterEach(leaves);

    const asks = async (address: string) => {
      await tab.goes('Email');
      await tab.fills({ 'New email': address });
      await tab.presses('Send link');
      await tab.dialog().waitFor();
      await tab.confirms(ada.password);
      await tab.hears(`Open the link that we have sent to ${address}.`);
    };
    const opens = async (address: string, path: string, of = tab) => {
      const link = await visit.mailed(address, path);
      // A program that checks mails opens links, too.
      expect((await fetch(link)).status).toBe(200);
      const opened = await visit.tab(of.page.context(), link);
      expect(opened.page.url()).toBe(`${visit.url}/#${path}`);
      return opened;
    };

    it('is confirmed in another tab, which ends other sessions, and is undone by the owner of the former address', async () => {
      const elsewhere = await visit.tab();
      for (const one of [tab, elsewhere]) {
        await one.comesToFront();
        await ada.signsIn(one);
        await one.sees('Overview');
      }
      await tab.comesToFront();
      await asks(NEW_ADDRESS);
      await isAccessible();

      const second = await opens(NEW_ADDRESS, '/confirm-email');
      await second.sees('Confirm your new email');
      expect(await second.page.locator('main dd').allInnerTexts()).toEqual([ada.email, NEW_ADDRESS]);
      await isAccessible(second);
      await second.presses('Confirm new email');
      await second.sees('Your email is changed');
      await isAccessible(second);
      await second.page.getByRole('link', { name: 'Continue' }).click();
      await second.sees('Overview');
      await second.page.locator('main').getByText(NEW_ADDRESS).waitFor();
      await tab.comesToFront();
      await tab.goes('Overview');
      await tab.page.locator('main').getByText(NEW_ADDRESS).waitFor();
      await elsewhere.comesToFront();
      await elsewhere.chooses('Sessions');
      await elsewhere.sees('Sign in');
      await elsewhere.hears('Your session has ended.');

      const owner = await opens(ada.email, '/undo-email', elsewhere);
      await owner.sees('Restore your email');
      await isAccessible(owner);
      await owner.presses('Restore my email');
      await owner.sees('Your email is restored');
      await isAccessible(owner);
      await tab.comesToFront();
      await tab.chooses('Sessions');
      await tab.sees('Sign in');
      await tab.signsIn(NEW_ADDRESS, ada.password);
      await tab.isRefused('These credentials do not match our records.');

      const reset = await opens(ada.email, '/reset-password', elsewhere);
      await reset.fills({ 'New password': NEW_PASSWORD });
      await reset.presses('Set new password');
      await reset.hears('Your password is changed.');
      await reset.signsIn(ada.email, NEW_PASSWORD);
      await reset.sees('Overview');
      await elsewhere.page.context().close();
    });

    it('is undone in the browser whose session it ends', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await asks('ada@other.example.com');
      const second = await opens('ada@other.example.com', '/confirm-email');
      await second.presses('Confirm new email');
      await second.sees('Your email is changed');
      const third = await opens(ada.email, '/undo-email');
      await third.presses('Restore my email');
      await third.sees('Your email is restored');
      await tab.comesToFront();
      await tab.sees('Sign in');
    });

    it('says the same for a taken address, and mails no link to it', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await asks('demo@example.com');
      await tab.goes('Overview');
      await tab.page.locator('main').getByText(ada.email).waitFor();
    });

    it.each([
      ['/confirm-email', 'Confirm new email'],
      ['/undo-email', 'Restore my email'],
      ['/unknown-sign-in', 'No, sign out everywhere'],
    ])('refuses a link that is not valid, and explains a missing token: %s', async (path, label) => {
      await tab.page.goto(`${visit.url}${path}?token=invalid`);
      await tab.presses(label);
      await tab.sees('This link does not work');
      await tab.page
        .locator('main p')
        .getByText(/^This link/)
        .waitFor();
      await tab.page.getByRole('link', { name: 'Continue' }).waitFor();
      await isAccessible();
      await tab.page.goto(`${visit.url}${path}`);
      await tab.page.getByText('This page has only a part of the link, or none.').waitFor();
      await tab.sees('This link does not work');
      await isAccessible();
    });
  });

  describe('after a sign-in on a new device', () => {
    visit.forTests(LIMITS);
    beforeEach(isNew);
    afterEach(leaves);

    it('ends the session of a stranger, and all others, with the link of the mail', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      const stranger = await visit.tab();
      // The first mail is about the browser of the owner: the account was created elsewhere.
      await ada.signsIn(stranger);
      await stranger.sees('Overview');

      await tab.comesToFront();
      const report = await visit.tab(tab.page.context(), await visit.mailed(ada.email, '/unknown-sign-in', 2));
      await report.sees('Was this you?');
      expect(await report.page.locator('main dt').allInnerTexts()).toEqual([
        'Account',
        'Device',
        'Signed in',
        'IP address',
      ]);
      await report.page.locator('main dd').getByText(' on Linux').waitFor();
      await report.presses('No, sign out everywhere');
      await report.sees('You are signed out everywhere');
      await isAccessible(report);
      await stranger.comesToFront();
      await stranger.chooses('Orders');
      await stranger.sees('Sign in');
      await stranger.hears('Your session has ended.');
      await stranger.page.context().close();
      await tab.comesToFront();
      await tab.sees('Sign in');
      expect(await visit.mailed(ada.email, '/reset-password')).toContain('token=');
    });

    it('lists the known devices, and forgets one', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await tab.goes('Devices');
      await isAccessible();
      const known = tab.page.getByRole('group', { name: 'Known devices' });
      // The registration of the account came from another device.
      expect(await known.getByRole('listitem').count()).toBe(2);
      await known.getByRole('listitem').filter({ hasText: 'This device' }).getByRole('button').click();
      await isAccessible();
      await tab.answers('Forget device');
      await tab.hears('The device is forgotten.');
      expect(await known.getByRole('listitem').count()).toBe(1);
    });
  });

  describe('of what the session may do', () => {
    visit.forTests({ ...LIMITS, SVC_CODE_MAX_ATTEMPTS: '1000' });
    beforeEach(isNew);
    afterEach(leaves);

    const statement = () => tab.presses('Show statement');
    const party = () => tab.presses('Order one of everything');
    const isOrdered = () => tab.page.getByRole('status').getByText('Ordered: tea, coffee, cake.').waitFor();
    const sessionCount = async () => {
      await tab.goes('Sessions');
      return tab.page.locator('main').getByRole('listitem').count();
    };
    /** The session was started an hour ago. */
    const isOld = async () => {
      await visit.sql("UPDATE svc_sessions SET auth_time = auth_time - interval '1 hour'");
      await tab.presses('Renew now');
      await tab.lives('Renewed');
    };

    it('asks for another sign-in after some time, and then repeats the request', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await tab.goes('Orders');
      await statement();
      await tab.page.getByRole('status').getByText('Nothing ordered yet.').waitFor();
      await tab.goes('Overview');
      await isOld();
      await tab.goes('Orders');
      await statement();
      await tab.page.getByRole('heading', { name: 'Sign in again' }).waitFor();
      await isAccessible();
      await tab.page.keyboard.press('Escape');
      await tab.hasFocus(tab.button('Show statement'));
      expect(await tab.page.locator('.toast').allInnerTexts()).toEqual(['', '']);
      await statement();
      await tab.dialog().getByLabel('Password', { exact: true }).fill('wrong');
      await tab.answers('Continue');
      await tab.isRefused('These credentials do not match our records.');
      await tab.dialog().getByLabel('Password', { exact: true }).fill(ada.password);
      await tab.answers('Continue');
      await tab.page.getByRole('status').getByText('Nothing ordered yet.').waitFor();
      expect(await sessionCount()).toBe(1);
    });

    it('explains that a second factor is needed, to a user without one', async () => {
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await tab.goes('Orders');
      await party();
      await tab.page.getByRole('heading', { name: 'You need a second factor' }).waitFor();
      await isAccessible();
      await tab.dialog().getByRole('link', { name: 'Authenticator app' }).click();
      await tab.sees('Two-factor');
    });

    it('asks a user on a trusted device for the second factor, and then repeats the request', async () => {
      await ada.addAuthenticator();
      await ada.signsIn(tab);
      await tab.sees('One more step');
      await tab.field('Trust this device for 30 days').check();
      await tab.fills({ 'Code from your authenticator app': await ada.code() });
      await tab.presses('Continue');
      await tab.sees('Overview');
      await tab.goes('Orders');
      await party();
      await isOrdered();
      await tab.signsOut();
      await ada.signsIn(tab);
      await tab.sees('Overview');
      await tab.goes('Orders');
      await party();
      await tab.dialog().getByText('The trust in your devices ends').waitFor();
      await tab.dialog().getByLabel('Password', { exact: true }).fill(ada.password);
      await tab.answers('Continue');
      await tab.dialog().getByText('Your password is correct.').waitFor();
      await isAccessible();
      await tab.dialog().getByText('Use a recovery code instead').click();
      await tab.fills({ 'Recovery code': ada.recoveryCodes[0]! });
      await tab.dialog().getByRole('button', { name: 'Use recovery code' }).click();
      await isOrdered();
      expect(await tab.page.locator('.orders li').count()).toBe(6);
      expect(await sessionCount()).toBe(1);
    });
  });

  describe('under a confirmation with two factors', () => {
    visit.forTests({ ...LIMITS, SVC_CONFIRM_FACTORS: 'all' });
    beforeEach(isNew);
    afterEach(leaves);

    it('asks for the password and a code, or a recovery code', async () => {
      await ada.addAuthenticator();
      await ada.signsInWithCode(tab);
      await tab.goes('Your data');
      await tab.deletesAccount();
      await tab.page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
      await isAccessible();
      const code = tab.dialog().getByLabel('Code from your authenticator app, or a recovery code');
      for (const [given, refusal] of [
        ['000000', 'The code is not correct.'],
        ['AAAAAAAAAA-AAAAAAAAAA', 'The code is not correct.'],
      ] as const) {
        await code.fill(given);
        await tab.confirms(ada.password);
        await tab.isRefused(refusal);
      }
      await code.fill(ada.recoveryCodes[0]!.toLowerCase().replaceAll('-', ' '));
      await tab.confirms(ada.password);
      await tab.hears('Your account is deleted.');
    });
  });
});
