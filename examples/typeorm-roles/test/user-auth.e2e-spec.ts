import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TESTER_EMAIL, TESTER_PASSWORD, call, linkTo, login, register } from './client.js';

describe('Auth user', () => {
  it('logs in a seeded user: /api/v1/auth/email/login (POST)', async () => {
    const { status, body } = await login(TESTER_EMAIL, TESTER_PASSWORD);
    assert.equal(status, 200);
    assert.ok(body.token && body.refreshToken);
    assert.ok(body.tokenExpires > Date.now());
    assert.equal(body.user.email, TESTER_EMAIL);
    assert.equal(body.user.role.name, 'User');
    assert.equal(typeof body.user.id, 'number');
    for (const secret of ['hash', 'password', 'passwordHash']) assert.equal(body.user[secret], undefined);
    assert.equal((await login(' John.Doe@Example.com', TESTER_PASSWORD)).status, 200);
  });

  it('refuses a wrong password: /api/v1/auth/email/login (POST)', async () => {
    const { status, body } = await login(TESTER_EMAIL, 'not the secret');
    assert.equal(status, 422);
    assert.ok(body.errors.email);
  });

  it('refuses an unknown email: /api/v1/auth/email/login (POST)', async () => {
    const { status, body } = await login('nobody@example.com', TESTER_PASSWORD);
    assert.equal(status, 422);
    assert.ok(body.errors.email);
  });

  it('does not register a user with an existing email or without a name: /api/v1/auth/email/register (POST)', async () => {
    const existing = { email: TESTER_EMAIL, password: 'a horse with wings' };
    const nameless = await call('POST', '/auth/email/register', existing);
    assert.equal(nameless.status, 422);
    assert.ok(nameless.body.errors.firstName && nameless.body.errors.lastName);
    const named = await call('POST', '/auth/email/register', { ...existing, firstName: 'Tester', lastName: 'E2E' });
    assert.equal(named.status, 422);
    assert.ok(named.body.errors.email);
  });

  it('registers a user, who logs in before and after the confirmation: /api/v1/auth/email/confirm (POST)', async () => {
    const { email, password } = await register();
    const before = await login(email, password);
    assert.equal(before.status, 200);
    assert.equal(before.body.user.status.name, 'Inactive');

    const hash = (await linkTo(email, '/confirm-email')).get('hash');
    assert.equal((await call('POST', '/auth/email/confirm', { hash: 'forged' })).status, 422);
    assert.equal((await call('POST', '/auth/email/confirm', { hash })).status, 204);
    assert.equal((await call('POST', '/auth/email/confirm', { hash })).status, 404);

    const after = await login(email, password);
    assert.equal(after.status, 200);
    assert.equal(after.body.user.status.name, 'Active');
  });

  it('shows the profile: /api/v1/auth/me (GET)', async () => {
    const { token } = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    const { status, body } = await call('GET', '/auth/me', undefined, token);
    assert.equal(status, 200);
    assert.equal(body.email, TESTER_EMAIL);
    assert.equal(body.provider, 'email');
    assert.equal(body.password, undefined);
  });

  it('refuses the profile without a token and with a refresh token: /api/v1/auth/me (GET)', async () => {
    const { refreshToken } = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    assert.equal((await call('GET', '/auth/me')).status, 401);
    assert.equal((await call('GET', '/auth/me', undefined, refreshToken)).status, 401);
  });

  it('refreshes the tokens: /api/v1/auth/refresh (POST)', async () => {
    const first = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    const { status, body } = await call('POST', '/auth/refresh', undefined, first.refreshToken);
    assert.equal(status, 200);
    assert.notEqual(body.refreshToken, first.refreshToken);
    assert.ok(body.tokenExpires > Date.now());
    assert.equal((await call('GET', '/auth/me', undefined, body.token)).status, 200);
    assert.equal((await call('POST', '/auth/refresh', undefined, body.refreshToken)).status, 200);
  });

  it('accepts a replaced refresh token for half a minute, and refuses an access token: /api/v1/auth/refresh (POST)', async () => {
    const { token, refreshToken } = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    assert.equal((await call('POST', '/auth/refresh', undefined, token)).status, 401);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 200);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 200);
  });

  it('ends the session: /api/v1/auth/logout (POST)', async () => {
    const { token, refreshToken } = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    assert.equal((await call('POST', '/auth/logout', undefined, token)).status, 204);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 401);
  });

  it('changes the name and the password, and ends the other sessions: /api/v1/auth/me (PATCH)', async () => {
    const { email, password } = await register();
    const other = (await login(email, password)).body;
    const { token, refreshToken } = (await login(email, password)).body;

    const missing = await call('PATCH', '/auth/me', { password: 'new-secret' }, token);
    assert.equal(missing.status, 422);
    assert.ok(missing.body.errors.oldPassword);
    const wrong = await call('PATCH', '/auth/me', { password: 'new-secret', oldPassword: 'wrong' }, token);
    assert.equal(wrong.status, 422);
    assert.ok(wrong.body.errors.oldPassword);
    const changes = { firstName: 'Changed', password: 'new-secret', oldPassword: password };
    const changed = await call('PATCH', '/auth/me', changes, token);
    assert.equal(changed.status, 200);
    assert.equal(changed.body.firstName, 'Changed');

    assert.equal((await login(email, password)).status, 422);
    assert.equal((await login(email, 'new-secret')).status, 200);
    assert.equal((await call('POST', '/auth/refresh', undefined, other.refreshToken)).status, 401);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 200);
  });

  it('changes the email after its confirmation: /api/v1/auth/email/confirm/new (POST)', async () => {
    const { email, password } = await register();
    const { token } = (await login(email, password)).body;
    assert.equal((await call('PATCH', '/auth/me', { email: TESTER_EMAIL, oldPassword: password }, token)).status, 422);

    const newEmail = `new.${email}`;
    assert.equal((await call('PATCH', '/auth/me', { email: newEmail, oldPassword: password }, token)).status, 200);
    assert.equal((await call('GET', '/auth/me', undefined, token)).body.email, email);

    const hash = (await linkTo(newEmail, '/confirm-new-email')).get('hash');
    assert.equal((await call('POST', '/auth/email/confirm/new', { hash })).status, 204);
    assert.equal((await call('GET', '/auth/me', undefined, token)).body.email, newEmail);
    assert.equal((await login(newEmail, password)).status, 200);
    assert.equal((await login(email, password)).status, 422);
  });

  it('resets a forgotten password, and ends all sessions: /api/v1/auth/reset/password (POST)', async () => {
    const { email, password } = await register();
    const { refreshToken } = (await login(email, password)).body;
    assert.equal((await call('POST', '/auth/forgot/password', { email })).status, 204);

    const link = await linkTo(email, '/password-change');
    assert.ok(Number(link.get('expires')) > Date.now());
    const reset = { hash: link.get('hash'), password: 'new-secret' };
    assert.equal((await call('POST', '/auth/reset/password', { ...reset, hash: 'forged' })).status, 422);
    assert.equal((await call('POST', '/auth/reset/password', reset)).status, 204);

    assert.equal((await login(email, password)).status, 422);
    assert.equal((await login(email, 'new-secret')).status, 200);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 401);
  });

  it('does not show whether an email has an account: /api/v1/auth/forgot/password (POST)', async () => {
    const { status } = await call('POST', '/auth/forgot/password', { email: 'nobody@example.com' });
    assert.equal(status, 204);
  });

  it('deletes the account: /api/v1/auth/me (DELETE)', async () => {
    const { email, password } = await register();
    const { token, refreshToken } = (await login(email, password)).body;
    assert.equal((await call('DELETE', '/auth/me', undefined, token)).status, 204);
    assert.equal((await login(email, password)).status, 422);
    assert.equal((await call('POST', '/auth/refresh', undefined, refreshToken)).status, 401);
  });
});
