import { type Attack, AttackedHost, type Visitor } from './support/attacked-host';
import { sendValidRequests } from './support/valid-requests';
import { ROUTES, type Route, credentials, routeNamed } from './support/routes';
import type { Answer } from './support/raw-client';
import { describeWithRedis } from '../support/stores/with-redis';

const PAGE = 'https://app.example.com';

/** The routes that return tokens, and so set the cookie. */
const SETTING = [
  'login',
  'login/code/verify',
  'refresh',
  'register',
  'register/passkey',
  'passkeys/login',
  'two-factor-challenge',
  'two-factor-enrolment/confirm',
  'two-factor-enrolment/passkey',
];
/** The routes that remove the cookie. */
const CLEARING = ['POST logout', 'DELETE sessions', 'DELETE sessions/:svcSession', 'DELETE account'];

const short = ({ name }: Route): string => name.replace(/\/(admin\/)?auth\//, '');
const setting = ROUTES.filter((route) => SETTING.some((one) => short(route) === `POST ${one}`));
/** The routes that only own pages can use: those, and the route that sets the cookie of a mailed code. */
const ofOwnPages = [
  ...setting,
  ...['login/code', 'identities/register', 'identities/:svcProvider', 'identities/:svcProvider/callback'].map((path) =>
    routeNamed(`POST /auth/${path}`),
  ),
];

/** Headers that browsers send for a page of another site, or that such a page can cause. */
const FOREIGN: readonly Record<string, string>[] = [
  { Origin: 'https://evil.example' },
  { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' },
  { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': '' },
  { 'Sec-Fetch-Site': 'same-origin, cross-site', Origin: 'https://evil.example' },
  { Origin: 'null' },
  { Origin: '' },
  { Origin: `${PAGE}.evil.example` },
  { Origin: `https://evil.example/${PAGE}` },
  { Origin: `${PAGE}/` },
  { Origin: `${PAGE}, https://evil.example` },
  { Origin: 'http://app.example.com' },
  { Origin: `${PAGE}:444` },
  { Origin: 'file://' },
  { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' },
  { Origin: 'https://evil.example', Forwarded: 'host=evil.example', 'X-Forwarded-For': '127.0.0.1' },
  { Origin: 'https://evil.example', Referer: `${PAGE}/` },
];

describeWithRedis('cookie mode', () => {
  let host: AttackedHost;
  let answers: Map<string, Answer>;
  let visitors: Record<string, Visitor>;

  beforeAll(async () => {
    host = await AttackedHost.start({ options: { cookieMode: true, cookie: { origins: [PAGE] } } });
    answers = await sendValidRequests(host);
    visitors = { api: await host.visitor(), admin: await host.visitor('admin') };
  });
  afterAll(() => host.stop());

  const isOfCode = (one: string): boolean => one.startsWith('__Host-refresh.code=');
  const cookiesOf = ({ headers }: Answer): string[] => (headers['set-cookie'] ?? []).filter((one) => !isOfCode(one));
  const nameAt = (guard: string): string => (guard === 'api' ? '__Host-refresh' : `__Host-refresh-${guard}`);
  const cookie = ({ guard, refresh }: Visitor): string => `${nameAt(guard)}=${refresh}`;

  it('returns the refresh token only in a cookie that is HttpOnly, SameSite=Strict and Secure', () => {
    for (const route of setting.filter(({ name }) => answers.has(name))) {
      const answer = answers.get(route.name)!;
      const [only, ...more] = cookiesOf(answer);
      // A sign-in also sets the cookie of the device.
      const device = new RegExp(
        `^${nameAt(route.guard)}\\.device=[0-9a-f.]{129}; Max-Age=34560000; Path=/; HttpOnly; Secure; SameSite=Strict$`,
      );
      const others = short(route) === 'POST refresh' ? [] : [expect.stringMatching(device)];
      expect([route.name, more]).toEqual([route.name, others]);
      const [pair, ...attributes] = only!.split('; ');
      expect(pair).toMatch(new RegExp(`^${nameAt(route.guard)}=[\\w-]{71}$`));
      const age = attributes.find((one) => one.startsWith('Max-Age='))!;
      expect(Number(age.slice(8))).toBeGreaterThan(2_500_000);
      expect(attributes.toSorted()).toEqual(['HttpOnly', age, 'Path=/', 'SameSite=Strict', 'Secure']);
      expect(Object.keys(JSON.parse(answer.text) as object).toSorted()).toEqual([
        'access_token',
        'expires_in',
        'token_type',
      ]);
    }
  });

  it('sets and removes the cookie of a mailed code on the two routes of codes only', () => {
    const set = [...answers].flatMap(([name, { headers }]) =>
      (headers['set-cookie'] ?? []).filter(isOfCode).map((one) => [name, one]),
    );
    expect(set).toEqual([
      [
        'POST /auth/login/code',
        expect.stringMatching(/=[0-9a-f]{64}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
      ],
      [
        'POST /auth/login/code/verify',
        expect.stringMatching(/=; Max-Age=0; Path=\/; Expires=Thu, 01 Jan 1970.*; HttpOnly; Secure; SameSite=Strict$/),
      ],
    ]);
  });

  it('sets or removes the cookie on no other route', () => {
    for (const [name, answer] of answers) {
      const route = routeNamed(name);
      const cookies = cookiesOf(answer);
      if (setting.includes(route)) continue;
      if (!CLEARING.includes(short(route))) expect([name, cookies]).toEqual([name, []]);
      else
        expect([name, cookies]).toEqual([
          name,
          [
            expect.stringMatching(
              new RegExp(
                `^${nameAt(route.guard)}=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970.*; HttpOnly; Secure; SameSite=Strict$`,
              ),
            ),
          ],
        ]);
    }
  });

  it('sets the same cookie whatever proxy headers a request has', async () => {
    const { status, headers } = await host.wire.send({
      method: 'POST',
      path: '/auth/refresh',
      headers: {
        Cookie: cookie(await host.visitor()),
        Host: 'evil.example',
        'X-Forwarded-Proto': 'http',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Prefix': '/evil',
      },
    });
    expect(status).toBe(200);
    expect(headers['set-cookie']![0]).toMatch(
      /^__Host-refresh=[\w-]{71}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('refuses pages of other sites before any read, count, verification or rotation', async () => {
    const rows = async (): Promise<unknown> =>
      host.sql('SELECT count(*), sum(generation), (SELECT count(*) FROM members) AS members FROM svc_sessions');
    const [before, work] = [await rows(), await host.ask('work')];
    const bodies = (route: Route) => [
      { body: route.body?.(visitors[route.guard]!) ?? {}, headers: {} },
      // No parser reads it.
      { body: '{}', headers: { 'Content-Type': 'text/plain' }, status: 415 },
      { body: 'email=a@example.com&password=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      { headers: {} },
    ];
    const attacks = ofOwnPages.flatMap((route) =>
      FOREIGN.flatMap((page) =>
        bodies(route).map(({ body, headers, status = 403 }): Attack => ({
          name: `${route.name} ${JSON.stringify(page)}`,
          send: {
            method: 'POST',
            path: route.path,
            body,
            headers: { Cookie: cookie(visitors[route.guard]!), ...headers, ...page },
          },
          status: [status],
          secrets: [visitors[route.guard]!.refresh],
        })),
      ),
    );
    expect(await host.withstand(attacks)).toEqual([]);
    expect(await host.ask('work')).toEqual(work);
    expect(await rows()).toEqual(before);
  });

  it('refuses them with one body, counts nothing and keeps the cookie', async () => {
    const headers = { Cookie: cookie(visitors.api!), Origin: 'https://evil.example' };
    const { text, headers: responseHeaders } = await host.wire.send({ method: 'POST', path: '/auth/refresh', headers });
    expect(text).toBe('{"message":"This request comes from another site."}');
    expect(responseHeaders).not.toHaveProperty('set-cookie');
    expect(responseHeaders).not.toHaveProperty('x-ratelimit-remaining');
  });

  it.each<[string, (own: string) => Record<string, string>]>([
    ['a client that is not a browser', () => ({})],
    ['a page of the same origin', (own) => ({ Origin: own, 'Sec-Fetch-Site': 'same-origin' })],
    ['a page of the same origin in an older browser', (own) => ({ Origin: own })],
    [
      'a page of the same origin with an opaque Origin header',
      () => ({ Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }),
    ],
    ['the address bar', () => ({ 'Sec-Fetch-Site': 'none' })],
    ['the listed page', () => ({ Origin: PAGE, 'Sec-Fetch-Site': 'cross-site' })],
    ['the listed page in an older browser', () => ({ Origin: PAGE })],
  ])('answers %s', async (_, page) => {
    for (const guard of ['api', 'admin']) {
      const visitor = await host.visitor(guard);
      const [path, headers] = [host.paths[guard]!, page(host.wire.url.replace(/\/$/, ''))];
      const renewed = await host.wire.send({
        method: 'POST',
        path: `${path}/refresh`,
        headers: { Cookie: cookie(visitor), ...headers },
      });
      expect(renewed.status).toBe(200);
      const body = routeNamed(`POST ${path}/login`).body!(visitor);
      expect((await host.wire.send({ method: 'POST', path: `${path}/login`, body, headers })).status).toBe(200);
    }
  });

  it('does not check the origin on routes that require a bearer token', async () => {
    const others = ROUTES.filter((route) => !ofOwnPages.includes(route) && !route.ends && route.method !== 'DELETE');
    const attacks = others.map((route): Attack => {
      const visitor = visitors[route.guard]!;
      const { method, path, refuses, done } = route;
      const headers = {
        ...credentials(route, visitor),
        Origin: 'https://evil.example',
        'Sec-Fetch-Site': 'cross-site',
      };
      return { name: route.name, send: { method, path, headers }, status: [refuses, done] };
    });
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('reads no token from a cookie with another name or of the other guard', async () => {
    const { api, admin } = visitors as { api: Visitor; admin: Visitor };
    const wrong = [
      `refresh=${api.refresh}`,
      `__Secure-refresh=${api.refresh}`,
      `__host-refresh=${api.refresh}`,
      `__Host-refresh-admin=${api.refresh}`,
      `__Host-refresh=${admin.refresh}`,
      `__Host-refresh=x; __Host-refresh=${api.refresh}`,
      `__Host-refresh=${api.refresh}; __Host-refresh=x`,
      `__Host-refresh=${api.refresh};__Host-refresh=${api.refresh}`,
      `__Host-refresh=${api.refresh}; __Host-refresh=`,
      `__Host-refresh="x;__Host-refresh=${api.refresh}"`,
      `__Host-refresh=%`,
      `__proto__=${api.refresh}; constructor=${api.refresh}`,
      `__Host-refresh=${'a'.repeat(6000)}`,
      ';;;===;;;',
    ];
    const attacks = wrong.map((text): Attack => ({
      name: text.slice(0, 60),
      send: { method: 'POST', path: '/auth/refresh', headers: { Cookie: text } },
      status: [401],
    }));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('reads no token from a body', async () => {
    const attacks = Object.values(visitors).map((visitor): Attack => ({
      name: visitor.guard,
      send: { method: 'POST', path: `${host.paths[visitor.guard]}/refresh`, body: { refresh_token: visitor.refresh } },
      status: [401],
    }));
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('survives all these attacks', async () => {
    expect(await host.aftermath(Object.values(visitors).flatMap(({ access, refresh }) => [access, refresh]))).toEqual(
      [],
    );
  });
});

describeWithRedis('body mode', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start()));
  afterAll(() => host.stop());

  it('reads no token from a cookie', async () => {
    const { refresh } = await host.visitor();
    const headers = { Cookie: `__Host-refresh=${refresh}` };
    expect((await host.wire.send({ method: 'POST', path: '/auth/refresh', headers })).status).toBe(401);
    expect((await host.post('/auth/refresh', { refresh_token: refresh })).status).toBe(200);
  });

  it('does not check the origin, because browsers send no credential automatically', async () => {
    const { refresh } = await host.visitor();
    const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    expect((await host.post('/auth/refresh', { refresh_token: refresh }, headers)).status).toBe(200);
  });
});
