import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { type RunningExample, start } from '../support/packages/example';
import { send } from '../support/hosts/processes';
import { livesAndEnds, offersRoutesOf, refusesGarbage, signIn, statusAt } from './life-of-a-session';

const ADA = { email: 'ada@example.com', password: 'a horse with wings' };
const STAFF_PASSWORD = 'a zebra with stripes';

describe('the example admin-guard', () => {
  let host: RunningExample;
  const shop = () => ({ auth: `${host.url}/auth`, guarded: `${host.url}/orders` });
  const staff = () => ({ auth: `${host.url}/staff/auth`, guarded: `${host.url}/staff/customers` });
  const signOut = (token: string, proof?: string) =>
    send(`${staff().guarded}/1/sign-out`, 'POST', undefined, token, { 'X-Svc-Confirmation': proof });

  /** Signs a member of the staff in. The refresh token is in a cookie, and not in the body. */
  async function enter(role: string) {
    const body = JSON.stringify({ email: `${role}@example.com`, password: STAFF_PASSWORD });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${staff().auth}/login`, { method: 'POST', headers, body });
    const tokens = (await answer.json()) as Record<string, string>;
    expect(answer.status).toBe(200);
    expect(tokens).not.toHaveProperty('refresh_token');
    const [cookie] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^refresh-staff=[\w-]+;.*HttpOnly.*SameSite=Strict/i);
    return { access: tokens.access_token!, refresh: /=([\w-]+)/.exec(cookie!)![1]! };
  }
  const renew = (refresh: string, more: Record<string, string> = {}) =>
    send(`${staff().auth}/refresh`, 'POST', undefined, undefined, { Cookie: `refresh-staff=${refresh}`, ...more });

  beforeAll(async () => {
    host = await start('admin-guard', { STAFF_PASSWORD });
    const account = { name: 'Ada', ...ADA, password_confirmation: ADA.password };
    expect((await send(`${shop().auth}/register`, 'POST', account)).status).toBe(200);
  });
  afterAll(() => host?.stop());

  it('signs customers in and out', () => livesAndEnds(shop(), ADA.email, ADA.password));

  it('signs the staff in and out, at routes of its own, with the refresh token in a cookie', async () => {
    const { access, refresh } = await enter('support');
    expect(await statusAt(staff().guarded, access)).toBe(200);
    expect((await renew(refresh, { Origin: 'https://evil.example' })).status).toBe(403);
    const { body: next } = await renew(refresh);
    expect(await statusAt(staff().guarded, next.access_token)).toBe(200);
    expect((await send(`${staff().auth}/logout`, 'POST', undefined, next.access_token)).status).toBe(204);
    expect(await statusAt(staff().guarded, next.access_token)).toBe(401);
    expect((await renew(refresh)).status).toBe(401);
  });

  it('refuses the credentials and the tokens of one guard at the other', async () => {
    const customer = await signIn(shop(), ADA.email, ADA.password);
    const member = await enter('admin');
    expect(await statusAt(staff().guarded, customer.access)).toBe(401);
    expect(await statusAt(shop().guarded, member.access)).toBe(401);
    expect((await renew(customer.refresh)).status).toBe(401);
    expect((await send(`${shop().auth}/refresh`, 'POST', { refresh_token: member.refresh })).status).toBe(401);
    expect((await send(`${staff().auth}/login`, 'POST', ADA)).status).toBe(422);
    const credentials = { email: 'admin@example.com', password: STAFF_PASSWORD };
    expect((await send(`${shop().auth}/login`, 'POST', credentials)).status).toBe(422);
    // Nothing of this has ended the sessions.
    expect(await statusAt(shop().guarded, customer.access)).toBe(200);
    expect(await statusAt(staff().guarded, member.access)).toBe(200);
  });

  it('has no registration for the staff', async () => {
    expect((await send(`${staff().auth}/register`, 'POST', ADA)).status).toBe(404);
  });

  it('lets the support read only', async () => {
    const { access } = await enter('support');
    expect((await signOut(access)).status).toBe(403);
  });

  it('ends the sessions of a customer for an administrator who has confirmed the password', async () => {
    const customer = await signIn(shop(), ADA.email, ADA.password);
    const { access } = await enter('admin');
    expect((await signOut(access)).status).toBe(423);
    const confirm = (password: string) => send(`${staff().auth}/confirm-password`, 'POST', { password }, access);
    expect((await confirm(ADA.password)).status).toBe(422);
    const { body } = await confirm(STAFF_PASSWORD);
    expect((await signOut(access, 'garbage')).status).toBe(423);
    expect(await statusAt(shop().guarded, customer.access)).toBe(200);
    expect((await signOut(access, body.confirmation_token)).status).toBe(204);
    expect(await statusAt(shop().guarded, customer.access)).toBe(401);
  });

  it('offers the routes of its page', () => offersRoutesOf('admin-guard', Object.values(host.urls)));

  describeWithBrowser('the staff page in a browser', () => {
    let browser: Browser;
    let person: BrowserContext;
    const complaints: string[] = [];

    beforeAll(async () => void (browser = await openBrowser()));
    afterAll(() => browser?.close());
    beforeEach(async () => {
      complaints.length = 0;
      person = await browser.newContext();
      person.setDefaultTimeout(15_000);
    });
    afterEach(() => person.close());

    const tab = async (): Promise<Page> => {
      const page = await person.newPage();
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('console', (line) => {
        if (line.text().includes('Content Security Policy')) complaints.push(line.text());
      });
      await page.goto(`${host.url}/staff`);
      return page;
    };
    const sees = (page: Page, text: string) => page.getByText(text).waitFor();
    const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
    const enterAs = async (page: Page, email: string, password: string) => {
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await press(page, 'Sign in');
    };
    const confirm = async (page: Page, password: string) => {
      await page.getByLabel('Your password').fill(password);
      await press(page, 'Confirm');
    };

    it('asks an administrator for the password again, and repeats the refused request', async () => {
      const customer = await signIn(shop(), ADA.email, ADA.password);
      const page = await tab();
      await enterAs(page, 'admin@example.com', STAFF_PASSWORD);
      await sees(page, ADA.email);
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.url().endsWith('/1/sign-out')) statuses.push(response.status());
      });
      await press(page, 'End all sessions');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await press(page, 'End all sessions');
      await confirm(page, ADA.password);
      await sees(page, 'The password is not correct.');
      expect(await statusAt(shop().guarded, customer.access)).toBe(200);
      await confirm(page, STAFF_PASSWORD);
      await sees(page, 'All sessions of Ada have ended.');
      expect(statuses).toEqual([423, 423, 204]);
      expect(await statusAt(shop().guarded, customer.access)).toBe(401);
      expect(complaints).toEqual([]);
    });

    it('shows the support that it may not end sessions, and asks for no password', async () => {
      const page = await tab();
      await enterAs(page, 'support@example.com', STAFF_PASSWORD);
      await sees(page, 'customers.read');
      await press(page, 'End all sessions');
      await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('refuses a customer: the password in its form, and the token at its list', async () => {
      const page = await tab();
      await enterAs(page, ADA.email, ADA.password);
      await sees(page, 'These credentials do not match our records.');
      const { access } = await signIn(shop(), ADA.email, ADA.password);
      const list = `fetch('/staff/customers', { headers: { Authorization: 'Bearer ${access}' } })`;
      expect(await page.evaluate(`${list}.then(({ status }) => status)`)).toBe(401);
      expect(await page.getByText(ADA.email).count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    it('keeps the session in a reload and in another tab, and signs both out', async () => {
      const page = await tab();
      await enterAs(page, 'admin@example.com', STAFF_PASSWORD);
      await sees(page, ADA.email);
      await page.reload();
      await sees(page, ADA.email);
      const other = await tab();
      await sees(other, ADA.email);
      await press(other, 'Sign out');
      await sees(other, 'You are signed out.');
      await sees(page, 'You are signed out.');
      expect(await page.getByText(ADA.email).count()).toBe(0);
      await page.reload();
      await page.getByLabel('Email').waitFor();
      expect(await page.evaluate('Object.keys(localStorage)')).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('sends no form that a script of an attacker has added', async () => {
      const page = await tab();
      const refused = page.evaluate(`new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
        const form = document.createElement('form');
        form.action = 'https://evil.example/';
        form.method = 'post';
        document.body.append(form);
        form.submit();
      })`);
      expect(await refused).toBe('form-action');
    });
  });

  it('refuses invalid input', async () => {
    await refusesGarbage(shop());
    await refusesGarbage(staff());
    const { access } = await enter('admin');
    expect((await send(`${staff().guarded}/none/sign-out`, 'POST', undefined, access)).status).toBe(423);
    expect(host.logs).not.toContain('ERROR');
  });
});
