import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ADMIN_EMAIL, ADMIN_PASSWORD, call, linkTo, login, register } from './client.js';

describe('Since the move', () => {
  it('refuses an access token as soon as its session has ended', async () => {
    const { email, password } = await register();
    const { token } = (await login(email, password)).body;
    assert.equal((await call('POST', '/auth/logout', undefined, token)).status, 204);
    assert.equal((await call('GET', '/auth/me', undefined, token)).status, 401);
  });

  it('refuses a role as soon as it was taken', async () => {
    const admin = (await login(ADMIN_EMAIL, ADMIN_PASSWORD)).body.token;
    const { email, password } = await register();
    const { token, user } = (await login(email, password)).body;
    assert.equal((await call('PATCH', `/users/${user.id}`, { role: { id: 1 } }, admin)).status, 200);
    assert.equal((await call('GET', '/users?limit=1', undefined, token)).status, 200);
    assert.equal((await call('PATCH', `/users/${user.id}`, { role: { id: 2 } }, admin)).status, 200);
    assert.equal((await call('GET', '/users?limit=1', undefined, token)).status, 403);
  });

  it('needs the ability of the role beside the role, which the next token has', async () => {
    const admin = (await login(ADMIN_EMAIL, ADMIN_PASSWORD)).body.token;
    const { email, password } = await register();
    const { token, refreshToken, user } = (await login(email, password)).body;
    assert.equal((await call('PATCH', `/users/${user.id}`, { role: { id: 1 } }, admin)).status, 200);
    assert.equal((await call('DELETE', '/users/999999', undefined, token)).status, 403);
    const next = (await call('POST', '/auth/refresh', undefined, refreshToken)).body.token;
    assert.equal((await call('DELETE', '/users/999999', undefined, next)).status, 204);
  });

  it('ends the sessions of a user whose password an admin changes', async () => {
    const admin = (await login(ADMIN_EMAIL, ADMIN_PASSWORD)).body.token;
    const { email, password } = await register();
    const { token, user } = (await login(email, password)).body;
    assert.equal((await call('PATCH', `/users/${user.id}`, { password: 'new-secret' }, admin)).status, 200);
    assert.equal((await call('GET', '/auth/me', undefined, token)).status, 401);
  });

  it('answers a refused password of an administrator in the form of the validation pipe: /api/v1/users (POST, PATCH)', async () => {
    const admin = (await login(ADMIN_EMAIL, ADMIN_PASSWORD)).body.token;
    const { user } = await login(ADMIN_EMAIL, ADMIN_PASSWORD).then(({ body }) => body);
    const person = { email: `weak.${Date.now()}@example.com`, password: 'password1', firstName: 'A', lastName: 'B' };
    for (const refused of [
      await call('POST', '/users', person, admin),
      await call('PATCH', `/users/${user.id}`, { password: 'password1' }, admin),
    ]) {
      assert.equal(refused.status, 422);
      assert.equal(typeof refused.body.errors.password, 'string');
    }
  });

  it('does not show whether an email is taken before the password was right: /api/v1/auth/me (PATCH)', async () => {
    const { email, password } = await register();
    const { token } = (await login(email, password)).body;
    const wrong = await call('PATCH', '/auth/me', { email: ADMIN_EMAIL, oldPassword: 'wrong' }, token);
    assert.deepEqual([wrong.status, wrong.body.errors], [422, { oldPassword: 'incorrectOldPassword' }]);
    const taken = await call('PATCH', '/auth/me', { email: ADMIN_EMAIL, oldPassword: password }, token);
    assert.deepEqual([taken.status, taken.body.errors], [422, { email: 'emailExists' }]);
  });

  it('refuses the registration of a taken email with the code that it had before: /api/v1/auth/email/register (POST)', async () => {
    const person = { email: ADMIN_EMAIL, password: 'a horse with wings', firstName: 'A', lastName: 'B' };
    const { status, body } = await call('POST', '/auth/email/register', person);
    assert.deepEqual([status, body.errors], [422, { email: 'emailAlreadyExists' }]);
  });

  it('changes nothing if a request has a new password and a new email: /api/v1/auth/me (PATCH)', async () => {
    const { email, password } = await register();
    const { token } = (await login(email, password)).body;
    const both = { email: `new.${email}`, password: 'new-secret', oldPassword: password };
    const refused = await call('PATCH', '/auth/me', both, token);
    assert.deepEqual([refused.status, refused.body.errors], [422, { email: 'changeWithoutPassword' }]);
    assert.equal((await login(email, password)).status, 200);
  });

  it('refuses a used link, a forged one and that of another letter as before: invalidHash', async () => {
    const { email } = await register();
    const confirm = (await linkTo(email, '/confirm-email')).get('hash')!;
    const forged = Buffer.from(`${Buffer.from(confirm, 'base64url').toString()}0`).toString('base64url');
    assert.equal((await call('POST', '/auth/forgot/password', { email })).status, 204);
    const reset = (await linkTo(email, '/password-change')).get('hash')!;
    const newPassword = { hash: reset, password: 'new-secret' };
    assert.equal((await call('POST', '/auth/reset/password', newPassword)).status, 204);
    for (const [path, body] of [
      ['reset/password', newPassword],
      ['reset/password', { ...newPassword, hash: confirm }],
      ['email/confirm', { hash: forged }],
      ['email/confirm', { hash: reset }],
      ['email/confirm/new', { hash: reset }],
      ['email/undo', { hash: confirm }],
    ] as const) {
      const { status, body: answer } = await call('POST', `/auth/${path}`, body);
      assert.deepEqual([path, status, answer.errors], [path, 422, { hash: 'invalidHash' }]);
    }
  });

  it('undoes a change of a confirmed email by the letter to it: /api/v1/auth/email/undo (POST)', async () => {
    const { email, password } = await register();
    const confirm = { hash: (await linkTo(email, '/confirm-email')).get('hash') };
    assert.equal((await call('POST', '/auth/email/confirm', confirm)).status, 204);
    const { token } = (await login(email, password)).body;
    const change = { email: `new.${email}`, oldPassword: password };
    assert.equal((await call('PATCH', '/auth/me', change, token)).status, 200);
    const confirmNew = { hash: (await linkTo(change.email, '/confirm-new-email')).get('hash') };
    assert.equal((await call('POST', '/auth/email/confirm/new', confirmNew)).status, 204);

    const undo = { hash: (await linkTo(email, '/undo-new-email')).get('hash') };
    assert.equal((await call('POST', '/auth/email/undo', undo)).status, 204);
    assert.equal((await call('GET', '/auth/me', undefined, token)).status, 401);
    // The password was replaced, and a link to choose a new one is mailed.
    const reset = { hash: (await linkTo(email, '/password-change')).get('hash'), password: 'new-secret' };
    assert.equal((await call('POST', '/auth/reset/password', reset)).status, 204);
    assert.equal((await login(email, 'new-secret')).status, 200);
  });
});
