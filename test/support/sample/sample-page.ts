import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { DEMO } from '../../../apps/sample/src/dev/demo-accounts';
import { inFirefox, openBrowser } from '../clients/browser';
import { type TestDatabase, createEmptyDatabase } from '../stores/database';
import { eventually } from '../runtime/eventually';
import { type RunningHost, type Sample, SampleHost } from './sample';

/** Rate limits that tests of a page do not reach. */
const UNREACHED_LIMITS = {
  SVC_CONFIRM_MAX_ATTEMPTS: '1000',
  SVC_REFRESH_MAX_ATTEMPTS: '1000',
  SVC_RESET_MAX_ATTEMPTS: '1000',
  SVC_2FA_MAX_ATTEMPTS: '1000',
  SVC_LOGIN_IP_MAX_ATTEMPTS: '1000',
  SVC_PASSKEY_MAX_ATTEMPTS: '1000',
};

/** What a browser logs for responses that the tests expect. */
export const REFUSALS = /responded with a status of (401|403|409|422|423)/;

/** The sample application, started as a developer starts it, and a browser that opens its page. */
export class SampleVisit {
  /** What the browser reported: errors, and violations of the content security policy. */
  readonly complaints: string[] = [];
  private host!: RunningHost;
  private browser!: Browser;
  private running?: Sample;
  private database?: TestDatabase;

  private constructor() {}

  /** One browser and one process of the sample, which may be given, for a whole file or a `describe` block. */
  static forFile(host?: RunningHost): SampleVisit {
    const visit = new SampleVisit();
    beforeAll(async () => void (visit.browser = await openBrowser()));
    afterAll(async () => {
      await visit.leave();
      await visit.browser?.close();
    });
    // After the hook that stops the sample.
    visit.host = host ?? SampleHost.forFile();
    return visit;
  }

  /**
   * Starts the sample on a new database for all tests of a `describe` block.
   *
   * @param given further variables, or what returns them for the URL of the database; with `PORT`, the sample has that port
   */
  forTests(given: Record<string, string> | ((database: string) => Promise<Record<string, string>>) = {}): void {
    beforeAll(async () => {
      this.complaints.length = 0;
      this.database = await createEmptyDatabase();
      const env = typeof given === 'function' ? await given(this.database.url) : given;
      this.running = await this.host.start({
        DATABASE_URL: this.database.url,
        NODE_ENV: 'development',
        SVC_SECRET: randomBytes(32).toString('hex'),
        SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        ...UNREACHED_LIMITS,
        ...env,
      });
    });
    afterAll(() => this.leave());
  }

  private async leave(): Promise<void> {
    if (!this.database) return;
    for (const context of this.browser.contexts()) await context.close();
    await this.host.stop();
    await this.database.drop();
    this.database = undefined;
  }

  get sample(): Sample {
    return this.running!;
  }

  /** The origin under the relying party id of the passkeys. */
  get url(): string {
    return this.sample.url.replace('127.0.0.1', 'localhost');
  }

  /** A browser context with its own cookies and storage. */
  async person(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await this.browser.newContext({ permissions, ...options });
    context.setDefaultTimeout(200_000);
    return context;
  }

  /** Opens the page in a new tab, and waits until its first view is complete. */
  async tab(person?: BrowserContext, url = this.url): Promise<Tab> {
    const page = await (person ?? (await this.person())).newPage();
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !REFUSALS.test(message.text())) this.complaints.push(message.text());
    });
    await page.goto(url);
    await page.locator('main:not([aria-busy]) h1').waitFor();
    return new Tab(page);
  }

  /**
   * The link in the newest mail to `address` that contains `part`.
   *
   * @param count how many such mails there are
   */
  async mailed(address: string, part: string, count = 1): Promise<string> {
    let links: (string | undefined)[];
    await eventually(async () => {
      const { body } = await this.sample.call('GET', '/mailbox/mails');
      const mails = (body as unknown as { data: { to: string; text: string }[] }).data;
      const all = mails.filter(({ to }) => to === address).map(({ text }) => /https?:\S+/.exec(text)?.[0]);
      links = all.filter((url) => url?.includes(part));
      return links.length >= count;
    });
    return links![0]!;
  }

  /** Changes the database of the sample. */
  async sql(statement: string): Promise<void> {
    const client = new Client({ connectionString: this.database!.url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }
}

/** The page as a user operates it. */
export class Tab {
  constructor(readonly page: Page) {}

  readonly button = (name: string | RegExp): Locator => this.page.getByRole('button', { name, exact: true });
  readonly field = (label: string): Locator => this.page.getByLabel(label, { exact: true });
  readonly dialog = (): Locator => this.page.getByRole('dialog');

  /** Waits until the view with this heading is complete. */
  async sees(heading: string): Promise<void> {
    await this.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await this.page.locator('main:not([aria-busy])').waitFor();
  }

  async hears(text: string): Promise<void> {
    await this.page.getByRole('status').getByText(text).waitFor();
  }

  /** Waits until a form shows, once, why it was refused, and the focus is at that message, at its field or at the password. */
  async isRefused(text: string | RegExp): Promise<void> {
    const atPassword = 'form:has([name=password][aria-describedby^=summary]:focus) .summary';
    const places = `.summary:focus, .field:has([aria-invalid]:focus) .error, ${atPassword}`;
    await this.page.locator(places).getByText(text).waitFor();
    expect(await this.page.getByText(text).count()).toBe(1);
  }

  /** The list of what happened to the session. */
  readonly life = (): Locator => this.page.getByRole('log', { name: 'What happened to the session' });

  /** Waits until the life of the session has this event. */
  async lives(title: string): Promise<void> {
    await this.life().getByRole('listitem').filter({ hasText: title }).first().waitFor();
  }

  /** The titles of the events, in order. */
  lived(): Promise<string[]> {
    return this.life().getByRole('listitem').locator('strong').allInnerTexts();
  }

  async hasFocus(element: Locator): Promise<void> {
    await element.and(this.page.locator(':focus')).waitFor();
  }

  readonly link = (view: string): Locator => this.page.getByRole('navigation').getByRole('link', { name: view });

  /** With the menu, where the screen is narrow. */
  async chooses(view: string): Promise<void> {
    const menu = this.page.getByRole('navigation').getByRole('button', { name: 'Menu', expanded: false });
    if (await menu.isVisible()) await menu.click();
    await this.link(view).click();
  }

  async goes(view: string): Promise<void> {
    await this.chooses(view);
    await this.sees(view);
  }

  /** As {@link goes}, without the animation frames that a click waits for: a background tab has one per second. */
  async goesBehind(view: string): Promise<void> {
    await this.link(view).dispatchEvent('click');
    await this.sees(view);
  }

  /** Brings the tab to the front. */
  async comesToFront(): Promise<void> {
    await this.page.bringToFront();
  }

  async fills(values: Record<string, string>): Promise<void> {
    for (const [label, value] of Object.entries(values)) {
      // In Firefox, the suggestions of a login field end the selection of the text that `fill` replaces.
      if (inFirefox) await this.field(label).evaluate((input: { value?: string }) => void (input.value = ''));
      await this.field(label).fill(value);
    }
  }

  async presses(name: string | RegExp): Promise<void> {
    await this.button(name).click();
  }

  async signsIn(email = DEMO.user, password = DEMO.password): Promise<void> {
    await this.sees('Sign in');
    await this.fills({ Email: email, Password: password });
    await this.presses('Sign in');
  }

  async signsOut(): Promise<void> {
    await this.presses('Sign out');
    await this.seesOwnSignOut();
  }

  /** The life of the session says that the user ended it. */
  async seesOwnSignOut(): Promise<void> {
    await this.page.locator('aside .events').getByText('You signed out.').waitFor();
    await this.sees('Sign in');
  }

  /** Confirms the password in the step-up dialog. */
  async confirms(password = DEMO.password): Promise<void> {
    await this.dialog().getByLabel('Password', { exact: true }).fill(password);
    await this.dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  }

  /** Deletes the account, up to the confirmation of the password. */
  async deletesAccount(): Promise<void> {
    await this.presses('Delete account');
    await this.dialog().getByLabel('Type “delete” to confirm').fill('delete');
    await this.answers('Delete account');
  }

  /** Presses a button of the dialog. */
  async answers(name: string): Promise<void> {
    await this.dialog().getByRole('button', { name, exact: true }).click();
  }

  /** The payload of the access token on the overview. */
  async payload(): Promise<{ jti: string; fid: string; amr: string[] }> {
    return JSON.parse((await this.page.locator('#token-payload').textContent())!);
  }
}
