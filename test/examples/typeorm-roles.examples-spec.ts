import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { Client } from 'pg';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { type RunningExample, start } from '../support/packages/example';
import { installExample } from '../support/packages/example-process';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/stores/database';

const NAME = 'typeorm-roles';
const FORMER_SECRET = 'secret_for_refresh';
const JOHN = { email: 'john.doe@example.com', password: 'secret' };

describe('the example typeorm-roles', () => {
  let host: RunningExample;
  let database: TestDatabase;

  beforeAll(async () => {
    // The suite does more in a minute than one client may.
    const limits = ['LOGIN_IP', 'REGISTER', 'REFRESH', 'VERIFY', 'RESET', 'CONFIRM'];
    database = await createEmptyDatabase();
    host = await start(NAME, {
      DATABASE_URL: database.url,
      AUTH_REFRESH_SECRET: FORMER_SECRET,
      MAIL_PORT: String(await freePort()),
      ...Object.fromEntries(limits.map((limit) => [`SVC_${limit}_MAX_ATTEMPTS`, '100'])),
    });
  });
  afterAll(async () => {
    await host?.stop();
    await database?.drop();
  });

  const rows = async (sql: string) =>
    ((await executed(sql, database.url)) as unknown as { rows: Record<string, unknown>[] }).rows;

  const post = async (path: string, body: object | undefined, token?: string) => {
    const answer = await fetch(`${host.urls.app}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : undefined };
  };

  const me = async (token: string) =>
    (
      await fetch(`${host.urls.app}/api/v1/auth/me`, { headers: { Authorization: `Bearer ${token}` } })
    ).json() as Promise<{ email?: string }>;

  /** A refresh token as the application issued it before the move, with its session. */
  async function formerToken(email: string, { secret = FORMER_SECRET, isReplaced = false } = {}): Promise<string> {
    const hash = randomUUID();
    const [session] = await rows(
      `INSERT INTO session (hash, "userId") SELECT '${hash}', id FROM "user" WHERE email = '${email}' RETURNING id`,
    );
    return sign({ sessionId: session!.id, hash: isReplaced ? randomUUID() : hash }, secret, { expiresIn: '3650d' });
  }

  it('signs in a user with a bcrypt hash, and replaces the hash', async () => {
    const [seeded] = await rows(`SELECT "emailVerifiedAt" FROM "user" WHERE email = '${JOHN.email}'`);
    expect(seeded!.emailVerifiedAt).toBeInstanceOf(Date);
    const stored = async () => (await rows(`SELECT password FROM "user" WHERE email = '${JOHN.email}'`))[0]!.password;
    expect(await stored()).toMatch(/^\$2[aby]\$10\$/);
    expect((await post('email/login', JOHN)).status).toBe(200);
    expect(await stored()).toContain('$argon2id$');
    expect((await post('email/login', JOHN)).status).toBe(200);
  });

  it('exchanges a refresh token from before the move once', async () => {
    const token = await formerToken(JOHN.email);
    const { status, body } = await post('refresh', undefined, token);
    expect([status, (await me(body.token)).email]).toEqual([200, JOHN.email]);
    expect((await post('refresh', undefined, body.refreshToken)).status).toBe(200);
    expect((await post('refresh', undefined, token)).status).toBe(401);
  });

  it('gives one of several requests with a refresh token from before the move a session', async () => {
    const token = await formerToken(JOHN.email);
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('refresh', undefined, token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
  });

  it('refuses a refresh token from before the move with another key, a replaced one, and after a change of the password', async () => {
    for (const wrong of [{ secret: 'another' }, { isReplaced: true }])
      expect((await post('refresh', undefined, await formerToken(JOHN.email, wrong))).status).toBe(401);

    const ada = { email: 'ada@example.com', password: 'a horse with wings' };
    await post('email/register', { ...ada, firstName: 'Ada', lastName: 'Lovelace' });
    const token = await formerToken(ada.email);
    const { body } = await post('email/login', ada);
    const changed = await fetch(`${host.urls.app}/api/v1/auth/me`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${body.token}` },
      body: JSON.stringify({ oldPassword: ada.password, password: 'another horse' }),
    });
    expect(changed.status).toBe(200);
    expect((await post('refresh', undefined, token)).status).toBe(401);
  });

  it('ends a session that a refresh token from before the move was exchanged for while an admin changes the password', async () => {
    const grace = { email: 'grace@example.com', password: 'a horse with wings' };
    await post('email/register', { ...grace, firstName: 'Grace', lastName: 'Hopper' });
    await formerToken(grace.email);
    const admin = (await post('email/login', { email: 'admin@example.com', password: 'secret' })).body.token as string;
    const [{ id }] = (await rows(`SELECT id FROM "user" WHERE email = '${grace.email}'`)) as [{ id: number }];

    // An exchange that has not ended holds the row of the former session.
    const exchange = new Client({ connectionString: database.url });
    await exchange.connect();
    await exchange.query('BEGIN');
    await exchange.query(`UPDATE session SET "deletedAt" = now() WHERE "userId" = ${id}`);
    const change = fetch(`${host.urls.app}/api/v1/users/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${admin}` },
      body: JSON.stringify({ password: 'another horse' }),
    });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await rows(waiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const { body } = await post('email/login', { ...grace, password: 'another horse' });
    expect((await me(body.token)).email).toBe(grace.email);
    await exchange.query('COMMIT');
    await exchange.end();
    expect((await change).status).toBe(200);
    expect((await post('refresh', undefined, body.refreshToken)).status).toBe(401);
  });

  it('mails a user of a provider no link to a password', async () => {
    const email = 'edith@example.com';
    await rows(`INSERT INTO "user" (email, provider, "roleId", "statusId") VALUES ('${email}', 'google', 2, 1)`);
    expect((await post('forgot/password', { email })).status).toBe(204);
    const mailed = async () =>
      ((await (await fetch(`${host.urls.mailbox}/email`)).json()) as { to: { address: string }[]; text: string }[])
        .filter(({ to }) => to[0]!.address === email)
        .map(({ text }) => text.trim());
    while ((await mailed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await mailed()).toEqual(['Your account has no password. Sign in with google.']);
  });

  it('passes the end-to-end suite that it had before the move', async () => {
    const env = { ...process.env, APP_URL: host.urls.app!, MAIL_URL: host.urls.mailbox! };
    const suite = spawn('npm', ['run', '--silent', 'test:e2e'], { cwd: installExample(NAME), env });
    let report = '';
    for (const stream of [suite.stdout, suite.stderr]) stream.on('data', (text: Buffer) => (report += text.toString()));
    const code = await new Promise((resolve) => suite.once('close', resolve));
    expect([code, report]).toEqual([0, expect.stringContaining('# fail 0')]);
    expect(host.logs).not.toMatch(/ERROR|WARN \[Auth\]/);
  });
});
