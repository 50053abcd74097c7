import { METHODS } from 'node:http';
import { type Attack, AttackedHost, type Visitor } from './support/attacked-host';
import { CHALLENGE, purposeToken } from './support/jws';
import { sendValidRequests } from './support/valid-requests';
import { problemsOf } from './support/response-checks';
import { ROUTES, type Route, credentials, routeNamed } from './support/routes';
import { mapConcurrently } from './support/raw-client';
import { onFastify } from '../support/hosts/adapter';
import { API_URL, RESET_URL, linkIn } from '../support/hosts/members';
import { describeWithRedis } from '../support/stores/with-redis';

const EVIL = 'evil.example';
/** Headers in which proxies send the client's address. None of them is trusted unless the host configures it. */
const ADDRESS_HEADERS = [
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Client-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
  'Fastly-Client-IP',
  'X-Cluster-Client-IP',
  'X-Original-Forwarded-For',
];
const from = (i: number): Record<string, string> => {
  const address = `203.0.${i >> 8}.${i & 255}`;
  return { Forwarded: `for=${address}`, ...Object.fromEntries(ADDRESS_HEADERS.map((name) => [name, address])) };
};

const HOST_HEADERS: readonly Record<string, string>[] = [
  { Host: EVIL },
  { Host: `api.example.test@${EVIL}` },
  { 'X-Forwarded-Host': EVIL },
  { 'X-Forwarded-Server': EVIL },
  { 'X-Host': EVIL },
  { 'X-HTTP-Host-Override': EVIL },
  { Forwarded: `host=${EVIL};proto=http` },
  { 'X-Forwarded-Proto': 'javascript', 'X-Forwarded-Port': '1', 'X-Forwarded-Prefix': `//${EVIL}` },
  { 'X-Original-URL': `https://${EVIL}/`, 'X-Rewrite-URL': `//${EVIL}/` },
  { Origin: `https://${EVIL}`, Referer: `https://${EVIL}/` },
];

describeWithRedis('the routes of the library in a host', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start()));
  afterAll(() => host.stop());

  const paths = [...new Set(ROUTES.map(({ path }) => path))];
  /** The methods of all routes with this path. */
  const mounted = (path: string): string[] =>
    ROUTES.filter(({ name }) => patternOf(name).test(path)).map(({ method }) => method);

  it('are all in the table that the attacks use', async () => {
    const routes = (await host.ask('routes')).filter((route) => route.includes('/auth/') && route !== PROBE);
    expect(routes.toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
  });

  it('answer valid requests with the listed status and cache headers', async () => {
    const answers = await sendValidRequests(host);
    // Only the default guard has the routes to enrol, and no user must have a second factor.
    // Identities need a provider that answers: `test/identities`.
    const isAnswered = (name: string): boolean =>
      name !== 'POST /admin/auth/two-factor-challenge' &&
      !name.includes('two-factor-enrolment') &&
      !/identit(y|ies)/.test(name);
    const expectedRoutes = ROUTES.filter(({ name }) => isAnswered(name));
    expect([...answers.keys()].toSorted()).toEqual(expectedRoutes.map(({ name }) => name).toSorted());
    const faults = expectedRoutes.flatMap((route) => {
      const answer = answers.get(route.name)!;
      const wrong = problemsOf(answer, { status: [200, 201, 202, 204] });
      return [...wrong, ...cacheFaults(route, answer.headers)].map((fault) => `${route.name}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  it('answer no other method and no method override', async () => {
    const others = METHODS.filter((method) => !['CONNECT', 'HEAD'].includes(method));
    const override = { 'X-HTTP-Method-Override': 'POST', 'X-HTTP-Method': 'POST', 'X-Method-Override': 'DELETE' };
    const attacks = paths.flatMap((path) =>
      others
        .filter((method) => !mounted(path).includes(method))
        .map((method): Attack => ({
          name: `${method} ${path}`,
          send: { method, path: `${path}?_method=POST`, headers: override },
          // Fastify supports this method and requires a body for it.
          status: [onFastify && method === 'QUERY' ? 400 : 404],
          framework: true,
        })),
    );
    expect(await host.withstand(attacks)).toEqual([]);
  });

  it('ignore a method override in a header or in the query', async () => {
    const visitor = await host.visitor();
    const headers = { ...credentials({ needs: 'token' } as Route, visitor), 'X-HTTP-Method-Override': 'DELETE' };
    for (let i = 0; i < 2; i++) {
      const { status } = await host.wire.send({ path: '/auth/sessions?_method=DELETE', headers });
      expect(status).toBe(200);
    }
  });

  it('answer HEAD like GET without a body, except for a mailed link', async () => {
    const visitor = await host.visitor();
    const admin = await host.visitor('admin');
    const faults = await mapConcurrently([...ROUTES], async (route) => {
      const headers = credentials({ needs: 'proof' } as Route, route.guard === 'api' ? visitor : admin);
      const { status, text } = await host.wire.send({ method: 'HEAD', path: route.path, headers });
      const get = ROUTES.find((one) => one.path === route.path && one.method === 'GET');
      const expected = get?.name === PROBE.replace('HEAD', 'GET') ? 204 : (get?.refuses ?? 404);
      return status === expected && text === '' ? [] : [`${route.name}: ${status} ${text}`];
    });
    expect(faults.flat()).toEqual([]);
  });

  it('send no CORS headers', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
    const answers = await mapConcurrently(paths, (path) => host.wire.send({ method: 'OPTIONS', path, headers }));
    const headerNames = answers.flatMap((answer) => Object.keys(answer.headers));
    expect(headerNames.filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  describe('with forged Host and proxy headers', () => {
    it('mail links with the configured URL only', async () => {
      const faults = await mapConcurrently(HOST_HEADERS, async (headers) => {
        const visitor = await host.visitor();
        await host.post('/auth/forgot-password', { email: visitor.email }, headers);
        const reset = linkIn(await host.mailTo(visitor.email, 1));
        const route = routeNamed('POST /auth/email/verification-notification');
        await host.post(route.path, {}, { ...credentials(route, visitor), ...headers });
        const verify = linkIn(await host.mailTo(visitor.email, 2));
        const mails = JSON.stringify(await host.ask('mails'));
        return [
          reset.href.startsWith(`${RESET_URL}?token=`),
          verify.href.startsWith(`${API_URL}/auth/email/verify/`),
          !mails.includes(EVIL),
        ];
      });
      expect(faults.flat()).not.toContain(false);
    });

    it('redirect no client', async () => {
      const faults = await mapConcurrently(HOST_HEADERS, async (headers) => {
        const visitor = await host.visitor();
        const route = routeNamed('POST /auth/email/verification-notification');
        await host.post(route.path, {}, credentials(route, visitor));
        const { pathname, search } = linkIn(await host.mailTo(visitor.email, 1));
        const path = `${pathname}${search}`;
        const turned = `${path}&redirect=https://${EVIL}`;
        const added = await host.wire.send({ path: turned, headers: { ...headers, Accept: 'text/html' } });
        const good = await host.wire.send({ path, headers: { ...headers, Accept: 'text/html' } });
        return [
          ...problemsOf(added, { status: [204], secrets: [EVIL] }),
          ...problemsOf(good, { status: [204], secrets: [EVIL] }),
        ];
      });
      expect(faults.flat()).toEqual([]);
    });

    it('run no other route', async () => {
      const visitor = await host.visitor();
      const headers = {
        'X-Original-URL': '/auth/sessions',
        'X-Rewrite-URL': '/auth/sessions',
        ...credentials({ needs: 'token' } as never, visitor),
      };
      const { text } = await host.wire.send({ path: '/auth/jwks', headers });
      expect(text).toBe('{"keys":[]}');
    });

    it('do not store the forged values in a session', async () => {
      const { email } = await host.visitor();
      const login = routeNamed('POST /auth/login');
      const sent = { ...from(7), 'User-Agent': '<script>alert(1)</script>' };
      const { text } = await host.post(login.path, login.body!({ email } as Visitor), sent);
      const { access_token } = JSON.parse(text) as { access_token: string };
      const answer = await host.wire.send({
        path: '/auth/sessions',
        headers: { Authorization: `Bearer ${access_token}` },
      });
      expect(answer.text).not.toContain('203.0.');
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
    });

    it.each([
      [
        'two Content-Length headers',
        'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      ],
      [
        'Content-Length and chunked encoding',
        'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      [
        'an unknown transfer coding',
        'POST /auth/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      ],
      ['a NUL in a header', 'GET /auth/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\0b\r\n\r\n'],
      ['a bare line feed', 'GET /auth/sessions HTTP/1.1\r\nHost: x\r\nX: a\rSet-Cookie: b\r\n\r\n'],
      ['no host', 'GET /auth/sessions HTTP/1.1\r\n\r\n'],
      [
        'a header of 64 KB',
        `GET /auth/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(65_536)}\r\n\r\n`,
      ],
      ['an unknown method', 'STEAL /auth/sessions HTTP/1.1\r\nHost: x\r\n\r\n'],
    ])('refuse HTTP with %s before a handler runs', async (_, bytes) => {
      // Fastify answers 415: it checks the type before Node detects that the body is incomplete.
      expect(await host.wire.raw(bytes)).toMatch(/^HTTP\/1\.1 4(00|15|31) /);
    });

    it.each([
      [
        'bytes that are not text',
        Buffer.from(
          'GET /auth/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer \xff\xfe\r\nUser-Agent: \xff\r\n\r\n',
          'latin1',
        ),
        401,
      ],
      [
        'two tokens',
        'GET /auth/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
        401,
      ],
      [
        'a path that is a URL',
        `GET http://${EVIL}/auth/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        401,
      ],
      [
        '3,000 headers',
        `GET /auth/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'A: b\r\n'.repeat(2500)}\r\n`,
        401,
      ],
      ['an invalid host', 'GET /auth/sessions HTTP/1.1\r\nHost: a b c\r\nConnection: close\r\n\r\n', 401],
    ])('answer HTTP with %s in JSON', async (_, bytes, status) => {
      const text = await host.wire.raw(bytes);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text).toMatch(/\{"message":"[^"]+"\}$/);
    });
  });

  it('do not harm the process', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});

describeWithRedis('the default rate limits', () => {
  let host: AttackedHost;

  beforeAll(async () => (host = await AttackedHost.start({ options: { rateLimits: {} } })));
  afterAll(() => host.stop());

  /** The routes of each limiter, its limit, and the status below the limit. */
  const LIMITED: readonly [string, number, (visitor: Visitor, i: number) => [path: string, body: object], number][] = [
    ['svc-login', 30, (_, i) => ['/auth/login', { email: `nobody-${i}@example.com`, password: 'x' }], 422],
    ['svc-refresh', 30, (_, i) => ['/auth/refresh', { refresh_token: String(i) }], 401],
    [
      'svc-2fa',
      5,
      (visitor) => [
        '/auth/two-factor-challenge',
        { challenge_token: purposeToken(CHALLENGE, visitor), code: '000000' },
      ],
      422,
    ],
    ['svc-passkeys', 30, () => ['/auth/passkeys/login', {}], 422],
    ['svc-confirm', 5, (_, i) => [i % 2 ? '/auth/confirm-password' : '/auth/password', {}], 422],
    ['svc-email-verification', 6, () => ['/auth/email/verification-notification', {}], 202],
    ['svc-password-reset', 6, (_, i) => [i % 2 ? '/auth/reset-password' : '/auth/forgot-password', {}], 422],
    ['svc-email-code', 10, () => ['/auth/login/code/verify', { code_token: 'f'.repeat(64), code: '1' }], 422],
    ['svc-register', 10, () => ['/auth/register', {}], 422],
    ['svc-admin-login', 30, (_, i) => ['/admin/auth/login', { email: `nobody-${i}@example.com`, password: 'x' }], 422],
    ['svc-admin-refresh', 30, (_, i) => ['/admin/auth/refresh', { refresh_token: String(i) }], 401],
  ];

  it.each(LIMITED)(
    'of %s admit %i requests, whatever address their headers contain',
    async (_name, most, request, status) => {
      const visitor = await host.visitor();
      const answers = await mapConcurrently(
        Array.from({ length: most + 20 }, (_, i) => i),
        (i) => {
          const [path, body] = request(visitor, i);
          return host.post(path, body, { Authorization: `Bearer ${visitor.access}`, ...from(i) });
        },
      );
      expect(answers.flatMap((answer) => problemsOf(answer, { status: [status, 429] }))).toEqual([]);
      const refused = answers.filter((answer) => answer.status === 429);
      expect(refused).toHaveLength(20);
      for (const { headers } of refused) {
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        expect(headers['x-ratelimit-remaining']).toBe('0');
      }
    },
  );

  it('write no warning to the log', async () => {
    const warned = (await host.aftermath()).filter((fault) => !fault.startsWith('no user can sign in: 429'));
    expect(warned).toEqual([]);
  });
});

/** Mail programs send HEAD for a link. This route has no effect and no error body. */
const PROBE = 'HEAD /auth/email/verify/:id/:hash';

const patternOf = (name: string): RegExp => new RegExp(`^${name.split(' ')[1]!.replace(/:\w+/g, '[^/]+')}$`);

function cacheFaults({ cache }: Route, headers: Record<string, unknown>): string[] {
  const expected = {
    'no-store': ['no-store, private', 'no-cache'],
    public: ['max-age=3600, public', undefined],
  }[cache];
  const [control, pragma] = [headers['cache-control'], headers.pragma];
  return control === expected[0] && pragma === expected[1]
    ? []
    : [`the cache headers are ${String(control)}, ${String(pragma)}`];
}
