import { modulesOf, scriptOf } from '../docs/page-modules';
import { TestApp } from '../support/app';
import { PASSWORD } from '../support/people';

const COOKIE = /^__Host-refresh=[0-9a-f]{64}/;

describe('cookie mode, as its recipes say', () => {
  let t: TestApp;
  let url: string;

  beforeAll(async () => {
    t = await TestApp.start({ options: { cookieMode: true } });
    await t.person('ada@example.com');
    url = await t.app.getUrl();
  });
  afterAll(() => t.stop());

  /** A browser: one jar of cookies for all tabs, and a page of the API's own origin in each. */
  function browser() {
    const seen: string[] = [];
    const jar: { cookie?: string } = {};
    const fetchFromPage = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const headers = {
        ...(init.headers as object),
        'Sec-Fetch-Site': 'same-origin',
        ...(jar.cookie && { Cookie: jar.cookie }),
      };
      const answer = await fetch(url + path, { ...init, headers });
      seen.push(`${init.method ?? 'GET'} ${path} ${answer.status}`);
      const [set] = answer.headers.getSetCookie();
      if (set !== undefined) jar.cookie = COOKIE.exec(set)?.[0];
      return answer;
    };
    return { seen, jar, tab: () => scriptOf('docs/recipes/cookie-mode.md', fetchFromPage) };
  }

  it('signs in, survives a reload, and renews once for many calls', async () => {
    const { seen, jar, tab } = browser();
    const page = tab();
    expect((await page.signIn('ada@example.com', PASSWORD)).status).toBe(200);
    expect((await page.call('/private')).status).toBe(200);
    expect(jar.cookie).toMatch(COOKIE);

    const reloaded = tab();
    seen.length = 0;
    const answers = await Promise.all(Array.from({ length: 5 }, () => reloaded.call('/private')));
    expect(answers.map(({ status }: Response) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(seen.filter((line) => line.includes('refresh'))).toEqual(['POST /auth/refresh 200']);

    t.clock.advance(1000);
    seen.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => reloaded.call('/private')));
    expect(seen.filter((line) => line.includes('refresh'))).toEqual(['POST /auth/refresh 200']);
    expect(seen.filter((line) => line === 'GET /private 200')).toHaveLength(5);
  });

  it('keeps tabs signed in that refresh at once, and signs all of them out together', async () => {
    const { tab } = browser();
    const tabs = [tab(), tab(), tab()];
    await tabs[0].signIn('ada@example.com', PASSWORD);
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(tabs.map((page) => page.call('/private')));
      expect(answers.map(({ status }: Response) => status)).toEqual([200, 200, 200]);
      t.clock.advance(1000);
    }
    await tabs[0].signOut();
    for (const page of tabs) await expect(page.call('/private')).rejects.toThrow('Signed out');
  });

  it('renders for whoever the cookie says, and passes the new one on', async () => {
    const { jar, tab } = browser();
    await tab().signIn('ada@example.com', PASSWORD);
    process.env.API_URL = url;
    const { sessionOf } = modulesOf('docs/recipes/server-side-rendering.md')['src/session.ts'];
    delete process.env.API_URL;

    const { accessToken, setCookies } = await sessionOf(jar.cookie, '203.0.113.7');
    await t.get('/private', accessToken).expect(200);
    expect(setCookies).toEqual([expect.stringMatching(COOKIE)]);
    expect(setCookies[0]).not.toContain(jar.cookie);

    for (const cookie of [undefined, 'theme=dark', `__Host-refresh=${'f'.repeat(64)}`])
      expect(await sessionOf(cookie, '203.0.113.7')).toEqual({ accessToken: null, setCookies: [] });
  });
});
