import { randomBytes } from 'node:crypto';
import { blocksOf } from '../docs/blocks';
import { installExample } from '../support/packages/example-process';
import { type RunningExample, start } from '../support/packages/example';
import { run } from '../support/packages/package';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/stores/database';

const LOGIN = `mutation ($email: String!) {
  login(data: { email: $email, password: "secret42" }) { accessToken refreshToken user { email } }
}`;

describe('the example prisma-graphql', () => {
  let host: RunningExample;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    host = await start('prisma-graphql', { DATABASE_URL: database.url });
  });
  afterAll(async () => {
    await host?.stop();
    await database?.drop();
  });

  async function send(query: string, variables: object = {}, token?: string) {
    const answer = await fetch(`${host.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    return (await answer.json()) as {
      data: Record<string, Record<string, unknown>>;
      errors?: { message: string; extensions: Record<string, unknown> }[];
    };
  }
  const hashOf = async (email: string): Promise<string> => {
    const found = await executed(`SELECT password FROM "User" WHERE email = '${email}'`, database.url);
    return (found as { rows: { password: string }[] }).rows[0]!.password;
  };

  it('signs in users with a hash of bcrypt, and replaces the hash at their first login', async () => {
    for (const email of ['omar@example.com', 'Omar@Example.com'])
      expect((await send(LOGIN, { email })).data.login).toMatchObject({ user: { email: 'omar@example.com' } });
    expect(await hashOf('omar@example.com')).toContain('$argon2id$');
    expect(await hashOf('lena@example.com')).toMatch(/^\$2b\$10\$/);
  });

  it('gives the former version its hashes back by the statements of the page of the move', async () => {
    const statements = blocksOf('docs/recipes/from-prisma-graphql-starter.md')
      .map(({ text }) => text)
      .filter((text) => text.includes('former_passwords'));
    const [copy, copyBack, drop] = statements;
    expect(statements).toEqual([copy, copyBack, drop]);
    await executed(copy!, database.url);
    const former = await hashOf('lena@example.com');
    expect((await send(LOGIN, { email: 'lena@example.com' })).errors).toBeUndefined();
    expect(await hashOf('lena@example.com')).toContain('$argon2id$');
    await executed(copyBack!, database.url);
    expect(await hashOf('lena@example.com')).toBe(former);
    await executed(drop!, database.url);
  });

  it('ends the other sessions of a user whose password is changed', async () => {
    const data = { email: 'eve@example.com', password: 'seven green bicycles' };
    const { signup } = (await send('mutation ($data: SignupInput!) { signup(data: $data) { accessToken } }', { data }))
      .data;
    const other = (await send('mutation ($data: LoginInput!) { login(data: $data) { accessToken } }', { data })).data;
    const change = `mutation { changePassword(data: {
      oldPassword: "seven green bicycles", newPassword: "eight green bicycles"
    }) { email } }`;
    expect((await send(change, {}, String(signup!.accessToken))).errors).toBeUndefined();
    const { errors } = await send('{ me { email } }', {}, String(other.login!.accessToken));
    expect(errors![0]!.extensions).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect((await send('{ me { email } }', {}, String(signup!.accessToken))).data.me).toEqual({ email: data.email });
  });

  it('names a wrong old password and a refused new one as its own input does', async () => {
    const data = { email: 'mia@example.com', password: 'seven green bicycles' };
    const { signup } = (await send('mutation ($data: SignupInput!) { signup(data: $data) { accessToken } }', { data }))
      .data;
    const change = async (oldPassword: string, newPassword: string) => {
      const mutation = 'mutation ($data: ChangePasswordInput!) { changePassword(data: $data) { email } }';
      return (await send(mutation, { data: { oldPassword, newPassword } }, String(signup!.accessToken))).errors![0]!;
    };
    const code = { code: 'UNPROCESSABLE_ENTITY', status: 422 };
    expect(await change('another password', 'eight green bicycles')).toMatchObject({
      message: 'The password is not correct.',
      extensions: {
        ...code,
        errors: { oldPassword: ['The password is not correct.'] },
        headers: { 'X-Svc-Error-Codes': 'oldPassword=auth.wrong_password' },
      },
    });
    expect((await change('seven green bicycles', 'password1')).extensions).toMatchObject({
      ...code,
      errors: { newPassword: [expect.any(String)] },
      headers: { 'X-Svc-Error-Codes': expect.stringMatching(/^newPassword=password\.\w+$/) },
    });
  });

  it('trims the texts of a signup, stores none for an empty one, and refuses more than 255 characters', async () => {
    const mutation = 'mutation ($data: SignupInput!) { signup(data: $data) { user { email firstname lastname } } }';
    const data = { email: 'Ada@Example.com', password: 'seven green bicycles', firstname: '  Ada ', lastname: '' };
    expect((await send(mutation, { data })).data.signup!.user).toEqual({
      email: 'ada@example.com',
      firstname: 'Ada',
      lastname: null,
    });
    const long = { ...data, email: 'eva@example.com', firstname: 'x'.repeat(256) };
    expect((await send(mutation, { data: long })).errors![0]!.extensions).toMatchObject({
      code: 'UNPROCESSABLE_ENTITY',
      errors: { firstname: [expect.any(String)] },
    });
  });

  it('ends a session that is signed out', async () => {
    const { login } = (await send(LOGIN, { email: 'lena@example.com' })).data;
    expect((await send('mutation { logout }', {}, String(login!.accessToken))).data).toEqual({ logout: true });
    expect((await send('{ me { email } }', {}, String(login!.accessToken))).errors).toHaveLength(1);
  });

  it('ends a session that was not refreshed for 7 days, and each session 90 days after its login', async () => {
    const { login } = (await send(LOGIN, { email: 'lena@example.com' })).data;
    const deadline = async () => {
      const found = await executed(
        `SELECT round(extract(epoch FROM max(expires_at) - now()) / 86400) AS days FROM svc_sessions`,
        database.url,
      );
      return Number((found as { rows: { days: string }[] }).rows[0]!.days);
    };
    expect(await deadline()).toBe(90);
    const refresh = 'mutation ($token: JWT!) { refreshToken(token: $token) { refreshToken } }';
    const { refreshToken } = (await send(refresh, { token: login!.refreshToken })).data;
    await executed(`UPDATE svc_sessions SET last_used_at = now() - interval '7 days 1 second'`, database.url);
    expect((await send(refresh, { token: refreshToken!.refreshToken })).errors![0]!.extensions).toMatchObject({
      status: 401,
    });
  });

  it('accepts a replaced refresh token for 30 seconds, ends its session later, and refuses another text with 401', async () => {
    const { login } = (await send(LOGIN, { email: 'lena@example.com' })).data;
    const refresh = 'mutation ($token: JWT!) { refreshToken(token: $token) { refreshToken } }';
    const replaced = { token: login!.refreshToken };
    const { refreshToken: successor } = (await send(refresh, replaced)).data;
    expect((await send(refresh, replaced)).data.refreshToken).toEqual(successor);
    await executed(`UPDATE svc_sessions SET recent = ARRAY[now() - interval '31 seconds']`, database.url);
    for (const token of [login!.refreshToken, successor!.refreshToken, 'no token'])
      expect((await send(refresh, { token })).errors![0]!.extensions).toMatchObject({
        code: 'UNAUTHENTICATED',
        status: 401,
      });
  });

  it('has no routes of the library', async () => {
    expect((await fetch(`${host.url}/auth/login`, { method: 'POST' })).status).toBe(404);
  });

  it('passes its own end-to-end tests', async () => {
    expect(host.logs).not.toContain('ERROR');
    // The tests above have used up a part of the signups of this address.
    await host.stop();
    host = await start('prisma-graphql');
    const printed = run('npm', ['run', '--silent', 'test:e2e'], installExample('prisma-graphql'), {
      APP_URL: host.url,
    });
    expect(printed).toMatch(/(# |ℹ )pass 17\n\1fail 0\n/);
    expect(host.logs).not.toContain('ERROR');
  });

  it('has a provider that keeps the contract, by its own test', () => {
    const variables = { DATABASE_URL: database.url, SVC_SECRET: randomBytes(32).toString('hex'), SVC_REDIS_URL: '' };
    const printed = run('npm', ['run', '--silent', 'test:users'], installExample('prisma-graphql'), variables);
    expect(printed).toMatch(/(# |ℹ )pass [1-9]\d*\n\1fail 0\n/);
    expect(printed).toContain('every look-up and every write throws while the store does not answer');
  });
});
