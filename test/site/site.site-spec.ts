import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PAGES } from '../docs/blocks';
import { PHONE } from '../support/clients/accessibility';
import { describeWithBrowser, openBrowser } from '../support/clients/browser';
import { eventually } from '../support/runtime/eventually';
import { ROOT } from '../support/packages/package';
import { LOOKS, ObservedPage } from '../support/clients/page-quality';
import { BuiltSite } from '../support/packages/site';

/** The part of a page that the compiler of the tests does not know. */
interface Styles {
  getComputedStyle(element: unknown): { fill: string };
}

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** Pages of every kind: home, text, code, wide tables, generated. */
const SAMPLES = [
  '/',
  '/contents.html',
  '/quick-start.html',
  '/options.html',
  '/routes.html',
  '/security.html',
  '/changelog.html',
  '/identities.html',
  '/api/',
  '/api/auth/classes/Auth.html',
  '/api/auth/interfaces/AuthModuleOptions.html',
  '/api/auth-client/',
  '/404.html',
];

/** Questions of readers, each with the page that answers it. Pages of `docs` that are not there yet are left out. */
const QUESTIONS = (
  [
    ['how do I log out', 'sessions'],
    ['log out', 'sessions'],
    ['logout', 'sessions'],
    ['admin unlock user', 'rate-limits'],
    ['Next.js', 'recipes/nextjs'],
    ['mobile', 'recipes/mobile'],
    ['React', 'recipes/react'],
    ['Vue', 'recipes/vue'],
    ['Angular', 'recipes/angular'],
    ['remember me', 'sessions'],
    ['refresh token', 'sessions'],
    ['social login', 'identities'],
    ['sign in with Google', 'identities'],
    ['OpenID Connect', 'identities'],
    ['API key', 'access-keys'],
    ['reset password', 'passwords'],
    ['two factor', 'two-factor'],
    ['docker', 'deployment'],
  ] as const
).filter(([, page]) => existsSync(join(ROOT, `docs/${page}.md`)));

/** The API reference, with the scripts of its pages. */
const LARGEST_API = 10_000_000;

/** For the first visit of one page. All files are compressed. */
const BUDGET = { pictures: 150_000, others: 130_000 };

const REPOSITORY = /^https:\/\/github\.com\/svc-auth\/svc-auth\/(?:blob|tree)\/main\/([^#]+)/;

const toFile = (end: string): string => (end === 'md' ? 'html' : 'index.html');

const linksOf = (html: string): string[] =>
  [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));

const idsOf = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));

/** The links of a page to other pages of the site, to its own headings, and to files of the repository, that lead nowhere. */
function brokenLinks(pages: ReadonlyMap<string, string>, base = '/'): string[] {
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]));
  return [...pages].flatMap(([path, html]) =>
    [...new Set(linksOf(html))]
      .filter((href) => {
        const file = REPOSITORY.exec(href)?.[1];
        if (file) return !existsSync(join(ROOT, decodeURI(file)));
        const { origin, pathname, hash } = new URL(href, `http://site.test${path}`);
        if (origin !== 'http://site.test' || (base !== '/' && href === '/')) return false;
        const target = ids.get(pathname.replace(/\/$/, '/index.html'));
        return !target || (hash !== '' && !target.has(decodeURIComponent(hash.slice(1))));
      })
      .map((href) => `${path}: ${href}`),
  );
}

describe('the built site', () => {
  const site = new BuiltSite();
  let pages: Map<string, string>;

  beforeAll(async () => {
    site.build();
    await site.serve();
    pages = site.pages();
  });
  afterAll(() => site.remove());

  it('has every page of the documentation, and a page for every export', () => {
    const shown = PAGES.filter((page) => page.startsWith('docs/')).map((page) =>
      page === 'docs/README.md' ? '/contents.html' : `/${page.slice(5).replace(/(?<=\/)README.md$|md$/, toFile)}`,
    );
    expect(shown.filter((page) => !pages.has(page))).toEqual([]);
    const exported = Object.keys(jest.requireActual<object>('@svc/auth'));
    const kinds = ['classes', 'functions', 'variables'];
    expect(exported.filter((name) => !kinds.some((kind) => pages.has(`/api/auth/${kind}/${name}.html`)))).toEqual([]);
  });

  it('has an API reference that names each import path, also that of the browser client, whose page lists its names', () => {
    const index = pages.get('/api/index.html')!;
    expect(index).toContain('Every name that you can import');
    const text = readFileSync(join(ROOT, 'libs/auth-client/src/index.ts'), 'utf8');
    const exported = [...text.matchAll(/^ {2}(\w+),$|\{ (\w+)/gm)].map(([, listed, single]) => listed ?? single!);
    expect(exported).toEqual(expect.arrayContaining(['createAuthClient', 'AuthError', 'AuthClient']));
    const links = linksOf(pages.get('/api/auth-client/index.html')!);
    expect(exported.filter((name) => !links.some((link) => link.endsWith(`/${name}.html`)))).toEqual([]);
    for (const name of [
      'auth',
      'auth/console',
      'auth/drizzle',
      'auth/identities',
      'auth/languages',
      'auth/openapi',
      'auth/prisma',
      'auth/redis-cluster',
      'auth/testing',
      'auth-client',
      'auth-client/account',
      'auth-client/identities',
      'auth-client/react',
      'auth-client/vue',
    ]) {
      expect(index).toContain(`>@svc/${name}</a>`);
      expect(pages.get(`/api/${name}/index.html`)).toContain(`&#39;@svc/${name}&#39;`);
    }
  });

  it('says on a missing page, in plain words, where the documentation is', () => {
    const page = pages.get('/404.html')!;
    expect(page).toContain('<h1>Page not found</h1>');
    expect(linksOf(page)).toContain('/contents.html');
  });

  it('has the icon of the sample, and a home page with the install line and links to what can be tried', () => {
    const home = pages.get('/index.html')!;
    const icon = readFileSync(join(ROOT, 'apps/sample/src/web/app/icon.svg'), 'utf8').trim();
    expect(decodeURIComponent(/rel="icon" href="([^"]*)"/.exec(home)![1]!)).toBe(`data:image/svg+xml,${icon}`);
    expect(home.replaceAll(/<[^>]*>/g, '')).toContain('npm install @svc/auth ');
    expect(home).toMatch(/<a href="sample.html">\s*<picture>/);
    const links = linksOf(home.slice(home.indexOf('<main')));
    for (const page of ['/sample.html', '/browser-client.html', expect.stringMatching(/\/examples\/README.md$/)])
      expect(links).toContainEqual(page);
  });

  it('lists every page of the index in the sidebar', () => {
    const links = linksOf(/<aside class="VPSidebar[\s\S]*?<\/aside>/.exec(pages.get('/contents.html')!)![0]);
    const index = [...readFileSync(join(ROOT, 'docs/README.md'), 'utf8').matchAll(/\]\(([\w/-]+)\.md\)/g)];
    const shown = index.map(([, page]) => (page!.endsWith('/README') ? `/${page!.slice(0, -6)}` : `/${page}.html`));
    expect(shown.filter((page) => !links.includes(page))).toEqual([]);
  });

  it('has an API reference of less than 10 MB', () => {
    const files = readdirSync(site.folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^(?:api\/|assets\/api_).*\.\w+$/.test(file),
    );
    expect(files.length).toBeGreaterThan(400);
    const size = files.reduce((sum, file) => sum + statSync(join(site.folder, file)).size, 0);
    expect(size).toBeLessThan(LARGEST_API);
  });

  it('has no link to a page, a heading or a file of the repository that does not exist', () => {
    expect(brokenLinks(pages)).toEqual([]);
    const planted = new Map([['/a.html', '<a href="/b.html"><a href="#c"><a href="/a.html#d"><h1 id="d"></h1>']]);
    expect(brokenLinks(planted)).toEqual(['/a.html: /b.html', '/a.html: #c']);
  });

  it('shows the version', () => {
    for (const [path, html] of pages)
      if (path !== '/404.html') expect([path, html.includes(`>${version}<`)]).toEqual([path, true]);
  });

  it('has a policy in every page that allows only its own scripts, by their hashes', () => {
    for (const [path, html] of pages) {
      const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
      expect([path, policy.split('; ')[0]]).toEqual([path, "default-src 'none'"]);
      expect(/script-src ([^;]*)/.exec(policy)?.[1]).toMatch(/^'self'( 'sha256-[\w+/=]+')+$/);
    }
  });

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    const complaints: string[] = [];

    beforeAll(async () => void (browser = await openBrowser()));
    afterAll(() => browser?.close());
    beforeEach(() => void complaints.splice(0));

    /** Opens a page, and records what the browser reports and what it requests from other hosts. */
    async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      const page = await context.newPage();
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
      page.on('pageerror', ({ message }) => complaints.push(message));
      page.on('request', (request) => {
        if (!request.url().startsWith('data:') && new URL(request.url()).origin !== site.origin)
          complaints.push(request.url());
      });
      await page.goto(site.origin + path, { waitUntil: 'networkidle' });
      return page;
    }

    describe.each(LOOKS)('%s', (_, look) => {
      it.each(SAMPLES)('has no fault: %s', async (path) => {
        const context = await browser.newContext(look);
        const seen = await ObservedPage.open(context, site.origin);
        await seen.page.goto(site.origin + path, { waitUntil: 'networkidle' });
        expect(await seen.faults(BUDGET)).toEqual([]);
        await context.close();
      });
    });

    it('draws the page for missing pages, which leads to the documentation', async () => {
      const page = await open('/404.html');
      await page.getByText('There is no page at this address.').waitFor();
      await page.getByRole('main').getByRole('link', { name: 'All pages of the documentation' }).click();
      await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('shows the picture of the sample in the mode that the reader has chosen', async () => {
      const page = await open('/', { colorScheme: 'light' });
      const picture = page.getByRole('img', { name: /^The page of the sample/ });
      const shown = () => picture.evaluate((image: { currentSrc?: string }) => image.currentSrc ?? '');
      await picture.scrollIntoViewIfNeeded();
      await page.waitForLoadState('networkidle');
      expect(await shown()).toMatch(/sample-light/);
      await page.getByRole('switch').first().click();
      await eventually(async () => /sample-dark/.test(await shown()));
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('draws a state diagram in the colors of the mode, with its text below', async () => {
      const page = await open('/sessions.html', { colorScheme: 'light' });
      const line = page.locator('.diagram svg text').first();
      const color = () => line.evaluate((text) => (globalThis as unknown as Styles).getComputedStyle(text).fill);
      await line.scrollIntoViewIfNeeded();
      const light = await color();
      await page.getByRole('switch').first().click();
      await eventually(async () => (await color()) !== light);
      await page.getByText('As text').first().click();
      await page.getByText('[*] --> live').first().waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('keeps the place of a chart free in its own dimensions', async () => {
      const page = await open('/performance.html');
      const chart = page.getByRole('img', { name: /^Guarded requests/ });
      expect([await chart.getAttribute('width'), await chart.getAttribute('height')]).toEqual(['760', '458']);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    /** The pages that the search finds for a question, best first. */
    async function found(page: Page, question: string): Promise<string[]> {
      const results = page.locator('#localsearch-list .result');
      // The results of the former question go first.
      await page.getByRole('searchbox').fill('zzzzzzzz');
      await eventually(async () => (await results.count()) === 0);
      await page.getByRole('searchbox').fill(question);
      await results.first().waitFor();
      return results.evaluateAll((links: { getAttribute: (name: string) => string | null }[]) =>
        links.map((link) => link.getAttribute('href')!.replace(/^\/|\.html.*$/g, '')),
      );
    }

    it('answers the questions of readers with the right page among the first three, without another host', async () => {
      const page = await open('/');
      await page.getByRole('button', { name: 'Search' }).first().click();
      const missed: object[] = [];
      for (const [question, answer] of QUESTIONS) {
        const first = (await found(page, question)).slice(0, 3);
        if (!first.includes(answer)) missed.push({ question, first });
      }
      expect(QUESTIONS.length).toBeGreaterThan(9);
      expect(missed).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('has records of design, changes and the API behind the guides in its search', async () => {
      const page = await open('/');
      await page.getByRole('button', { name: 'Search' }).first().click();
      for (const question of ['session', 'refresh', 'password']) {
        const best = (await found(page, question)).slice(0, 5);
        expect(best.filter((one) => /^(?:api|decisions)\/|^changelog|^standards/.test(one))).toEqual([]);
      }
      expect(await found(page, 'AuthModuleOptions')).toContainEqual(expect.stringMatching(/^api\//));
      await page.context().close();
    });

    it('opens the first result of a search with the keyboard', async () => {
      const page = await open('/');
      await page.getByRole('button', { name: 'Search' }).first().click();
      await found(page, 'refresh token');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname !== '/');
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('follows the links of the menu on a phone, and keeps the dark mode that was chosen', async () => {
      const page = await open('/', { viewport: PHONE });
      await page.getByRole('button', { name: 'mobile navigation' }).click();
      await page.getByRole('link', { name: 'Quick start' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor();
      await page.getByRole('button', { name: 'mobile navigation' }).click();
      await page.getByRole('switch').last().click();
      await page.reload();
      expect(await page.evaluate<boolean>("document.documentElement.classList.contains('dark')")).toBe(true);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it.each([
      ['in each group of the page', true, 5],
      ['in its own group without scripts', false, 1],
    ])('shows the code of a tab that a reader chooses, %s', async (_, javaScriptEnabled, count) => {
      const page = await open('/quick-start.html', { javaScriptEnabled });
      const shown = page
        .locator('.vp-code-group', { hasText: 'Drizzle' })
        .locator('pre:visible', { hasText: /drizzle/i });
      expect(await shown.count()).toBe(0);
      await page.locator('.vp-code-group label', { hasText: 'Drizzle' }).first().click();
      await eventually(async () => (await shown.count()) >= count);
      expect(await shown.count()).toBe(count);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('is readable without scripts', async () => {
      const page = await open('/quick-start.html', { javaScriptEnabled: false });
      expect(await page.locator('h1').textContent()).toContain('Quick start');
      expect(await page.locator('aside a', { hasText: 'Deployment' }).first().getAttribute('href')).toBe(
        '/deployment.html',
      );
      await page.context().close();
    });
  });
});

describe('a version that is kept', () => {
  const site = new BuiltSite('/v0.1/');

  beforeAll(() => site.build(false));
  afterAll(() => site.remove());

  it('has all its links below its folder, and one to the newest version', () => {
    const pages = site.pages();
    expect(brokenLinks(pages, site.base)).toEqual([]);
    const outside = [...pages].flatMap(([path, html]) =>
      linksOf(html)
        .filter((href) => href.startsWith('/') && !href.startsWith(site.base))
        .map((href) => `${path}: ${href}`),
    );
    expect(outside.filter((link) => !link.endsWith(': /'))).toEqual([]);
    expect(pages.get('/v0.1/quick-start.html')).toMatch(
      /This is the documentation of version[\s\S]*?<a href="\/" target="_self">/,
    );
  });
});
