import { randomBytes } from 'node:crypto';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { type Sample, SampleHost } from '../support/sample/sample';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const host = SampleHost.forFile();

describe('what the sample serves around its page', () => {
  let database: TestDatabase;
  let s: Sample;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    s = await host.start({
      DATABASE_URL: database.url,
      NODE_ENV: 'development',
      SVC_SECRET: randomBytes(32).toString('hex'),
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    });
  });
  afterAll(async () => {
    await host.stop();
    await database.drop();
  });

  const get = (path: string, accept: string) => fetch(s.url + path, { headers: { Accept: accept } });

  it.each(['/nope', '/a/b.html', '/auth/nope'])(
    'answers 404 with the page to a browser, and with JSON to an API client: %s',
    async (path) => {
      const [page, json] = [await get(path, BROWSER), await get(path, 'application/json')];
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(await page.text()).toBe(await (await get('/', BROWSER)).text());
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect([json.status, await json.json()]).toEqual([404, expect.objectContaining({ statusCode: 404 })]);
      expect(
        (await fetch(s.url + path, { method: 'POST', headers: { Accept: BROWSER } })).headers.get('content-type'),
      ).toMatch(/json/);
    },
  );

  it('documents the routes of customers first, and those of administrators after them', async () => {
    const { paths, tags } = (await (await get('/docs-json', '*/*')).json()) as {
      paths: object;
      tags: { name: string }[];
    };
    const all = Object.keys(paths);
    const place = (start: string) => all.findIndex((path) => path.startsWith(start));
    expect(all[0]).toMatch(/^\/auth\//);
    const places = ['/auth/', '/user', '/orders', '/staff', '/admin/', '/health'].map(place);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(tags[0]!.name).toBe('Authentication');
  });

  it('keeps the language of a user, and refuses one that it has no texts in', async () => {
    const { access_token: token } = (await s.login('demo@example.com')).body;
    expect((await s.call('PUT', '/user/language', { language: 'xx' }, token)).status).toBe(400);
    expect((await s.call('PUT', '/user/language', { language: 'ja' }, token)).status).toBe(204);
    expect((await s.call('GET', '/user', undefined, token)).body).toMatchObject({ data: { language: 'ja' } });
    expect((await s.call('PUT', '/user/language', { language: 'de' })).status).toBe(401);
  });

  it('signs in the staff with a username, whose tokens the customers’ guard refuses', async () => {
    const fields = { handle: 'casey', password: 'correct-horse-battery' };
    const { status, body } = await s.call('POST', '/staff/auth/login', fields);
    expect(status).toBe(200);
    expect((await s.call('GET', '/staff', undefined, body.access_token)).body).toMatchObject({
      data: { handle: 'casey' },
    });
    expect((await s.call('GET', '/user', undefined, body.access_token)).status).toBe(401);
    expect((await s.call('GET', '/staff')).status).toBe(401);
  });
});
