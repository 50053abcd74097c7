import { Body, Controller, Get, type INestApplication, Inject, Module, Post, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createClient } from '@redis/client';
import { Authenticated, type Caller, CurrentCaller } from '@svc/auth';
import request from 'supertest';
import { blocksOf } from '../docs/blocks';
import { modulesOf, scriptOf } from '../docs/page-modules';
import { TestApp, claimsOf } from '../support/app';
import { startIssuer } from '../support/issuer';
import { member } from '../support/members';
import { Member, PASSWORD } from '../support/user-entities';
import { RedisServer } from '../support/redis';
import { describeWithOwnRedis } from '../support/with-redis';

const COOKIE = /^__Host-refresh=[\w-]{71}/;

const SOCIAL_LOGIN = 'docs/recipes/social-login.md';
const modules = modulesOf(SOCIAL_LOGIN, { './users.js': { User: Member } });
const SocialLogin: Type<{ signIn(profile: object): Promise<object> }> = modules['src/social-login.ts'].SocialLogin;
const { Identity } = modules['src/identity.ts'];

/** Stands in for the callback of a provider: what it is sent counts as verified. */
@Controller('callback')
class Callback {
  constructor(@Inject(SocialLogin) private readonly login: { signIn(profile: object): Promise<object> }) {}

  @Post()
  signIn(@Body() profile: object) {
    return this.login.signIn(profile);
  }
}

@Controller('reports')
@Authenticated()
class Reports {
  @Get()
  list(@CurrentCaller() { userId }: Caller) {
    return { of: userId };
  }
}

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

describe('social login, as its recipe says', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({
      options: { users: { entity: Member } },
      controllers: [Callback],
      entities: [Identity],
      imports: [{ module: class Social {}, providers: [SocialLogin], exports: [SocialLogin], global: true }],
    });
    await t.database.query(blocksOf(SOCIAL_LOGIN).find(({ language }) => language === 'sql')!.text);
  });
  afterAll(() => t.stop());

  const ada = { provider: 'example', subject: '1', email: 'Ada@example.com', emailVerified: true, name: 'Ada' };
  const signIn = (profile: object) => t.http.post('/callback').send(profile);
  const userIn = async (profile: object): Promise<unknown> =>
    claimsOf((await signIn(profile).expect(201)).body.accessToken).sub;

  it('is one account for a subject, whatever becomes of its address, and however many come at once', async () => {
    const sent = await Promise.all(Array.from({ length: 8 }, () => userIn(ada)));
    expect(new Set(sent).size).toBe(1);
    expect(await userIn({ ...ada, email: 'lovelace@example.com', emailVerified: false })).toBe(sent[0]);
    expect(await t.database.getRepository(Member).countBy({ email: 'ada@example.com' })).toBe(1);
    // Without a password there is none to guess.
    await t.login('ada@example.com', '').expect(422);
  });

  it('takes over no account that has the address, and tells another provider`s subject apart', async () => {
    const squatter = await member(t, 'bob@example.com');
    await signIn({ ...ada, subject: '2', email: 'bob@example.com' }).expect(409);
    await signIn({ ...ada, provider: 'other' }).expect(409);
    const { n } = (
      await t.database.query('SELECT count(*)::int AS n FROM svc_sessions WHERE user_id = $1', [squatter])
    )[0];
    expect(n).toBe(0);
  });

  it('creates no account for an address that the provider does not vouch for', async () => {
    await signIn({ ...ada, subject: '3', email: 'eve@example.com', emailVerified: false }).expect(403);
    expect(await t.database.getRepository(Member).countBy({ email: 'eve@example.com' })).toBe(0);
  });

  it('starts a session like any other, named after the provider', async () => {
    const { body } = await signIn(ada).expect(201);
    const { body: listed } = await t.get('/auth/sessions', body.accessToken).expect(200);
    expect(listed.data[0]).toMatchObject({ label: 'example', current: true });
    await t.refresh(body.refreshToken).expect(200);
  });
});

describeWithOwnRedis('a service that only verifies, as its recipe says', () => {
  let issuer: TestApp;
  let service: INestApplication;
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await RedisServer.start();
    issuer = await startIssuer(server.url);
    Object.assign(process.env, { ISSUER_URL: await issuer.app.getUrl(), REDIS_URL: server.url });
    const page = modulesOf('docs/recipes/verify-only-services.md', {
      // Kept, to be closed.
      '@redis/client': { createClient: (options: object) => (client = createClient(options)) },
    });
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
    await client.disconnect();
    await issuer.stop();
    await server.stop();
  });

  const reports = (token: string) =>
    request(service.getHttpServer()).get('/reports').set('Authorization', `Bearer ${token}`);

  it('takes the issuer`s tokens by the keys that it publishes, until their session ends there', async () => {
    const { access_token: token } = await issuer.session();
    expect((await reports(token).expect(200)).body).toEqual({ of: '1' });
    await issuer.call('post', '/auth/logout', token).expect(204);
    await reports(token).expect(401);
  });
});
