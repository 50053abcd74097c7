import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { claimsOf } from '../support/hosts/app';
import { describeWithBrowser } from '../support/clients/browser';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { requestWith } from '../support/clients/raw-headers';
import { PASSWORD } from '../support/hosts/user-entities';
import { type Answer, send } from '../support/hosts/processes';
import { RedisServer } from '../support/stores/redis';
import { type Sample, SampleHost, SampleProcess } from '../support/sample/sample';
import { SampleVisit } from '../support/sample/sample-page';
import { describeWithOwnRedis, describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';

const DEVELOPMENT = { NODE_ENV: 'development' };
const PUBLIC_URL = 'https://orders.example.com';
const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL, SVC_ISSUER: PUBLIC_URL, SVC_AUDIENCE: PUBLIC_URL };
const [FIRST, SECOND] = ['a horse with wings', 'another horse entirely'];

/** A start writes this number of warnings, and a short text: no line for each module and route. */
function isShort(log: string, warnings: number): void {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  expect(lines.filter((line) => line.includes('WARN'))).toHaveLength(warnings);
  expect(lines.length - warnings).toBeLessThanOrEqual(8);
}

const host = SampleHost.forFile();

describe('the sample, as a process', () => {
  it('starts without settings: with an embedded PostgreSQL, demo users, and data that remains after its end', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'));
    const first = await (await SampleProcess.launch({ DATA_DIR: dataDir, NODE_ENV: 'development' })).ready();
    await eventually(async () => first.log.includes('Ctrl-C'));
    isShort(first.log, 1);
    expect(first.log).not.toContain(readFileSync(join(dataDir, 'secret'), 'utf8'));
    const shown = /^ {2}(\w[\w ]*\w) {2,}(\S+)/gm;
    const addresses = Object.fromEntries([...first.log.matchAll(shown)].map(([, name, value]) => [name, value]));
    expect(addresses).toMatchObject({ Customer: 'demo@example.com', Admin: 'root@example.com' });
    for (const name of ['Page', 'API docs', 'Mailbox']) expect((await fetch(addresses[name]!)).status).toBe(200);
    const { status, body } = await first.login('demo@example.com');
    expect(status).toBe(200);
    const user: unknown = (await first.call('GET', '/user', undefined, body.access_token)).body;
    expect(user).toEqual({
      data: {
        id: claimsOf(body.access_token!).sub,
        email_verified: true,
        abilities: ['orders.*'],
        token_pinned: false,
        name: 'Demo',
        email: 'demo@example.com',
        language: null,
        two_factor: false,
        has_password: true,
      },
    });
    expect((await first.call('POST', '/orders', { item: 'tea' }, body.access_token)).status).toBe(201);
    expect(await first.stop()).toBe(0);

    const second = await host.start({ DATA_DIR: dataDir, LOG_LEVEL: 'log' });
    await eventually(async () => /RouterExplorer.*\/auth\/login/.test(host.log));
    const orders = await second.call('GET', '/orders', undefined, body.access_token);
    expect(orders.body.data).toMatchObject([{ item: 'tea' }]);
    expect((await second.call('POST', '/auth/refresh', { refresh_token: body.refresh_token })).status).toBe(200);
    await host.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

describeWithRedis('the sample, configured by environment alone', () => {
  let database: TestDatabase;
  let stores: Record<string, string>;

  /** Settings for a start on a separate database. */
  const onNewStores = () => {
    beforeAll(async () => {
      database = await createEmptyDatabase();
      stores = {
        DATABASE_URL: database.url,
        REDIS_URL: sharedRedisUrl()!,
        // All suites of a run share one Redis and one client address.
        SVC_KEY_PREFIX: `${randomUUID()}:`,
        SVC_SECRET: randomBytes(32).toString('hex'),
        SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      };
    });
    afterAll(async () => {
      await host.stop();
      await database.drop();
    });
  };

  describe('with its schedule', () => {
    onNewStores();

    it('starts on Redis without the warning of a start without it', async () => {
      const { length } = host.log;
      // The logger of the sample without a level.
      await host.start({ ...stores, LOG_LEVEL: '' });
      // What the start wrote is here before this answer.
      await host.stop();
      isShort(host.log.slice(length), 0);
      await host.start({ ...stores, LOG_LEVEL: '', REDIS_URL: '' });
      await eventually(async () => host.log.slice(length).includes('WARN'));
    });

    it('prunes by itself', async () => {
      await host.start({ ...stores, ...DEVELOPMENT, SVC_PRUNE_SCHEDULE: '* * * * * *' });
      const client = new Client({ connectionString: database.url });
      await client.connect();
      await client.query(
        `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
         SELECT gen_random_uuid(), 'api', name, '', now(), now() + deadline, now(), now()
           FROM (VALUES ('expired', interval '-1 day'), ('live', interval '1 day')) AS session(name, deadline)`,
      );
      const left = async () => (await client.query('SELECT user_id FROM svc_sessions')).rows;
      await eventually(async () => (await left()).length < 2);
      expect(await left()).toEqual([{ user_id: 'live' }]);
      await client.end();
    });
  });

  describe('in development', () => {
    let s: Sample;
    onNewStores();
    beforeAll(async () => void (s = await host.start({ ...stores, ...DEVELOPMENT })));

    it('serves both guards, each with its own users and routes', async () => {
      const [own, staff] = [await s.login('demo@example.com'), await s.login('root@example.com', '/admin/auth')];
      expect([own.status, staff.status]).toEqual([200, 200]);
      const { access_token: customer } = own.body;
      const { access_token: operator } = staff.body;
      expect((await s.call('GET', '/admin/users', undefined, operator)).status).toBe(200);
      expect((await s.call('GET', '/admin/users', undefined, customer)).status).toBe(401);
      expect((await s.call('GET', '/user', undefined, operator)).status).toBe(401);
      expect((await s.login('root@example.com')).status).toBe(422);
      expect(await s.status('/orders/menu')).toBe(200);
      expect(await s.status('/orders')).toBe(401);
    });

    it('has a route for each decorator', async () => {
      const { access_token: token } = (await s.login('demo@example.com')).body;
      await s.call('DELETE', '/auth/sessions/others', undefined, token);
      await s.call('POST', '/orders', { item: 'tea' }, token);
      for (let left = 5; left >= 0; left--) {
        const response = await fetch(`${s.url}/orders/export`, { headers: { Authorization: `Bearer ${token}` } });
        expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([200, String(left)]);
        expect(await response.text()).toMatch(/^id,item,created_at\n[0-9a-f-]{36},tea,2.*Z\n$/);
      }
      expect((await s.call('GET', '/orders/export', undefined, token)).status).toBe(429);

      const issue = (body: object, headers = {}, as = token): Promise<Answer> =>
        send(`${s.url}/user/tokens`, 'POST', body, as, headers);
      const request = { label: 'CI', abilities: ['orders.read'] };
      expect((await issue(request)).status).toBe(423);
      const { body } = await s.call('POST', '/auth/confirm-password', { password: PASSWORD }, token);
      const confirmed = { 'X-Svc-Confirmation': body.confirmation_token };
      expect((await issue({ label: 'CI', abilities: ['orders.read', 'x'] }, confirmed)).status).toBe(400);
      const { access_token: machine } = (await issue(request, confirmed)).body;
      expect((await s.call('GET', '/orders', undefined, machine)).status).toBe(200);
      expect((await s.call('POST', '/orders', { item: 'tea' }, machine)).status).toBe(403);
      expect((await s.call('GET', '/auth/sessions', undefined, machine)).status).toBe(403);
      expect((await issue(request, confirmed, machine)).body).toMatchObject({
        reason: 'confirmation_session_mismatch',
      });
      const { data } = (await s.call('GET', '/auth/sessions', undefined, token)).body as unknown as { data: object[] };
      expect(data).toEqual([
        expect.objectContaining({ label: 'CI', current: false }),
        expect.objectContaining({ current: true }),
      ]);
      expect((await s.call('GET', '/user', undefined, machine)).body).toMatchObject({
        data: { abilities: ['orders.read'], token_pinned: true },
      });
    });

    it('does not show orders of other users', async () => {
      const { access_token: token } = (await s.login('demo@example.com')).body;
      const placed = (await s.call('POST', '/orders', { item: 'cake' }, token)).body as unknown as {
        data: { id: string };
      };
      const { confirmation_token: proof } = (
        await s.call('POST', '/auth/confirm-password', { password: PASSWORD }, token)
      ).body;
      const cancel = (id: string, headers = {}): Promise<Answer> =>
        send(`${s.url}/orders/${id}`, 'DELETE', undefined, token, headers);
      const confirmed = { 'X-Svc-Confirmation': proof };
      expect((await cancel(placed.data.id)).status).toBe(423);
      expect((await cancel('00000000-0000-4000-8000-000000000000', confirmed)).status).toBe(404);
      expect((await cancel(placed.data.id, confirmed)).status).toBe(204);
      expect((await s.call('POST', '/orders', { item: { a: 1 } }, token)).status).toBe(400);
    });

    describe('for an account', () => {
      /** The newest link that was mailed to `to` and contains `text`. */
      async function link(to: string, text: string): Promise<string> {
        let found: string | undefined;
        await eventually(async () => {
          const { body } = await s.call('GET', '/mailbox/mails');
          const mails = (body as unknown as { data: { to: string; text: string }[] }).data;
          const urls = mails.filter((mail) => mail.to === to).map((mail) => /https?:\S+/.exec(mail.text)?.[0]);
          return (found = urls.find((url) => url?.includes(text))) !== undefined;
        });
        return found!.replace(/^http:\/\/localhost:\d+/, s.url);
      }

      it('is registered, verified, given another password, and deleted, with the links of its mails', async () => {
        const both = (password: string) => ({ password, password_confirmation: password });
        const form = { name: 'Ada <b>', email: 'ada@example.com', ...both(FIRST) };
        const { status, body } = await s.call('POST', '/auth/register', form);
        expect(status).toBe(200);
        const verification = await link(form.email, '/email/verify/');
        expect(await (await fetch(`${s.url}/mailbox`)).text()).toContain('Confirm your email address for Orders');

        const opened = await fetch(verification, {
          headers: { Accept: 'text/html' },
          redirect: 'manual',
        });
        expect([opened.status, opened.headers.get('location')]).toEqual([
          302,
          expect.stringMatching(/\/verified\?verified=1#link=/),
        ]);
        const user = await s.call('GET', '/user', undefined, body.access_token);
        expect(user.body).toMatchObject({ data: { email_verified: true } });

        expect((await s.call('POST', '/auth/forgot-password', { email: form.email })).status).toBe(200);
        const page = new URL(await link(form.email, '/reset-password'));
        const { token: mailed, email } = Object.fromEntries(page.searchParams);
        const reset = await s.call('POST', '/auth/reset-password', { token: mailed, email, ...both(SECOND) });
        expect(reset.body).toEqual({ status: 'password-reset' });
        expect((await s.call('GET', '/user', undefined, body.access_token)).status).toBe(401);

        const { access_token: token } = (await s.call('POST', '/auth/login', { email: form.email, password: SECOND }))
          .body;
        await s.call('POST', '/orders', { item: 'tea' }, token);
        const proof = (await s.call('POST', '/auth/confirm-password', { password: SECOND }, token)).body
          .confirmation_token;
        const headers = { Authorization: `Bearer ${token}`, 'X-Svc-Confirmation': proof! };
        expect((await fetch(`${s.url}/auth/account`, { method: 'DELETE', headers })).status).toBe(204);
        expect((await s.call('POST', '/auth/register', form)).status).toBe(200);
      });

      it('shows the HTML of a mail in both modes, without scripts and forms', async () => {
        const email = 'grace@example.com';
        await s.call('POST', '/auth/register', { name: 'G', email, password: FIRST, password_confirmation: FIRST });
        const verification = await link(email, '/email/verify/');
        const frames = (await (await fetch(`${s.url}/mailbox`)).text()).match(/<iframe[^]*?>/g)!;
        for (const [i, mode] of ['light', 'dark'].entries()) {
          expect(frames[i]).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox allow-same-origin"');
          const [, address] = /src="([^"]*)"/.exec(frames[i]!)!;
          const response = await fetch(s.url + address);
          const policy = response.headers.get('content-security-policy')!;
          expect(policy).toMatch(/^default-src 'none'; style-src 'unsafe-inline';.* frame-ancestors 'self'; sandbox /);
          expect(policy).toMatch(/sandbox allow-popups allow-popups-to-escape-sandbox allow-same-origin$/);
          const text = await response.text();
          expect(text).toContain(new URL(verification).pathname);
          expect(text).toContain(mode === 'dark' ? '@media (min-width: 0)' : '@media (max-width: 0)');
        }
        expect(await s.status('/mailbox/mails/99')).toBe(404);
        expect(await s.status('/mailbox/mails/x')).toBe(400);
      });

      it('mails changes of the account, and answers in the language of the client', async () => {
        const email = 'alan@example.com';
        const form = { name: 'A', email, password: FIRST, password_confirmation: FIRST };
        const token = (await s.call('POST', '/auth/register', form)).body.access_token;
        await fetch(await link(email, '/email/verify/'), { redirect: 'manual' });
        const change = { current_password: FIRST, password: SECOND, password_confirmation: SECOND };
        expect((await s.call('POST', '/auth/password', change, token)).status).toBe(200);
        await eventually(async () => {
          const { body } = await s.call('GET', '/mailbox/mails');
          const [mail] = (body as unknown as { data: { to: string; subject: string }[] }).data;
          return mail?.to === email && mail.subject === 'Your Orders password was changed';
        });
        const refused = await fetch(`${s.url}/user`, { headers: { 'Accept-Language': 'pt-BR' } });
        expect(await refused.json()).toMatchObject({ message: 'É necessário entrar na conta.' });
      });

      it.each(['en', 'de', 'fr', 'es', 'pt', 'ja'])('shows an example of every mail: %s', async (language) => {
        const text = await (await fetch(`${s.url}/mailbox/examples/${language}`)).text();
        const frames = [...text.matchAll(/src="([^"]*mode=dark)"/g)].map(([, address]) => address!);
        expect(frames.length).toBeGreaterThan(14);
        for (const address of frames)
          expect(await (await fetch(s.url + address)).text()).toContain(`<html lang="${language}" dir="ltr">`);
        expect(await s.status('/mailbox/examples/xx')).toBe(404);
        expect(await s.status(`/mailbox/examples/${language}/unknown`)).toBe(404);
      });

      it('escapes the content of mails in its mailbox', async () => {
        const email = "o'neil&co@example.com";
        await s.call('POST', '/auth/register', { name: 'O', email, password: FIRST, password_confirmation: FIRST });
        await link(email, '/email/verify/');
        const text = await (await fetch(`${s.url}/mailbox`)).text();
        expect(text).toContain('o&#39;neil&amp;co@example.com');
        expect(text).not.toContain(email);
      });
    });

    it.each([
      '/mailbox',
      '/mailbox/mails',
      '/mailbox/examples/en',
      '/mailbox/examples/en/passwordReset',
      '/',
      '/reset-password?token=a',
      '/unknown-sign-in?token=a',
      '/web/config',
      '/web/main.js',
    ])('answers %s only on its own host and to its own pages', async (path) => {
      const [url, { port }] = [s.url + path, new URL(s.url)];
      const status = (...fields: string[]): Promise<number> => requestWith(url, fields);
      for (const own of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
        expect(await status('Host', own)).toBe(200);
        expect(await status('Host', own, 'Origin', `http://${own}`)).toBe(200);
        expect(await status('Host', own, 'Origin', 'http://evil.example')).toBe(403);
        expect(await status('Host', own, 'Origin', `http://evil.example:${port}`)).toBe(403);
        expect(await status('Host', own, 'Origin', 'null')).toBe(403);
      }
      // The name of a foreign page that its owner lets point to this machine.
      for (const foreign of [`evil.example:${port}`, 'evil.example', `localhost.evil.example:${port}`, ''])
        expect([foreign, await status('Host', foreign)]).toEqual([foreign, 421]);
      expect(await status('Host', `evil.example:${port}`, 'Origin', `http://evil.example:${port}`)).toBe(421);
    });

    it('serves its API document, as it is committed', async () => {
      // The document of the sample with a mailbox has all routes.
      expect(await s.status('/docs')).toBe(200);
      const { body } = await s.call('GET', '/docs-json');
      expect(body).toEqual(JSON.parse(readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8')));
    });
  });

  describe('with a demo account whose password was changed', () => {
    onNewStores();

    it('sets the known password at a start that offers the account on the page, and at no other', async () => {
      const first = await host.start({ ...stores, ...DEVELOPMENT });
      const { access_token: token } = (await first.login('demo@example.com')).body;
      const fields = { current_password: PASSWORD, password: SECOND, password_confirmation: SECOND };
      expect((await first.call('POST', '/auth/password', fields, token)).status).toBe(200);
      const unseen = await host.start({ ...stores, NODE_ENV: 'staging' });
      expect((await unseen.login('demo@example.com')).status).toBe(422);
      const second = await host.start({ ...stores, ...DEVELOPMENT });
      expect((await second.login('demo@example.com')).status).toBe(200);
    });
  });

  describe('without demo accounts', () => {
    onNewStores();

    it('starts', async () => {
      const s = await host.start({ ...stores, SEED_DEMO: 'off' });
      expect((await s.login('demo@example.com')).status).toBe(422);
    });

    it('answers in production on the host of its public URL', async () => {
      const s = await host.start({ ...stores, ...PRODUCTION });
      expect(await requestWith(`${s.url}/`, ['Host', 'orders.example.com'])).toBe(200);
      expect(
        await requestWith(`${s.url}/`, ['Host', 'orders.example.com', 'Origin', 'https://orders.example.com']),
      ).toBe(200);
      expect(await requestWith(`${s.url}/`, ['Host', 'evil.example'])).toBe(421);
    });

    it('runs in production on real stores, without its API document', async () => {
      const s = await host.start({ ...stores, ...PRODUCTION });
      expect((await s.login('demo@example.com')).status).toBe(422);
      expect([await s.status('/docs'), await s.status('/docs-json')]).toEqual([404, 404]);
    });
  });

  describeWithOwnRedis('with limits on its own routes', () => {
    let redis: RedisServer;
    let s: Sample;
    onNewStores();
    beforeAll(async () => {
      redis = await RedisServer.start();
      s = await host.start({ ...stores, ...DEVELOPMENT, REDIS_URL: redis.url });
    });
    afterAll(() => redis.stop());

    it('allows each of them 120 requests of a client, with or without a token', async () => {
      expect(await s.answers('/orders/menu', 150)).toEqual({ 200: 120, 429: 30 });
      expect(await s.answers('/admin/users', 121)).toEqual({ 401: 120, 429: 1 });
      const { headers } = await fetch(`${s.url}/orders/menu`);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      const { body } = await s.login('demo@example.com');
      expect((await s.call('GET', '/user', undefined, body.access_token)).status).toBe(200);
    });

    it('does not apply them to the routes of the library, which have their own limits', async () => {
      expect(await s.answers('/auth/jwks', 130)).toEqual({ 200: 130 });
    });

    it('answers 503 on them while the store does not answer', async () => {
      await redis.stop();
      expect(await s.answers('/orders/menu', 2)).toEqual({ 503: 2 });
      expect(await s.answers('/admin/users', 2)).toEqual({ 503: 2 });
    });
  });

  describe('with other settings', () => {
    onNewStores();

    it('uses the SVC_* variables, including feature flags', async () => {
      const s = await host.start({
        ...stores,
        SVC_ACCESS_TTL: '77',
        SVC_ISSUER: 'https://issuer.test',
        SVC_AUDIENCE: 'https://a.test, https://b.test',
        SVC_COOKIE_MODE: 'true',
        SVC_COOKIE_SECURE: 'false',
        SVC_FEATURE_LOGOUT_ALL: 'false',
      });
      const response = await fetch(`${s.url}/auth/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: 'demo@example.com', password: PASSWORD }),
      });
      const body = (await response.json()) as { access_token: string; expires_in: number };
      expect(body.expires_in).toBe(77);
      expect(claimsOf(body.access_token)).toMatchObject({
        iss: 'https://issuer.test',
        aud: ['https://a.test', 'https://b.test'],
      });
      expect(response.headers.get('set-cookie')).toMatch(/^refresh=[\w-]{71}; /);
      expect((await s.call('DELETE', '/auth/sessions', undefined, body.access_token)).status).toBe(404);
    });

    const flag = ['--mailbox'];
    it.each<[number, string, Record<string, string>, string[]]>([
      [200, 'in development', DEVELOPMENT, []],
      [200, 'with the switch of npm start', {}, flag],
      [404, 'without the switch and NODE_ENV', {}, []],
      [404, 'in development on all addresses', { NODE_ENV: 'development', HOST: '0.0.0.0' }, []],
      [404, 'on all addresses, also with the switch', { HOST: '::' }, flag],
      [404, 'in production', PRODUCTION, []],
      [404, 'in production, also with the switch', { ...PRODUCTION, HOST: '127.0.0.1' }, flag],
    ])(
      'answers %d for the mailbox %s, and has registration and mails only with a mailbox',
      async (status, _, env, args) => {
        const s = await host.start({ ...stores, ...env }, args);
        expect([await s.status('/mailbox'), await s.status('/mailbox/mails')]).toEqual([status, status]);
        const other = status === 200 ? 422 : 404;
        expect((await s.call('POST', '/auth/register', {})).status).toBe(other);
        expect((await s.call('POST', '/auth/forgot-password', {})).status).toBe(other);
      },
    );

    it.each([
      [
        'no Redis',
        { ...PRODUCTION, REDIS_URL: '' },
        /Neither redis\.url \(SVC_REDIS_URL\) nor cache is set.*Set redis\.url to the URL of your Redis/,
      ],
      ['no secret', { ...PRODUCTION, SVC_SECRET: '' }, /secret \(SVC_SECRET\) is missing/],
      ['no encryption key', { ...PRODUCTION, SVC_ENCRYPTION_KEY: '' }, /needs encryption\.key \(SVC_ENCRYPTION_KEY\)/],
      ['no public URL', { NODE_ENV: 'production' }, /PUBLIC_URL is missing\. Set it to where this server is/],
      [
        'links in mails without TLS',
        { ...PRODUCTION, PUBLIC_URL: 'http://orders.example.com', SMTP_URL: 'smtp://127.0.0.1:1' },
        /passwordReset\.frontendUrl \(SVC_RESET_URL\).*in production, mailed links must use https/,
      ],
      ['a short secret', { SVC_SECRET: 'short' }, /secret \(SVC_SECRET\) has 40 bits/],
      ['an invalid number of proxies', { TRUST_PROXY: 'all' }, /^TRUST_PROXY is "all"\. Set it to the number of/],
      [
        'an invalid time for its stores',
        { STORES_TIMEOUT: 'long' },
        /^STORES_TIMEOUT is "long"\. Set it to the number of s/,
      ],
      ['an invalid level of the log', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL is "loud"\. Set it to one of verbose, debug/],
      ['an invalid number', { SVC_GRACE: 'many' }, /^graceSeconds \(SVC_GRACE\) is "many"\. Use a whole number of/],
      [
        'the example issuer in production',
        { ...PRODUCTION, SVC_ISSUER: '' },
        /^issuer \(SVC_ISSUER\) is the example https:\/\/api\.example\.com/,
      ],
    ])('refuses to start with %s, and says how to correct it', async (_, env, message) => {
      await expect(host.start({ ...stores, ...env })).rejects.toThrow(message);
    });
  });
});

// Everything else about the page is in `*.browsers-spec.ts`, which `npm run test:browsers` runs.
describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile(host);
  visit.forTests();

  it('signs in, renews the session, and signs out, without an error in the console', async () => {
    const tab = await visit.tab();
    await tab.presses('Use the demo account');
    await tab.sees('Overview');
    expect((await tab.payload()).amr).toEqual(['pwd']);
    await tab.presses('Renew now');
    await tab.lives('Renewed');
    await tab.signsOut();
    expect(visit.complaints).toEqual([]);
  });
});
