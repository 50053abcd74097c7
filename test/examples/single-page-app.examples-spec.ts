import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { eventually } from '../support/runtime/eventually';
import { offersRoutesOf } from './life-of-a-session';

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

const json = { 'Content-Type': 'application/json' };

describe('the example single-page-app', () => {
  let host: RunningExample;

  beforeAll(async () => void (host = await start('single-page-app')));
  afterAll(() => host?.stop());

  const post = (path: string, body?: object, headers: Record<string, string> = json) =>
    fetch(host.url + path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });

  it('keeps the refresh token in a cookie that no script can read', async () => {
    const answer = await post('/auth/register', { ...ADA, password_confirmation: ADA.password });
    const body = (await answer.json()) as Record<string, string>;
    expect(answer.status).toBe(200);
    expect(body).not.toHaveProperty('refresh_token');
    const cookie = answer.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^refresh=[\w-]+;.*HttpOnly.*SameSite=Strict/i);
    const renewed = await post('/auth/refresh', undefined, { Cookie: cookie.split(';')[0]! });
    expect(renewed.status).toBe(200);
    const { access_token: token } = (await renewed.json()) as Record<string, string>;
    const hello = await fetch(`${host.url}/hello`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await hello.json()).toEqual({ greeting: 'Hello, Ada!' });
    expect((await fetch(`${host.url}/hello`)).status).toBe(401);
  });

  it('refuses a refresh of a foreign page', async () => {
    expect((await post('/auth/refresh', undefined, { Origin: 'https://evil.example' })).status).toBe(403);
  });

  it('serves its page and the client, with a policy', async () => {
    for (const path of ['/', '/page.js', '/client/auth-client.min.js']) {
      const answer = await fetch(host.url + path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
    }
  });

  it('offers the routes of its page', () => offersRoutesOf('single-page-app', Object.values(host.urls)));

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    let person: BrowserContext;
    const complaints: string[] = [];

    beforeAll(async () => {
      browser = await openBrowser();
      person = await browser.newContext();
      person.setDefaultTimeout(15_000);
    });
    afterAll(() => browser?.close());

    const tab = async (): Promise<Page> => {
      const page = await person.newPage();
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('console', (line) => {
        if (line.text().includes('Content Security Policy')) complaints.push(line.text());
      });
      await page.goto(host.url);
      return page;
    };
    const sees = (page: Page, text: string) => page.getByText(text).waitFor();
    const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

    it('signs in, shares the session with another tab, and deletes the account after a confirmation', async () => {
      const page = await tab();
      await page.getByLabel('Email').fill('grace@example.com');
      await page.getByLabel('Password').first().fill(ADA.password);
      await press(page, 'Sign in');
      await sees(page, 'These credentials do not match our records.');
      await press(page, 'Create an account');
      await sees(page, 'Hello, grace!');
      await page.route('**/auth/refresh', (route) => route.abort());
      await page.reload();
      await sees(page, 'The server cannot be reached. Try again later.');
      await page.unroute('**/auth/refresh');
      await page.reload();
      await sees(page, 'Hello, grace!');
      const other = await tab();
      await sees(other, 'Hello, grace!');
      await sees(other, '(this one)');
      await press(other, 'Delete the account');
      await other.getByLabel('Your password').fill('wrong');
      await press(other, 'Confirm');
      await sees(other, 'The password is not correct.');
      await other.getByLabel('Your password').fill(ADA.password);
      await press(other, 'Confirm');
      await sees(other, 'Your account is deleted.');
      await sees(page, 'Your account is deleted.');
      await eventually(async () => (await page.evaluate<string[]>('Object.keys(localStorage)')).length === 0);
      expect(complaints).toEqual([]);
    });
  });
});
