import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';

/** A browser without scripts: it keeps cookies for each host, and follows redirects one by one. */
class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.cookies.get(origin) ?? new Map<string, string>();
    this.cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value) jar.set(name!, value);
      else jar.delete(name!);
    }
    return answer;
  }

  post(url: string, body?: object): Promise<Response> {
    const headers = { 'Content-Type': 'application/json' };
    return this.send(url, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
  }
}

describe('the example identities', () => {
  let host: RunningExample;
  let app: string;

  beforeAll(async () => {
    host = await start('identities');
    app = host.urls.app!;
  });
  afterAll(() => host?.stop());

  const routes = () => `${app}/auth/identities/local`;
  const begin = async (visitor: Visitor): Promise<string> => {
    const answer = await visitor.post(routes(), {});
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { authorization_url: string }).authorization_url;
  };

  /** Begins and signs in at the provider. @returns the query with which the browser returns */
  async function atProvider(visitor: Visitor, login = 'ada@example.com'): Promise<string> {
    let url = await begin(visitor);
    while (!url.startsWith(`${app}/signed-in/local?`)) {
      let answer = await visitor.send(url);
      if (answer.status === 200) {
        const page = await answer.text();
        const [prompt] = /(?<=name="prompt" value=")\w+/.exec(page) ?? [];
        const body = new URLSearchParams({ prompt: prompt!, login, password: 'any' });
        const action = new URL(/<form [^>]*action="([^"]+)"/.exec(page)![1]!, url).href;
        answer = await visitor.send(action, { method: 'POST', body });
      }
      url = new URL(answer.headers.get('location')!, answer.url).href;
    }
    return new URL(url).search;
  }
  const callback = (visitor: Visitor, parameters: string) =>
    visitor.post(`${routes()}/callback`, { parameters, redirect_uri: `${host.url}/signed-in/local` });

  it('signs in, and finds the same account at the next time', async () => {
    for (const visitor of [new Visitor(), new Visitor()]) {
      const answer = await callback(visitor, await atProvider(visitor));
      const { access_token: token } = (await answer.json()) as { access_token: string };
      const me = await fetch(`${app}/me`, { headers: { Authorization: `Bearer ${token}` } });
      expect(await me.json()).toEqual({ name: 'ada', email: 'ada@example.com' });
      expect((await visitor.post(`${app}/auth/refresh`)).status).toBe(200);
    }
  });

  it('refuses a callback in another browser, with another state, and a second time', async () => {
    const [visitor, other] = [new Visitor(), new Visitor()];
    const given = await atProvider(visitor);
    await begin(other);
    expect((await callback(other, given)).status).toBe(422);
    expect((await callback(new Visitor(), given)).status).toBe(422);
    expect((await callback(visitor, given)).status).toBe(200);
    expect((await callback(visitor, given)).status).toBe(422);
    expect((await callback(visitor, (await atProvider(visitor)).replace(/state=[^&]*/, 'state=x'))).status).toBe(422);
  });

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => void (browser = await openBrowser()));
    afterAll(() => browser?.close());

    /** Signs in at the provider, which asks for the consent once. */
    const atLogin = async (page: Page, login: string, asksForConsent = true) => {
      await page.locator('[name=login]').fill(login);
      await page.locator('[name=password]').fill('any');
      await page.locator('[type=submit]').click();
      if (asksForConsent) await page.getByRole('button', { name: 'Continue' }).click();
    };
    const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

    it('signs in in the same window, whose address loses the parameters, and keeps the last account after a confirmation', async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      await page.goto(app);
      await press(page, 'Continue with local');
      await atLogin(page, 'grace@example.com');
      await page.getByText('Signed in as grace').waitFor();
      expect(page.url()).toBe(`${app}/signed-in/local`);
      const [child] = await Promise.all([page.waitForEvent('popup'), press(page, 'Unlink grace@example.com')]);
      await atLogin(child, 'grace@example.com', false);
      await page.getByRole('alert').getByText(/\w/).waitFor();
      await page.getByText('local: grace@example.com').waitFor();
      await page.context().close();
    });

    it('signs in in a window of its own', async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      await page.goto(app);
      const [child] = await Promise.all([page.waitForEvent('popup'), press(page, 'Continue with local in a window')]);
      await atLogin(child, 'bob@example.com');
      await page.getByText('Signed in as bob').waitFor();
      await page.context().close();
    });
  });

  it('logs no error', () => {
    expect(host.logs).not.toMatch(/ERROR/);
  });
});

describe('the example identities, without its provider', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('identities', { PROVIDER_URL: 'http://localhost:1' })));
  afterAll(() => host?.stop());

  it('answers 503', async () => {
    expect((await new Visitor().post(`${host.urls.app}/auth/identities/local`, {})).status).toBe(503);
  });
});
