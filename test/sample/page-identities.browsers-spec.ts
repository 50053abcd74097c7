import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser, savedDuring } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleIdentities } from '../support/sample/identity-sample';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

describeWithBrowser('the page of the sample, with a provider', () => {
  const visit = SampleVisit.forFile();

  /** Signs in at the provider, in the same window. */
  const continues = async (tab: Tab, heading = 'Overview') => {
    await tab.sees('Sign in');
    await tab.presses('Continue with Acme');
    await tab.sees(heading);
  };
  /** Another person uses the browser at the provider, whose cookies have another host. */
  const comes = async (identities: SampleIdentities, tab: Tab, ...who: Parameters<SampleIdentities['has']>) => {
    await tab.page.context().clearCookies({ domain: '127.0.0.1' });
    identities.has(...who);
  };
  const cards = (tab: Tab) => tab.page.locator('main .items').getByRole('listitem');
  const address = (tab: Tab) => tab.page.url().replace(visit.url, '');

  describe('that sends the browser back', () => {
    const identities = SampleIdentities.forTests(visit);
    let tab: Tab;

    beforeAll(async () => {
      tab = await visit.tab();
      await tab.page.setViewportSize(PHONE);
      await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    });

    it('offers it beside the password', async () => {
      await tab.button('Continue with Acme').waitFor();
      expect(await findingsIn(tab.page)).toEqual([]);
    });

    it('creates an account, and leaves no parameter in the address and in the history', async () => {
      identities.has('ada');
      const seen: string[] = [];
      tab.page.on('framenavigated', (frame) => seen.push(frame.url()));
      await continues(tab);
      expect((await tab.payload()).amr).toEqual(['fed']);
      expect(seen.some((url) => url.includes('/signed-in?code='))).toBe(true);
      expect(address(tab)).toBe('/#/');
      await tab.page.goBack();
      expect(tab.page.url()).not.toMatch(/code=|state=/);
      await tab.page.goto(visit.url);
      await tab.sees('Overview');
    });

    it('finds the same account the next time', async () => {
      identities.has('ada', { email: 'changed@example.com' });
      await tab.signsOut();
      await continues(tab);
      await tab.page.locator('.identity').getByText('ada@example.com').waitFor();
    });

    it('lists the linked account, which is the last way to sign in, and stays', async () => {
      identities.has('ada');
      await tab.goes('Linked accounts');
      expect(await cards(tab).getByRole('heading').allInnerTexts()).toEqual(['Acme']);
      expect(await findingsIn(tab.page)).toEqual([]);
      await tab.presses(/^Unlink /);
      await tab.answers('Unlink account');
      await tab.button('Confirm with Acme').waitFor();
      expect(await findingsIn(tab.page)).toEqual([]);
      await tab.presses('Confirm with Acme');
      await tab.page.getByRole('alert').getByText(/\w/).waitFor();
      expect(await cards(tab).count()).toBe(1);
      await tab.presses('Dismiss');
    });

    it('links another account in a window of its own, and unlinks it', async () => {
      await comes(identities, tab, 'second');
      await tab.presses('Link Acme');
      await tab.hears('The account is linked.');
      expect(await cards(tab).count()).toBe(2);
      await eventually(async () => tab.page.context().pages().length === 1);
      await tab.presses('Unlink second@example.com');
      await tab.answers('Unlink account');
      await tab.hears('The account is unlinked.');
      expect(await cards(tab).count()).toBe(1);
    });

    it('confirms with the provider what needs a confirmation, for a user without a password', async () => {
      await comes(identities, tab, 'ada');
      await tab.signsOut();
      await continues(tab);
      await tab.goes('Your data');
      const { text } = await savedDuring(tab.page, async () => {
        await tab.presses('Download data');
        await tab.dialog().waitFor();
        expect(await tab.dialog().getByRole('button').allInnerTexts()).toEqual(['Confirm with Acme', 'Not now']);
        await tab.presses('Confirm with Acme');
        await tab.dialog().waitFor({ state: 'detached' });
      });
      expect(JSON.parse(text)).toMatchObject({ account: { identifier: 'ada@example.com' } });
    });

    it('shows no confirmation by another person at the provider', async () => {
      identities.has('ada');
      await tab.signsOut();
      await continues(tab);
      await tab.goes('Your data');
      await tab.presses('Download data');
      await tab.dialog().waitFor();
      identities.has('eve');
      await tab.presses('Confirm with Acme');
      await tab.dialog().getByRole('alert').getByText(/\w/).waitFor();
      await tab.answers('Not now');
    });

    it('signs out here and at the provider', async () => {
      await tab.goes('Linked accounts');
      await tab.presses('Sign out here and there');
      await tab.page.waitForURL(`${identities.provider.issuer}/**`);
      await tab.presses('Sign out');
      await tab.sees('Sign in');
      expect(tab.page.url().startsWith(visit.url)).toBe(true);
    });

    it('ends the session that the provider has ended', async () => {
      identities.has('ada');
      await continues(tab);
      const body = new URLSearchParams({ logout_token: identities.provider.logoutToken('sample', { sub: 'ada' }) });
      const { status } = await fetch(`${visit.sample.url}/auth/identities/oidc/logout`, { method: 'POST', body });
      expect(status).toBe(200);
      await tab.chooses('Sessions');
      await tab.sees('Sign in');
      await tab.hears('Your session has ended.');
    });

    it('asks for what the provider does not say', async () => {
      await comes(identities, tab, 'silent', { email: undefined, name: undefined });
      await continues(tab, 'Create your account');
      expect(await findingsIn(tab.page)).toEqual([]);
      await tab.fills({ Name: 'Grace', Email: 'grace@example.com' });
      await tab.presses('Create account');
      await tab.sees('Overview');
      await tab.page.getByRole('heading', { name: 'Your account' }).waitFor();
      await tab.signsOut();
    });

    it('says that a callback of another browser is lost, and shows no parameter', async () => {
      await tab.page.goto(`${visit.url}/signed-in?code=c&state=s`);
      await tab.page.getByRole('alert').getByText('was begun in another browser').waitFor();
      expect(address(tab)).toBe('/#/signed-in');
      expect(await findingsIn(tab.page)).toEqual([]);
    });

    it('can be begun again after the provider has not answered', async () => {
      await comes(identities, tab, 'ada');
      await tab.page.goto(visit.url);
      identities.provider.answer('token', (_, response) => response.writeHead(503).end());
      await continues(tab, 'One moment');
      await tab.page.getByRole('alert').getByText(/\w/).waitFor();
      identities.provider.answer('token');
      await tab.page.getByRole('link', { name: 'Continue' }).click();
      await continues(tab);
    });

    it('causes no violation of the policy of the page', () => {
      // The provider has no icon, and has not answered once.
      expect(visit.complaints.filter((line) => !/status of (404|503)/.test(line))).toEqual([]);
    });
  });

  describe('that posts a form, as Apple does', () => {
    const identities = SampleIdentities.forTests(visit, { SAMPLE_OIDC_FORM_POST: 'true', SVC_COOKIE_MODE: 'true' });

    it('signs in with cookies that a foreign form does not send', async () => {
      identities.has('ada');
      const tab = await visit.tab();
      await continues(tab);
      expect((await tab.payload()).amr).toEqual(['fed']);
      expect(address(tab)).toBe('/#/');
      expect(await tab.page.evaluate('Object.keys(sessionStorage)')).toEqual([]);
      expect(visit.complaints).toEqual([]);
    });
  });
});
