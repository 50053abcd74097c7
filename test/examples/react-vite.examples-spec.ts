import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { offersRoutesOf } from './life-of-a-session';

const PASSWORD = 'a horse with wings';

/** `page` is the server of Vite, with the development build of React, in which StrictMode runs every effect twice. */
const PARTS = ['page', 'api'] as const;

describe('the example react-vite', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('react-vite')));
  afterAll(() => host?.stop());

  it('offers the routes of its page', () => offersRoutesOf('react-vite', [host.urls.api!]));

  it('serves the built page, with a policy', async () => {
    const answer = await fetch(host.urls.api!);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<main></main>')]);
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  describeWithBrowser.each(PARTS)('in a browser, at the address of %s', (part) => {
    let browser: Browser;
    let person: BrowserContext;
    let requests: string[];
    const complaints: string[] = [];

    beforeAll(async () => {
      browser = await openBrowser();
      person = await browser.newContext();
      person.setDefaultTimeout(30_000);
      person.on('request', (request) => requests.push(new URL(request.url()).pathname));
    });
    beforeEach(() => void (requests = []));
    afterAll(() => browser?.close());

    const tab = async (): Promise<Page> => {
      const page = await person.newPage();
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('console', (line) => {
        if (/Content Security Policy|hydrat|act\(/.test(line.text())) complaints.push(line.text());
      });
      await page.goto(host.urls[part]!);
      return page;
    };
    const sees = (page: Page, text: string) => page.getByText(text).waitFor();
    const button = (page: Page, name: string) => page.getByRole('button', { name });
    const fill = async (page: Page, password = PASSWORD): Promise<void> => {
      await page.getByLabel('Email').fill(`${part}@example.com`);
      await page.getByLabel('Password').fill(password);
    };
    const sent = (path: string): number => requests.filter((one) => one === path).length;

    it('creates an account, keeps the session through a reload with one request, and calls the API', async () => {
      const page = await tab();
      await sees(page, 'Create an account');
      expect(sent('/auth/refresh')).toBe(0);
      await fill(page, 'wrong');
      await button(page, 'Sign in').click();
      await sees(page, 'These credentials do not match our records.');
      await fill(page);
      await button(page, 'Create an account').click();
      await sees(page, `Hello, ${part}!`);
      requests = [];
      await page.reload();
      await sees(page, `Hello, ${part}!`);
      expect(sent('/auth/refresh')).toBe(1);
      expect(await page.evaluate('Object.values(localStorage)')).toEqual(['1']);
    });

    it('signs out in all tabs, and signs in once for a double click', async () => {
      const [page, other] = [await tab(), await tab()];
      await sees(page, `Hello, ${part}!`);
      await sees(other, `Hello, ${part}!`);
      await button(page, 'Sign out').click();
      await sees(page, 'Create an account');
      await sees(other, 'Create an account');
      await fill(page);
      await button(page, 'Sign in').dblclick();
      await sees(page, `Hello, ${part}!`);
      await sees(other, `Hello, ${part}!`);
      expect(sent('/auth/login')).toBe(1);
      expect(complaints).toEqual([]);
    });
  });
});
