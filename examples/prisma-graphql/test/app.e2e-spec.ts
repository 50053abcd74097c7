import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { Application } from './application.js';

const SIGNUP = `mutation ($data: SignupInput!) {
  signup(data: $data) { accessToken refreshToken user { id email firstname role } }
}`;
const LOGIN = `mutation ($data: LoginInput!) {
  login(data: $data) { accessToken refreshToken user { email role posts { title } } }
}`;
const REFRESH = `mutation ($token: JWT!) { refreshToken(token: $token) { accessToken refreshToken } }`;
const CHANGE = `mutation ($data: ChangePasswordInput!) { changePassword(data: $data) { email } }`;
const ME = `{ me { email firstname lastname role } }`;

/** The password of the users that the seed has created. */
const PASSWORD = 'secret42';

const NEW_PASSWORD = 'seven green bicycles';

void describe('the API', () => {
  let app: Application;
  let count = 0;
  const newEmail = () => `user-${Date.now()}-${count++}@example.com`;
  const signup = async (fields: object = {}) =>
    (await app.data(SIGNUP, { data: { email: newEmail(), password: NEW_PASSWORD, firstname: 'Ada', ...fields } }))
      .signup;
  const login = async (email: string, password = PASSWORD) =>
    (await app.data(LOGIN, { data: { email, password } })).login;

  before(async () => {
    app = await Application.start();
  });
  after(() => app?.stop());

  void describe('signup', () => {
    void it('answers tokens and the user, with the email in lower case and the role USER', async () => {
      const email = newEmail();
      const { accessToken, user } = await signup({ email: email.toUpperCase() });
      assert.deepEqual({ ...user, id: '' }, { id: '', email, firstname: 'Ada', role: 'USER' });
      assert.match(user.id, /^c[a-z0-9]{24}$/);
      assert.equal((await app.data(ME, {}, accessToken)).me.email, email);
    });

    void it('refuses an email that has an account', async () => {
      const data = { email: 'omar@example.com', password: NEW_PASSWORD };
      assert.equal((await app.failure(SIGNUP, { data })).message, 'This email is taken.');
    });

    void it('refuses a short password and an invalid email', async () => {
      for (const wrong of [{ password: 'short' }, { email: 'no-email' }]) {
        const data = { email: newEmail(), password: NEW_PASSWORD, ...wrong };
        assert.equal((await app.failure(SIGNUP, { data })).extensions.code, 'BAD_REQUEST');
      }
    });
  });

  void describe('login', () => {
    void it('answers tokens and the user with the published posts, for any spelling of the email', async () => {
      const { user } = await login('Omar@Example.com');
      assert.deepEqual(user, {
        email: 'omar@example.com',
        role: 'USER',
        posts: [{ title: 'A walk along the river' }],
      });
    });

    void it('refuses a wrong password', async () => {
      const failure = await app.failure(LOGIN, { data: { email: 'omar@example.com', password: 'wrong password' } });
      assert.equal(failure.message, 'These credentials do not match our records.');
    });

    void it('refuses an email without an account', async () => {
      const failure = await app.failure(LOGIN, { data: { email: 'nobody@example.com', password: PASSWORD } });
      assert.equal(failure.message, 'These credentials do not match our records.');
    });
  });

  void describe('me', () => {
    void it('answers the user of the access token', async () => {
      const { accessToken } = await login('lena@example.com');
      assert.deepEqual((await app.data(ME, {}, accessToken)).me, {
        email: 'lena@example.com',
        firstname: 'Lena',
        lastname: 'Holt',
        role: 'ADMIN',
      });
    });

    void it('refuses a request without a token, and one with another text in its place', async () => {
      for (const token of [undefined, 'garbage', 'a.b.c'])
        assert.equal((await app.failure(ME, {}, token)).extensions.code, 'UNAUTHENTICATED');
    });

    void it('has no field for the password', async () => {
      const { accessToken } = await signup();
      const failure = await app.failure('{ me { password } }', {}, accessToken);
      assert.equal(failure.extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    });
  });

  void describe('refreshToken', () => {
    void it('exchanges a refresh token for a new pair', async () => {
      const first = await signup();
      const next = (await app.data(REFRESH, { token: first.refreshToken })).refreshToken;
      assert.equal((await app.data(ME, {}, next.accessToken)).me.email, first.user.email);
      assert.ok((await app.data(REFRESH, { token: next.refreshToken })).refreshToken.accessToken);
    });

    void it('refuses an access token, and a refresh token is no access token', async () => {
      const { accessToken, refreshToken } = await signup();
      assert.equal((await app.failure(REFRESH, { token: accessToken })).extensions.code, 'UNAUTHENTICATED');
      assert.equal((await app.failure(ME, {}, refreshToken)).extensions.code, 'UNAUTHENTICATED');
    });
  });

  void describe('changePassword', () => {
    void it('replaces the password', async () => {
      const { accessToken, user } = await signup();
      const data = { oldPassword: NEW_PASSWORD, newPassword: 'eight green bicycles' };
      assert.equal((await app.data(CHANGE, { data }, accessToken)).changePassword.email, user.email);
      assert.ok((await login(user.email, 'eight green bicycles')).accessToken);
      assert.ok(await app.failure(LOGIN, { data: { email: user.email, password: NEW_PASSWORD } }));
    });

    void it('refuses a wrong current password, and a request without a token', async () => {
      const { accessToken } = await signup();
      const data = { oldPassword: 'wrong password', newPassword: 'eight green bicycles' };
      assert.equal((await app.failure(CHANGE, { data }, accessToken)).message, 'The password is not correct.');
      assert.equal((await app.failure(CHANGE, { data })).extensions.code, 'UNAUTHENTICATED');
    });
  });

  void describe('users and posts', () => {
    void it('changes the names of the user', async () => {
      const { accessToken } = await signup();
      const update = `mutation { updateUser(data: { firstname: "Grace" }) { firstname } }`;
      assert.equal((await app.data(update, {}, accessToken)).updateUser.firstname, 'Grace');
      assert.equal((await app.failure(update)).extensions.code, 'UNAUTHENTICATED');
    });

    void it('publishes a post of the user, which everyone can read', async () => {
      const { accessToken, user } = await signup();
      const create = `mutation ($title: String!) { createPost(data: { title: $title, content: "Text" }) { id } }`;
      const { id } = (await app.data(create, { title: 'News' }, accessToken)).createPost;
      const read = `query ($id: String!) { post(postId: $id) { title author { email } } }`;
      assert.deepEqual((await app.data(read, { id })).post, { title: 'News', author: { email: user.email } });
      assert.equal((await app.failure(create, { title: 'News' })).extensions.code, 'UNAUTHENTICATED');
    });

    void it('shows all users to an administrator only', async () => {
      const all = '{ users { email } }';
      const { accessToken } = await login('lena@example.com');
      const emails = (await app.data(all, {}, accessToken)).users.map(({ email }: { email: string }) => email);
      assert.ok(emails.includes('omar@example.com'));
      const other = await login('omar@example.com');
      assert.equal((await app.failure(all, {}, other.accessToken)).extensions.code, 'FORBIDDEN');
    });
  });

  // The last test: it uses up the logins of this address.
  void it('limits the logins of one address', async () => {
    const data = { email: 'nobody@example.com', password: 'wrong password' };
    const messages: string[] = [];
    while (messages.length < 21) messages.push((await app.failure(LOGIN, { data })).message);
    assert.match(messages.at(-1)!, /Too Many Requests/);
  });
});
