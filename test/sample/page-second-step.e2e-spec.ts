import { PHONE, findingsIn } from '../support/accessibility';
import { Authenticator, describeWithBrowser } from '../support/browser';
import { SampleVisit, Tab } from '../support/sample-page';
import { codeAt, secretIn } from '../support/two-factor';

const CANCELLED = 'The passkey was not used: the request was cancelled, or took too long.';

const step = (): number => Math.floor(Date.now() / 30_000);

describeWithBrowser('a passkey after the password, at the page of the sample', () => {
  let visit: SampleVisit;
  let tab: Tab;
  let authenticator: Authenticator;
  let secret: string;

  beforeAll(async () => {
    visit = await SampleVisit.begin({ SVC_PASSKEY_REQUIRED: 'true' });
    tab = await visit.tab();
    await tab.page.setViewportSize(PHONE);
    await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    authenticator = await Authenticator.of(tab.page);
  }, 60_000);
  afterAll(() => visit?.end());

  const challenge = async () => {
    await tab.signsIn();
    await tab.sees('One more step');
  };
  const byPasskey = () => tab.presses('Use a passkey');
  const isIn = async () => {
    await tab.sees('Overview');
    expect((await tab.payload()).amr).toEqual(['pwd', 'webauthn']);
  };

  it('is asked of nobody who has none', async () => {
    await tab.signsIn();
    await tab.sees('Overview');
    await tab.goes('Passkeys');
    await tab.presses('Add a passkey');
    await tab.dialog().waitFor();
    await authenticator.touch(async () => {
      await tab.confirms();
      await tab.hears('The passkey is added.');
    });
    await tab.signsOut();
  });

  it('is the one way on for whoever has one', async () => {
    await challenge();
    expect(await tab.page.locator('main').getByRole('button').allInnerTexts()).toEqual(['Use a passkey', 'Start over']);
    expect(await tab.page.locator('main').getByRole('textbox').count()).toBe(0);
    expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('One more step');
  });

  it('is accessible in light and dark, and fits a phone', async () => {
    expect(await findingsIn(tab.page)).toEqual([]);
  });

  it('is given up by starting over, with the password', async () => {
    await tab.presses('Start over');
    await challenge();
  });

  it('that was cancelled says so, accessibly, and leaves everything as it was', async () => {
    await authenticator.refuse(async () => {
      await byPasskey();
      await tab.page.getByRole('alert').getByText(CANCELLED).waitFor();
    });
    expect(await findingsIn(tab.page)).toEqual([]);
    await tab.sees('One more step');
    await tab.hasFocus(tab.button('Use a passkey'));
  });

  it('signs in, also after it was cancelled', async () => {
    await authenticator.touch(async () => {
      await tab.page.keyboard.press('Enter');
      await isIn();
    });
    expect(await tab.page.getByText(CANCELLED).count()).toBe(0);
  });

  it('is in the session that it opened, also once that was renewed', async () => {
    await tab.page.reload();
    await isIn();
  });

  it('is not offered at an address that has none, which is said', async () => {
    const elsewhere = await visit.tab();
    await elsewhere.page.goto(visit.sample.url);
    await elsewhere.signsIn();
    await elsewhere.sees('One more step');
    await elsewhere.page.getByText('None that this account has works in this browser at this address.').waitFor();
    expect(await elsewhere.button('Use a passkey').count()).toBe(0);
    expect(await findingsIn(elsewhere.page)).toEqual([]);
    await elsewhere.presses('Start over');
    await elsewhere.sees('Sign in');
  });

  it('is offered beside the codes of a second factor, and is as good', async () => {
    await tab.goes('Two-factor');
    await tab.presses('Set it up');
    await tab.confirms();
    await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
    secret = secretIn((await tab.page.locator('.uri').textContent())!);
    await tab.fills({ 'The code that it shows': codeAt(secret, step()) });
    await tab.presses('Switch it on');
    await tab.hears('Two-factor authentication is on.');
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

  it('that the account has no more is refused, and the code is still a way on', async () => {
    await challenge();
    await visit.sql('DELETE FROM passkeys');
    await authenticator.touch(async () => {
      await tab.presses('Use a passkey');
      await tab.page.getByRole('alert').getByText('The passkey could not be verified.').waitFor();
    });
    await tab.fills({ 'Code from your authenticator app': codeAt(secret, step() + 1) });
    await tab.button('Continue').first().click();
    await tab.sees('Overview');
    expect((await tab.payload()).amr).toEqual(['pwd', 'otp']);
  });

  it('has broken no rule of the page', () => expect(visit.complaints).toEqual([]));
});
