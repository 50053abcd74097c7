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
      errors?: { extensions: Record<string, unknown> }[];
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

  it('has no routes of the library', async () => {
    expect((await fetch(`${host.url}/auth/login`, { method: 'POST' })).status).toBe(404);
  });

  // The last test: it uses up the logins of this address.
  it('passes its own end-to-end tests', () => {
    const printed = run('npm', ['run', '--silent', 'test:e2e'], installExample('prisma-graphql'), {
      APP_URL: host.url,
    });
    expect(printed).toMatch(/(# |ℹ )pass 17\n\1fail 0\n/);
    expect(host.logs).not.toContain('ERROR');
  });
});
