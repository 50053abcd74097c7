import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { DEMO } from '../../../apps/sample/src/dev/demo-accounts';
import { type SampleVisit, Tab } from './sample-page';

/** The page of the support as an operator uses it. */
export class SupportTab extends Tab {
  static readonly over = (page: Page): SupportTab => new SupportTab(page);

  get person(): BrowserContext {
    return this.page.context();
  }

  /** Opens the page. @param options of the browser, or an open browser with its cookies */
  static async open(
    visit: SampleVisit,
    options: BrowserContextOptions | BrowserContext = {},
    address = '',
  ): Promise<SupportTab> {
    const person = 'newPage' in options ? options : await visit.person(options);
    return SupportTab.over((await visit.tab(person, `${visit.url}/support${address}`)).page);
  }

  /** Opens the page and signs in. */
  static async of(visit: SampleVisit, email = DEMO.admin): Promise<SupportTab> {
    const tab = await SupportTab.open(visit);
    await tab.enters(email);
    return tab;
  }

  async enters(email: string): Promise<void> {
    await this.fills({ Email: email, Password: DEMO.password });
    await this.presses('Sign in');
    await this.page.getByRole('search').waitFor();
  }

  async asks(text: string): Promise<void> {
    await this.fills({ 'Email or id of a user': text });
    await this.presses('Find');
  }

  /** Opens the account of a user. */
  async finds(email: string): Promise<void> {
    await this.asks(email);
    await this.sees(email);
    await this.isCurrent();
  }

  /** Waits until the account is shown as it is now. */
  async isCurrent(): Promise<void> {
    await this.page.locator('main:has(#account):not(:has([aria-busy]))').waitFor();
  }

  /** A part of the account, by its heading. */
  readonly part = (name: string): Locator => this.page.getByRole('region', { name, exact: true });

  /** Presses a button of the account, gives the reason, and answers. */
  async does(button: string, answer: string, values: Record<string, string> = {}): Promise<void> {
    await this.presses(button);
    await this.fills({ Reason: 'ticket 7', ...values });
    await this.answers(answer);
  }

  /** The newest question: the confirmation is above that of the action. */
  readonly question = (): Locator => this.page.getByRole('dialog').last();

  override async confirms(password = DEMO.password): Promise<void> {
    const question = this.page.getByRole('dialog', { name: 'Confirm it’s you' });
    await question.getByLabel('Password', { exact: true }).fill(password);
    await question.getByRole('button', { name: 'Confirm', exact: true }).click();
  }

  /** Waits until the action is done, and the account is shown as it is afterwards. */
  async succeeds(text: string): Promise<void> {
    await this.hears(text);
    await this.isCurrent();
  }
}
