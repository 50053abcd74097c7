import type { Locator, Page } from 'playwright-core';
import { send } from '../support/hosts/processes';

export const PASSWORD = 'a horse with wings';

/** No cache may keep the answer. */
export const OWN = /^(?=.*private)(?=.*no-store)/;

/** What a server has answered to a browser. */
interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Reads and keeps cookies, follows no redirect, and runs no script. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  /** Each cookie line that a server has sent. */
  readonly lines: string[] = [];

  /** @param own headers of this browser */
  constructor(
    private readonly origin: string,
    private readonly own: Record<string, string> = {},
  ) {}

  async visit(path: string, { headers, ...init }: RequestInit = {}): Promise<Answer> {
    const answer = await fetch(this.origin + path, {
      ...init,
      redirect: 'manual',
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        Origin: this.origin,
        ...this.own,
        ...(this.cookies.size > 0 && { Cookie: [...this.cookies].map((pair) => pair.join('=')).join('; ') }),
        ...(headers as object),
      },
    });
    const lines = answer.headers.getSetCookie();
    for (const line of lines) this.keep(line);
    // A cache in front would give the session to others.
    if (lines.length > 0 && (init.method ?? 'GET') === 'GET') expect(answer.headers.get('cache-control')).toMatch(OWN);
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  }

  /** As {@link visit}, and follows one redirect to the same page. */
  async open(path: string): Promise<Answer> {
    const first = await this.visit(path);
    return first.headers.get('location')?.replace(this.origin, '') === path ? this.visit(path) : first;
  }

  post(path: string, body: object | FormData, headers: Record<string, string> = {}): Promise<Answer> {
    const isForm = body instanceof FormData;
    return this.visit(path, {
      method: 'POST',
      headers: { ...(!isForm && { 'Content-Type': 'application/json' }), ...headers },
      body: isForm ? body : JSON.stringify(body),
    });
  }

  /** A browser drops a cookie when its `Max-Age` has passed. */
  drop(name: string): void {
    this.cookies.delete(name);
  }

  /** Another browser, or the same one earlier, with the same cookies. */
  copy(): Visitor {
    const other = new Visitor(this.origin);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    return other;
  }

  private keep(line: string): void {
    this.lines.push(line);
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    const isOver = /Max-Age=0\b/i.test(line) || /Expires=Thu, 01 Jan 1970/i.test(line);
    if (isOver) this.cookies.delete(name!);
    else this.cookies.set(name!, value!);
  }
}

/** A front end with a server of its own, and its API. */
export interface FrontEnd {
  readonly web: string;
  readonly api: string;
  /** Signs in as the form of the page does. */
  signIn(visitor: Visitor, email: string): Promise<Answer>;
  signOut(visitor: Visitor): Promise<Answer>;
  /** A direct refresh at the API. @returns its status */
  refreshAt(api: string, token: string): Promise<number>;
}

/** A front end that forwards the requests of its pages to an API in cookie mode. */
export const inCookieMode = ({ web, api }: Readonly<Record<string, string>>): FrontEnd => ({
  web: web!,
  api: api!,
  signIn: (visitor, email) => visitor.post('/auth/login', { email, password: PASSWORD }),
  signOut: async (visitor) => {
    const { body } = await visitor.post('/auth/refresh', {});
    const { access_token: token } = JSON.parse(body) as Record<string, string>;
    return visitor.post('/auth/logout', {}, { Authorization: `Bearer ${token}` });
  },
  refreshAt: async (at, token) => {
    const headers = { Cookie: `${REFRESH}=${token}` };
    return (await fetch(`${at}/auth/refresh`, { method: 'POST', headers })).status;
  },
});

/** The tests of {@link inCookieMode} that concern foreign pages. */
export function refusesForeignPages(frontEnd: () => FrontEnd): void {
  it.each([
    ['Sec-Fetch-Site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['Origin, for older browsers', { Origin: 'https://evil.example' }],
  ])('lets the API refuse foreign pages, by %s', async (_, headers: object) => {
    const { web } = frontEnd();
    const post = async (more: object) =>
      (await fetch(`${web}/auth/refresh`, { method: 'POST', headers: { ...more } })).status;
    expect(await post(headers)).toBe(403);
    // Without a cookie.
    expect(await post({ Origin: web })).toBe(401);
  });
}

const REFRESH = '__Host-refresh';
const ACCESS = '__Host-access';
/** It lasts for some seconds. */
const RENEWED = '__Host-renewed';

let registered = 0;

/** Creates an account. @returns its address */
export async function register(api: string, name: string): Promise<string> {
  const email = `${name}-${++registered}@example.com`.toLowerCase();
  // Of a client of its own: registrations are limited.
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': `198.51.100.${registered}` };
  const body = JSON.stringify({ name, email, password: PASSWORD, password_confirmation: PASSWORD });
  expect((await fetch(`${api}/auth/register`, { method: 'POST', headers, body })).status).toBe(200);
  return email;
}

/** The tests of every front end whose server renders pages for the user. */
export function rendersForTheUser(frontEnd: () => FrontEnd): void {
  /** A browser whose user is signed in. */
  const userOf = async (name: string, headers?: Record<string, string>) => {
    const { web, api, signIn } = frontEnd();
    const email = await register(api, name);
    const visitor = new Visitor(web, headers);
    const answer = await signIn(visitor, email);
    expect(answer.status).toBeLessThan(400);
    return { visitor, email, answer };
  };
  const seesLogin = async (visitor: Visitor, query: string, path = '/account') => {
    const { status, headers, body } = await visitor.visit(path);
    expect(headers.get('cache-control')).toMatch(OWN);
    expect([302, 303, 307]).toContain(status);
    expect(headers.get('location')!.replace(frontEnd().web, '')).toBe(`/login?${query}`);
    expect(body).not.toContain('Hello');
  };
  const greets = async (visitor: Visitor, name: string) => {
    const { status, headers, body } = await visitor.open('/account');
    expect([status, body]).toEqual([200, expect.stringContaining(`Hello, ${name}!`)]);
    expect(headers.get('cache-control')).toMatch(OWN);
    return body;
  };

  it('leads to the login without a session', async () => {
    await seesLogin(new Visitor(frontEnd().web), 'next=%2Faccount');
  });

  it('renders the page for the user, and shows no token to scripts', async () => {
    const { visitor, answer } = await userOf('Ada');
    const body = await greets(visitor, 'Ada');
    visitor.drop(RENEWED);
    expect([...visitor.cookies.keys()].toSorted()).toEqual([ACCESS, REFRESH]);
    for (const line of visitor.lines)
      expect(line).toMatch(/^(?=.*; HttpOnly)(?=.*; Secure)(?=.*; SameSite=(Strict|Lax))/i);
    for (const secret of [visitor.cookies.get(REFRESH)!, visitor.cookies.get(ACCESS)!, 'eyJ'])
      expect(body).not.toContain(secret);
    expect(answer.body).not.toContain(visitor.cookies.get(REFRESH));
    const before = visitor.lines.length;
    await greets(visitor, 'Ada');
    // The token is not renewed with each page.
    expect(visitor.lines).toHaveLength(before);
  });

  it('renews an expired access token before it renders the page', async () => {
    const { visitor } = await userOf('Ada');
    await greets(visitor, 'Ada');
    const [refresh, access] = [visitor.cookies.get(REFRESH), visitor.cookies.get(ACCESS)];
    // 15 minutes, less what a page takes.
    expect(visitor.lines.find((line) => line.startsWith(ACCESS))).toContain('Max-Age=890');
    visitor.drop(ACCESS);
    await greets(visitor, 'Ada');
    expect(visitor.cookies.get(REFRESH)).not.toBe(refresh);
    expect(visitor.cookies.get(ACCESS)).not.toBe(access);
    await greets(visitor, 'Ada');
  });

  it('sends the new cookies ahead of the page, so that a slow page puts no old one back', async () => {
    const { visitor } = await userOf('Ada');
    visitor.drop(ACCESS);
    const { status, headers } = await visitor.visit('/account?a=b');
    expect([status, headers.get('location')!.replace(frontEnd().web, '')]).toEqual([307, '/account?a=b']);
    const before = visitor.lines.length;
    await greets(visitor, 'Ada');
    expect(visitor.lines).toHaveLength(before);
    // A browser that does not keep this cookie is not sent in a circle.
    visitor.drop(ACCESS);
    expect((await visitor.visit('/account')).status).toBe(200);
  });

  it.each(['/%61ccount', '/account/none', '/%61ccount/none'])('lets no cache keep its cookies: %s', async (path) => {
    const { visitor } = await userOf('Ada');
    for (const _ of [1, 2]) {
      visitor.drop(ACCESS);
      // The visitor compares the answers.
      const { headers } = await visitor.open(path);
      expect(headers.get('cache-control') ?? '').not.toContain('s-maxage');
    }
  });

  it('renders pages in parallel without a reuse of the refresh token, also in another process', async () => {
    const { visitor } = await userOf('Ada');
    visitor.drop(ACCESS);
    const [, ...tabs] = [visitor, visitor.copy(), visitor.copy(), visitor.copy()];
    const late = visitor.copy();
    await Promise.all(tabs.map((tab) => greets(tab, 'Ada')));
    const [token] = tabs.map(({ cookies }) => cookies.get(REFRESH));
    expect(token).not.toBe(visitor.cookies.get(REFRESH));
    for (const { cookies } of tabs) expect(cookies.get(REFRESH)).toBe(token);
    // The exchange is over: this one is a request of its own, as that of another process is.
    await greets(late, 'Ada');
    expect(late.cookies.get(REFRESH)).toBe(token);
    tabs[0]!.drop(ACCESS);
    await greets(tabs[0]!, 'Ada');
    expect(tabs[0]!.cookies.get(REFRESH)).not.toBe(token);
  });

  it('shows no page of the former user after another one has signed in', async () => {
    const [ada, grace] = [await userOf('Ada'), await userOf('Grace')];
    await greets(ada.visitor, 'Ada');
    ada.visitor.cookies.set(REFRESH, grace.visitor.cookies.get(REFRESH)!);
    await greets(ada.visitor, 'Grace');
  });

  it('leads to the login at once after the session was ended elsewhere', async () => {
    const { visitor, email } = await userOf('Ada');
    await greets(visitor, 'Ada');
    const { api } = frontEnd();
    const { body } = await send(`${api}/auth/login`, 'POST', { email, password: PASSWORD });
    expect((await send(`${api}/auth/sessions`, 'DELETE', undefined, body.access_token)).status).toBe(204);
    await seesLogin(visitor, 'next=%2Faccount%3Fa%3Db&ended=1', '/account?a=b');
    visitor.drop(ACCESS);
    await seesLogin(visitor, 'next=%2Faccount');
    visitor.drop(RENEWED);
    expect([...visitor.cookies.keys()]).toEqual([]);
  });

  it('ends the session with the sign-out, for every copy of its cookies', async () => {
    const { visitor } = await userOf('Ada');
    await greets(visitor, 'Ada');
    const copy = visitor.copy();
    expect((await frontEnd().signOut(visitor)).status).toBeLessThan(400);
    expect(visitor.cookies.has(REFRESH)).toBe(false);
    await seesLogin(visitor, 'next=%2Faccount');
    await seesLogin(copy, 'next=%2Faccount&ended=1');
  });

  it('keeps the session while the API refuses a refresh for another reason', async () => {
    const { visitor } = await userOf('Ada');
    const { api, refreshAt } = frontEnd();
    visitor.drop(ACCESS);
    const statuses = new Set<number>();
    for (let i = 0; i < 31; i++) statuses.add(await refreshAt(api, visitor.cookies.get(REFRESH)!));
    expect([...statuses]).toEqual([200, 429]);
    const before = visitor.lines.length;
    expect((await visitor.visit('/account')).status).toBe(503);
    expect(visitor.lines).toHaveLength(before);
  });
}

/** Where a session began is what the proxy in front of the pages says, if the front end trusts it. */
export function passesOnTheAddress(frontEnd: () => FrontEnd, given: string, seen: string): void {
  it(`passes on the address of the browser: ${seen}`, async () => {
    const { web, api, signIn } = frontEnd();
    const email = await register(api, 'Ada');
    const visitor = new Visitor(web, { 'X-Forwarded-For': given, 'User-Agent': 'Browser' });
    await signIn(visitor, email);
    expect((await visitor.open('/account')).body).toContain('Hello, Ada!');
    const { body } = await send(`${api}/auth/login`, 'POST', { email, password: PASSWORD });
    const { body: list } = await send(`${api}/auth/sessions`, 'GET', undefined, body.access_token);
    const of = list.data as unknown as Record<string, string>[];
    expect(of.map(({ ip, user_agent: agent }) => [ip, agent])).toContainEqual([seen, 'Browser']);
  });
}

/** Only the paths of pages are followed after a sign-in. @param nextIn what the page of the login follows */
export function followsOwnPathsOnly(frontEnd: () => FrontEnd, nextIn: (html: string) => unknown): void {
  const nextOf = async (next: string) =>
    nextIn((await new Visitor(frontEnd().web).visit(`/login?next=${encodeURIComponent(next)}`)).body);

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/.//evil.example/x',
    '/account/..//evil.example/y',
    '/%2e//evil.example/z',
    '/account/../auth/x',
    '/api/hello',
    '/api',
  ])('leads to no other site after the sign-in, nor to the API: %j', async (next) => {
    expect(await nextOf(next)).toBe('/account');
  });

  it('leads to the page of the link after the sign-in', async () => {
    expect(await nextOf('/account/a?b=c')).toBe('/account/a?b=c');
    expect(await nextOf('/authors')).toBe('/authors');
  });
}

/** Presses a button until it has its effect: a page that a server has rendered shows its buttons before they work. */
async function press(page: Page, name: string, effect: Locator): Promise<void> {
  for (let left = 20; left > 0 && !(await effect.isVisible()); left--) {
    // It may have had the effect meanwhile, and be gone.
    await page
      .getByRole('button', { name })
      .click({ timeout: 1000 })
      .catch(() => undefined);
    await effect.waitFor({ timeout: 1000 }).catch(() => undefined);
  }
  await effect.waitFor();
}

/** Signs in by the form of the page, uses the API from the page, and signs out. */
export async function worksInABrowser(page: Page, { web, api }: FrontEnd): Promise<void> {
  const email = await register(api, 'Ada');
  // The form works when its scripts have run.
  await page.goto(`${web}/account`, { waitUntil: 'networkidle' });
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('wrong');
  const signIn = page.getByRole('button', { name: 'Sign in' });
  await signIn.click();
  await page.getByText('These credentials do not match our records.').waitFor();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await signIn.click();
  const heading = page.getByRole('heading', { name: 'Hello, Ada!' });
  await heading.waitFor();
  await press(page, 'Ask the API', page.getByRole('status').getByText('Hello, Ada!'));
  // The mark of the client is no token.
  const kept = await page.evaluate('document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)');
  expect(kept).not.toMatch(/eyJ|refresh|[\w-]{70}/);

  await page.route('http://other.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<a href="${web}/account">Your account</a>` }),
  );
  await page.goto('http://other.example/');
  await page.getByRole('link').click();
  await heading.waitFor();

  // A navigation without a new document, which renews.
  await page.goto(`${web}/`);
  await page.context().clearCookies({ name: ACCESS });
  await page.getByRole('link').click();
  await heading.waitFor();

  await press(page, 'Sign out', page.getByRole('heading', { name: 'Sign in' }));
  await page.goto(`${web}/account`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}
