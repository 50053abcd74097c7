import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { blocksOf } from '../docs/blocks';
import { modulesOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const RECIPE = 'docs/recipes/cookie-mode.md';
const CREDENTIALS = { 'Access-Control-Allow-Credentials': 'true' };
const SCRIPT = blocksOf(RECIPE).find(({ language }) => language === 'js')!.text;

describeWithBrowser('a page on another origin than the API, as in the recipe', () => {
  let t: TestApp;
  let browser: Browser;
  const servers: ReturnType<typeof createServer>[] = [];

  /** Serves a page with the script of the recipe. @returns its port */
  async function servePage(): Promise<number> {
    const server = createServer(({ url }, response) => {
      const isScript = url === '/page.js';
      response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? `globalThis.API_URL = '${apiUrl()}';\n${SCRIPT}` : '<!doctype html><title>Page</title>');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const apiUrl = (): string => `http://localhost:${(t.app.getHttpServer().address() as AddressInfo).port}`;

  let listed: number;
  let unlisted: number;

  beforeAll(async () => {
    [listed, unlisted] = [await servePage(), await servePage()];
    const { cookieOptions, allowPages } = modulesOf(RECIPE)['src/main.ts'];
    const pages = [`http://localhost:${listed}`, `http://127.0.0.1:${listed}`];
    t = await TestApp.start({ options: cookieOptions(pages), prepare: (app) => allowPages(app, pages) });
    await t.person(ADA);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await t?.stop();
    for (const server of servers) server.close();
  });

  const open = async (origin: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(origin);
    return page;
  };
  /** Calls a function of the recipe in the page. A request that the browser refuses is the text of its error. */
  const run = (page: Page, call: string): Promise<unknown> =>
    page.evaluate(`import('/page.js').then((page) => page.${call}).catch(({ message }) => message)`);
  const signIn = `signIn('${ADA}', '${PASSWORD}')`;

  it('on the same site, signs in, keeps its session through a reload, and calls guarded routes', async () => {
    const page = await open(`http://localhost:${listed}`);
    expect(await run(page, signIn)).toMatchObject({ status: 200 });
    await page.reload();
    expect(await run(page, 'renew()')).toEqual(expect.stringMatching(/^ey/));
    expect(await run(page, `call('/private').then(({ status }) => status)`)).toBe(200);
    await page.route('**/auth/refresh', (route) =>
      route.fulfill({
        status: 503,
        headers: { 'Access-Control-Allow-Origin': `http://localhost:${listed}`, ...CREDENTIALS },
      }),
    );
    expect(await run(page, 'renew()')).toBe('The session could not be renewed: 503');
    expect(await page.evaluate('document.cookie')).toBe('');
    const cookies = await page.context().cookies(apiUrl());
    expect(cookies).toMatchObject([{ name: '__Host-refresh', httpOnly: true, secure: true, sameSite: 'Strict' }]);
  });

  it('on another site, gets no session after a reload: the browser keeps no cookie for it', async () => {
    const page = await open(`http://127.0.0.1:${listed}`);
    expect(await run(page, signIn)).toMatchObject({ status: 200 });
    await page.reload();
    expect(await run(page, 'renew()')).toBeNull();
  });

  it('that is not listed is refused: the browser shows it no answer, and the library answers 403', async () => {
    const origin = `http://localhost:${unlisted}`;
    const page = await open(origin);
    expect(await run(page, 'renew()')).toBe('Failed to fetch');
    expect(await run(page, signIn)).toBe('Failed to fetch');
    const headers = { Origin: origin, 'Sec-Fetch-Site': 'same-site' };
    await t.http.post('/auth/login').set(headers).send({ email: ADA, password: PASSWORD }).expect(403);
  });
});
