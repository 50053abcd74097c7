import { randomUUID } from 'node:crypto';
import { createEmptyDatabase } from '../support/database';
import { Sample } from '../support/sample';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

const [FIRST, SECOND] = ['a horse with wings', 'another horse entirely'];

describeWithRedis('an account at the sample', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let sample: Sample | undefined;

  const launch = async (env: Record<string, string> = {}, args: string[] = []): Promise<Sample> => {
    const stores = { DATABASE_URL: database.url, REDIS_URL: sharedRedisUrl()!, SVC_KEY_PREFIX: `${randomUUID()}:` };
    const secrets = { SVC_SECRET: 's'.repeat(64), SVC_ENCRYPTION_KEY: 'e'.repeat(64) };
    return (sample = await (await Sample.launch({ ...stores, ...secrets, ...env }, args)).ready());
  };
  beforeEach(async () => (database = await createEmptyDatabase()));
  afterEach(async () => {
    await sample?.stop('SIGKILL');
    await database.drop();
  });

  /** The newest link in the mailbox that contains `text`. */
  async function link(s: Sample, text: string): Promise<string> {
    for (;;) {
      const { body } = await s.call('GET', '/mailbox/mails');
      const mails = (body as unknown as { data: { text: string }[] }).data;
      const found = mails.map((mail) => /https?:\S+/.exec(mail.text)![0]).find((url) => url.includes(text));
      if (found) return found.replace(/^http:\/\/localhost:\d+/, s.url);
    }
  }

  it('is registered, verified, given another password, and erased, with what its mails say', async () => {
    const s = await launch({ NODE_ENV: 'development' });
    const both = (password: string) => ({ password, password_confirmation: password });
    const form = { name: 'Ada <b>', email: 'ada@example.com', ...both(FIRST) };
    const { status, body } = await s.call('POST', '/auth/register', form);
    expect(status).toBe(200);
    const verification = await link(s, '/email/verify/');
    expect(await (await fetch(`${s.url}/mailbox`)).text()).toContain('Confirm your email address for Orders');

    const opened = await fetch(verification, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    });
    expect([opened.status, opened.headers.get('location')]).toEqual([
      302,
      expect.stringMatching(/\/verified\?verified=1$/),
    ]);
    const user = await s.call('GET', '/user', undefined, body.access_token);
    expect(user.body).toMatchObject({ data: { email_verified: true } });

    expect((await s.call('POST', '/auth/forgot-password', { email: form.email })).status).toBe(200);
    const page = new URL(await link(s, '/reset-password'));
    const { token: mailed, email } = Object.fromEntries(page.searchParams);
    const reset = await s.call('POST', '/auth/reset-password', { token: mailed, email, ...both(SECOND) });
    expect(reset.body).toEqual({ status: 'password-reset' });
    expect((await s.call('GET', '/user', undefined, body.access_token)).status).toBe(401);

    const { access_token: token } = (await s.call('POST', '/auth/login', { email: form.email, password: SECOND })).body;
    await s.call('POST', '/orders', { item: 'tea' }, token);
    const proof = (await s.call('POST', '/auth/confirm-password', { password: SECOND }, token)).body.confirmation_token;
    const headers = { Authorization: `Bearer ${token}`, 'X-Svc-Confirmation': proof! };
    expect((await fetch(`${s.url}/auth/account`, { method: 'DELETE', headers })).status).toBe(204);
    expect((await s.call('POST', '/auth/register', form)).status).toBe(200);
  }, 60_000);

  it('escapes in its mailbox what a mail brings along', async () => {
    const s = await launch({ NODE_ENV: 'development' });
    const email = "o'neil&co@example.com";
    await s.call('POST', '/auth/register', { name: 'O', email, password: FIRST, password_confirmation: FIRST });
    await link(s, '/email/verify/');
    const text = await (await fetch(`${s.url}/mailbox`)).text();
    expect(text).toContain('o&#39;neil&amp;co@example.com');
    expect(text).not.toContain(email);
  }, 60_000);

  const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://orders.example.com' };
  const flag = ['--mailbox'];
  it.each<[number, string, Record<string, string>, string[]]>([
    [200, 'in development', { NODE_ENV: 'development' }, []],
    [200, 'where npm start says so', {}, flag],
    [404, 'where nobody says what this is', {}, []],
    [404, 'in development that others can reach', { NODE_ENV: 'development', HOST: '0.0.0.0' }, []],
    [404, 'on every address, whatever npm start says', { HOST: '::' }, flag],
    [404, 'in production', PRODUCTION, []],
    [404, 'in production, whatever npm start says', { ...PRODUCTION, HOST: '127.0.0.1' }, flag],
  ])(
    'answers %d for the mailbox %s, and registers and mails only with it',
    async (status, _, env, args) => {
      const s = await launch(env, args);
      expect([await s.status('/mailbox'), await s.status('/mailbox/mails')]).toEqual([status, status]);
      const other = status === 200 ? 422 : 404;
      expect((await s.call('POST', '/auth/register', {})).status).toBe(other);
      expect((await s.call('POST', '/auth/forgot-password', {})).status).toBe(other);
    },
    60_000,
  );
});
