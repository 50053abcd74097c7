import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page, Request } from 'playwright-core';
import type { SampleVisit } from '../sample/sample-page';

/** What is published: `npm run test:browsers` builds it. */
const CLIENT = join(__dirname, '../../../libs/auth-client/dist');

export const CLIENT_PASSWORD = 'seven green bottles';

/** How a rejected promise looks in the page. */
export interface Rejection {
  name: string;
  message: string;
  status?: number;
  reason?: string | null;
  errors?: Record<string, string[]>;
}

/** A person with a browser of their own, whose pages use the published client against the sample. */
export class ClientVisitor {
  /** The refresh requests of all tabs. */
  readonly refreshes: Request[] = [];

  private constructor(
    private readonly visit: SampleVisit,
    readonly context: BrowserContext,
  ) {
    context.on('request', (request) => request.url().endsWith('/auth/refresh') && this.refreshes.push(request));
  }

  static async of(visit: SampleVisit, given?: BrowserContext): Promise<ClientVisitor> {
    const context = given ?? (await visit.person());
    for (const name of ['auth-client', 'auth-account', 'auth-bound', 'auth-identities']) {
      const body = readFileSync(join(CLIENT, `${name}.min.js`), 'utf8');
      await context.route(`**/web/${name}.js`, (route) => route.fulfill({ contentType: 'text/javascript', body }));
    }
    return new ClientVisitor(visit, context);
  }

  /** Opens a tab with a client and without a page. @param options of the client; `bound: true` stands for a key of the browser */
  async tab(options: Record<string, unknown>): Promise<ClientTab> {
    const page = await this.context.newPage();
    const tab = new ClientTab(page, options);
    await page.goto(`${this.visit.url}/web/style.css`);
    await tab.start();
    return tab;
  }
}

/** A tab whose client is `auth`, with `account` beside it. `events` lists its events, and `confirmations` counts its questions. */
export class ClientTab {
  constructor(
    readonly page: Page,
    private readonly options: Record<string, unknown>,
  ) {}

  async start(): Promise<void> {
    await this.page.evaluate(`Promise.all(
      ['auth-client', 'auth-account'${this.options.bound ? ", 'auth-bound'" : ''}].map((name) => import('/web/' + name + '.js')),
    ).then(([{ createAuthClient }, { createAccountClient }, { boundKey } = {}]) => {
      globalThis.events = [];
      globalThis.confirmations = 0;
      globalThis.answer = async () => false;
      const confirm = () => (confirmations++, answer());
      globalThis.auth = createAuthClient({ ...${JSON.stringify(this.options)}, bound: boundKey?.(), confirm });
      globalThis.account = createAccountClient(auth);
      for (const name of ['signedIn', 'renewed', 'signedOut'])
        auth.on(name, ({ reason, otherTab }) => events.push([name, reason, otherTab && 'other tab'].filter(Boolean).join(' ')));
    })`);
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.start();
  }

  /** The value of an expression, which may use `auth` and `await`. */
  run<T = unknown>(expression: string): Promise<T> {
    return this.page.evaluate<T>(`(async () => ${expression})()`);
  }

  /** How an expression is rejected. @throws Error if it is not */
  async rejected(expression: string): Promise<Rejection> {
    const rejection = await this.page.evaluate<Rejection | null>(
      `(async () => { await ${expression}; return null; })().catch(({ name, message, status, reason, errors }) =>
        ({ name, message, status, reason, errors }))`,
    );
    if (!rejection) throw new Error(`${expression} is not rejected`);
    return rejection;
  }

  /** The events since the last call. */
  events(): Promise<string[]> {
    return this.run('events.splice(0)');
  }

  token(): Promise<string | undefined> {
    return this.run('auth.session?.token');
  }

  claims(): Promise<{ sub: string; fid: string; amr: string[] } | undefined> {
    return this.run('auth.session?.claims');
  }

  /** What any script of the origin can read. */
  storage(): Promise<Record<string, string>> {
    return this.run('({ ...localStorage, ...sessionStorage })');
  }

  /** Answers the questions for a confirmation with a password. */
  async confirmsWith(password: string): Promise<void> {
    await this.run(`void (answer = () => auth.confirmPassword(${JSON.stringify(password)}).then(() => true))`);
  }

  /** Creates an account and signs in. @returns its email */
  async registers(): Promise<string> {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    await this.run(`auth.register(${JSON.stringify({ name: 'Ada', email, password: CLIENT_PASSWORD })})`);
    return email;
  }

  logsIn<T = null>(email: string, password = CLIENT_PASSWORD): Promise<T> {
    return this.run<T>(`auth.login(${JSON.stringify({ email, password })})`);
  }
}
