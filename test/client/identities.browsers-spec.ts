import { describeWithBrowser } from '../support/clients/browser';
import { type ClientTab, ClientVisitor } from '../support/clients/client-page';
import { eventually } from '../support/runtime/eventually';
import { SampleIdentities } from '../support/sample/identity-sample';
import { SampleVisit } from '../support/sample/sample-page';

const MODULE = `(await import('/web/auth-identities.js'))`;

describeWithBrowser('the browser client, with a provider', () => {
  const visit = SampleVisit.forFile();

  describe.each([
    ['cookie mode', 'cookie', 'true'],
    ['body mode', 'localStorage', 'false'],
  ])('in %s', (_, place, SVC_COOKIE_MODE) => {
    const identities = SampleIdentities.forTests(visit, { SVC_COOKIE_MODE });
    let person: ClientVisitor;
    let tab: ClientTab;

    beforeEach(async () => {
      person = await ClientVisitor.of(visit);
      tab = await person.tab({ refreshToken: place });
    });
    afterEach(() => person.context.close());

    /** The page to which the provider returns finishes nothing by itself. */
    const servesCallback = () =>
      person.context.route('**/web/main.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
    const amr = async () => (await tab.claims())?.amr;

    it('signs in in a window, which closes', async () => {
      identities.has('ada');
      expect(await tab.run(`${MODULE}.signInWith(auth, 'oidc', { popup: true })`)).toBeNull();
      expect(await amr()).toEqual(['fed']);
      expect(await tab.events()).toEqual(['signedIn login']);
      await eventually(async () => person.context.pages().length === 1);
      expect(Object.keys(await tab.storage()).filter((name) => name.includes('identity'))).toEqual([]);
    });

    it('signs in in the same window, and keeps nothing of the attempt', async () => {
      identities.has('ada');
      await servesCallback();
      await Promise.all([
        tab.page.waitForURL('**/signed-in?*'),
        tab.page.evaluate(`void import('/web/auth-identities.js').then(({ signInWith }) => signInWith(auth, 'oidc'))`),
      ]);
      await tab.start();
      const finished = await tab.run(`${MODULE}.finishSignIn(auth)`);
      expect(finished).toEqual({ way: 'sign-in', provider: 'oidc', answer: null });
      expect(tab.page.url()).toBe(`${visit.url}/signed-in`);
      expect(await amr()).toEqual(['fed']);
      expect(await tab.run('Object.keys(sessionStorage)')).toEqual([]);
    });

    it('goes to the provider in the same window if the browser blocks the other one', async () => {
      identities.has('ada');
      await servesCallback();
      await Promise.all([
        tab.page.waitForURL('**/signed-in?*'),
        tab.page.evaluate(`void import('/web/auth-identities.js').then(({ signInWith }) => {
          globalThis.open = () => null;
          return signInWith(auth, 'oidc', { popup: true });
        })`),
      ]);
      await tab.start();
      expect(await tab.run(`${MODULE}.finishSignIn(auth)`)).toMatchObject({ way: 'sign-in', answer: null });
    });

    it('refuses the callback of another browser', async () => {
      identities.has('ada');
      await servesCallback();
      await Promise.all([
        tab.page.waitForURL('**/signed-in?*'),
        tab.page.evaluate(`void import('/web/auth-identities.js').then(({ signInWith }) => signInWith(auth, 'oidc'))`),
      ]);
      const stolen = tab.page.url();
      const { origin, pathname, search } = new URL(stolen);
      const other = await ClientVisitor.of(visit);
      const elsewhere = await other.tab({ refreshToken: place });
      expect(await elsewhere.run(`${MODULE}.finishSignIn(auth, ${JSON.stringify(stolen)})`)).toEqual({ way: 'lost' });
      const post = `auth.routes.signIn('/identities/oidc/callback', ${JSON.stringify({ parameters: search, redirect_uri: origin + pathname })})`;
      expect(await elsewhere.rejected(post)).toMatchObject({
        status: 422,
        errors: { parameters: [expect.anything()] },
      });
      expect(await elsewhere.claims()).toBeUndefined();
      await other.context.close();
    });
  });
});
