import { Controller, Get, type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Authenticated, type Caller, CurrentCaller } from '@svc/auth';
import request from 'supertest';
import { modulesOf, scriptOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { startIssuer } from '../support/hosts/issuer';
import { PASSWORD } from '../support/hosts/user-entities';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const COOKIE = /^__Host-refresh=[\w-]{71}/;

@Controller('reports')
@Authenticated()
class Reports {
  @Get()
  list(@CurrentCaller() { userId }: Caller) {
    return { of: userId };
  }
}

describe('cookie mode, as in its recipes', () => {
  let t: TestApp;
  let url: string;

  beforeAll(async () => {
    t = await TestApp.start({ options: { cookieMode: true } });
    await t.person('ada@example.com');
    url = await t.app.getUrl();
  });
  afterAll(() => t.stop());

  /** A browser: its tabs share one cookie jar, and each tab has a page of the API's origin. */
  function browser() {
    const requests: string[] = [];
    const jar: { cookie?: string } = {};
    const fetchFromPage = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const headers = {
        ...(init.headers as object),
        'Sec-Fetch-Site': 'same-origin',
        ...(jar.cookie && { Cookie: jar.cookie }),
      };
      const answer = await fetch(url + path, { ...init, headers });
      requests.push(`${init.method ?? 'GET'} ${path} ${answer.status}`);
      const [set] = answer.headers.getSetCookie();
      if (set !== undefined) jar.cookie = COOKIE.exec(set)?.[0];
      return answer;
    };
    return { requests, jar, tab: () => scriptOf('docs/recipes/cookie-mode.md', fetchFromPage) };
  }

  it('signs in, keeps the session through a reload, and refreshes once for many calls', async () => {
    const { requests, jar, tab } = browser();
    const page = tab();
    expect((await page.signIn('ada@example.com', PASSWORD)).status).toBe(200);
    expect((await page.call('/private')).status).toBe(200);
    expect(jar.cookie).toMatch(COOKIE);

    const reloaded = tab();
    requests.length = 0;
    const answers = await Promise.all(Array.from({ length: 5 }, () => reloaded.call('/private')));
    expect(answers.map(({ status }: Response) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(requests.filter((line) => line.includes('refresh'))).toEqual(['POST /auth/refresh 200']);

    t.clock.advance(1000);
    requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => reloaded.call('/private')));
    expect(requests.filter((line) => line.includes('refresh'))).toEqual(['POST /auth/refresh 200']);
    expect(requests.filter((line) => line === 'GET /private 200')).toHaveLength(5);
  });

  it('keeps tabs signed in that refresh at once, and signs out all of them together', async () => {
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

  it('renders for the user of the cookie, and sets the new cookie', async () => {
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

describeWithOwnRedis('a service that only verifies, as in its recipe', () => {
  let issuer: TestApp;
  let service: INestApplication;
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
    issuer = await startIssuer(server.url);
    Object.assign(process.env, { ISSUER_URL: await issuer.app.getUrl(), REDIS_URL: server.url });
    const page = modulesOf('docs/recipes/verify-only-services.md');
    const AppModule: Type = page['src/app.module.ts'].AppModule;

    @Module({ imports: [AppModule], controllers: [Reports] })
    class Service {}
    service = await NestFactory.create(Service, { logger: false });
    await service.init();
  });
  afterAll(async () => {
    delete process.env.ISSUER_URL;
    delete process.env.REDIS_URL;
    await service.close();
    await issuer.stop();
    await server.stop();
  });

  const reports = (token: string) =>
    request(service.getHttpServer()).get('/reports').set('Authorization', `Bearer ${token}`);

  it('accepts the issuer`s tokens by the published keys until their session ends', async () => {
    const { access_token: token } = await issuer.session();
    expect((await reports(token).expect(200)).body).toEqual({ of: '1' });
    await issuer.call('post', '/auth/logout', token).expect(204);
    await reports(token).expect(401);
  });
});
