import { randomBytes } from 'node:crypto';
import { messageIn } from '@svc/auth/languages';
import { PHONE, findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { SampleVisit, type Tab } from '../support/sample/sample-page';

/** A language, what its button of the sign-in says, and the heading of the overview. */
const LANGUAGES = [
  ['de', 'Anmelden', 'Übersicht', 'Demokonto verwenden'],
  ['fr', 'Se connecter', 'Aperçu', 'Utiliser le compte de démonstration'],
  ['es', 'Iniciar sesión', 'Resumen', 'Usar la cuenta de demostración'],
  ['pt', 'Entrar', 'Visão geral', 'Usar a conta de demonstração'],
  ['ja', 'ログイン', '概要', 'デモアカウントを使う'],
] as const;

describeWithBrowser('the page of the sample in a language', () => {
  const visit = SampleVisit.forFile();
  visit.forTests({ SVC_REGISTER_MAX_ATTEMPTS: '1000' });
  let tab: Tab;

  afterEach(async () => {
    await tab.page.context().close();
    expect(visit.complaints).toEqual([]);
  });

  /** The subjects of the mails to an address. */
  const subjects = async (address: string): Promise<string[]> => {
    const { body } = await visit.sample.call('GET', '/mailbox/mails');
    const { data } = body as unknown as { data: { to: string; subject: string }[] };
    return data.filter(({ to }) => to === address).map(({ subject }) => subject);
  };

  it.each(LANGUAGES)(
    'is in %s for a browser that prefers it, and so are the messages of the server',
    async (...row) => {
      const [language, signIn, overview, demo] = row;
      tab = await visit.tab(await visit.person({ locale: language, viewport: PHONE }));
      await tab.sees(signIn);
      expect(await tab.page.evaluate('document.documentElement.lang')).toBe(language);
      await tab.page.locator('[name=email]').fill('demo@example.com');
      await tab.page.locator('[name=password]').fill('wrong');
      await tab.button(signIn).click();
      await tab.isRefused(messageIn(language, 'auth.wrong_credentials'));
      await tab.presses(demo);
      await tab.sees(overview);
      expect(await findingsIn(tab.page)).toEqual([]);
    },
  );

  it('is that of what a form demands and of what is sold, in a browser with another language', async () => {
    tab = await visit.tab();
    await tab.page.getByLabel('Language').selectOption('de');
    await tab.sees('Anmelden');
    await tab.presses('Anmelden');
    await tab.page.locator('.field:has([aria-invalid]:focus) .error').waitFor();
    const empty = 'Füllen Sie dieses Feld aus.';
    expect(await tab.page.locator('.field:not(.check) .error').allInnerTexts()).toEqual([empty, empty]);
    await tab.fills({ 'E-Mail': 'ada', Passwort: 'x' });
    await tab.presses('Anmelden');
    await tab.isRefused('Geben Sie eine E-Mail-Adresse ein, zum Beispiel name@example.com.');
    await tab.page.getByRole('link', { name: 'Konto erstellen' }).click();
    await tab.sees('Konto erstellen');
    await tab.fills({ Name: 'Ada', 'E-Mail': 'ada@example.com' });
    await tab.field('Passwort').pressSequentially('short');
    await tab.presses('Konto erstellen');
    await tab.isRefused('Verwenden Sie mindestens 8 Zeichen.');
    await tab.page.getByRole('link', { name: 'Haben Sie ein Konto? Anmelden' }).click();
    await tab.presses('Demokonto verwenden');
    await tab.sees('Übersicht');
    await tab.goes('Bestellungen');
    await tab.presses('Kuchen bestellen');
    await tab.hears('Bestellt: Kuchen.');
    await tab.goes('Ihre Daten');
    await tab.presses('Konto löschen');
    await tab.dialog().getByLabel('Geben Sie zur Bestätigung „löschen“ ein').fill('nein');
    await tab.answers('Konto löschen');
    await tab.isRefused('Geben Sie „löschen“ ein.');
  });

  it('can be chosen, and the mails to the user follow', async () => {
    tab = await visit.tab();
    await tab.page.getByLabel('Language').selectOption('de');
    await tab.sees('Anmelden');
    await tab.page.reload();
    await tab.sees('Anmelden');
    await tab.page.getByRole('link', { name: 'Konto erstellen' }).click();
    await tab.sees('Konto erstellen');
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    await tab.fills({ Name: 'Ada', 'E-Mail': email, Passwort: 'seven green bottles' });
    await tab.presses('Konto erstellen');
    await tab.sees('Übersicht');
    // The first mail, too, which is written while the account is created.
    await eventually(async () => (await subjects(email)).length > 0);
    expect(await subjects(email)).toEqual(['Bestätigen Sie Ihre E-Mail-Adresse für Orders']);
    // The page does not wait until the server has the language.
    const isKept = tab.page.waitForResponse('**/user/language');
    await tab.page.getByLabel('Sprache').selectOption('es');
    await tab.sees('Resumen');
    await isKept;
    await tab.presses('Reenviar enlace');
    await eventually(async () => (await subjects(email)).length > 1);
    expect((await subjects(email))[0]).toBe('Confirme su correo electrónico para Orders');
  });
});
