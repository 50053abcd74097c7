import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ADMIN_EMAIL, ADMIN_PASSWORD, TESTER_EMAIL, TESTER_PASSWORD, call, login, register } from './client.js';

describe('Users', () => {
  let admin: string;

  before(async () => {
    admin = (await login(ADMIN_EMAIL, ADMIN_PASSWORD)).body.token;
  });

  it('refuses a user who is no admin, and a guest: /api/v1/users (GET)', async () => {
    const { token } = (await login(TESTER_EMAIL, TESTER_PASSWORD)).body;
    assert.equal((await call('GET', '/users', undefined, token)).status, 403);
    assert.equal((await call('GET', '/users')).status, 401);
  });

  it('lists the users for an admin: /api/v1/users (GET)', async () => {
    const { status, body } = await call('GET', '/users?limit=2', undefined, admin);
    assert.equal(status, 200);
    assert.equal(body.data.length, 2);
    assert.equal(body.data[0].provider, 'email');
    assert.equal(body.data[0].email, ADMIN_EMAIL);
    for (const secret of ['hash', 'password', 'passwordHash']) assert.equal(body.data[0][secret], undefined);
  });

  it('changes the email and the password of a user: /api/v1/users/:id (PATCH)', async () => {
    const { email, password } = await register();
    const { user } = (await login(email, password)).body;
    const changes = { email: `changed.${email}`, password: 'new-secret' };
    assert.equal((await call('PATCH', `/users/${user.id}`, changes, admin)).status, 200);
    assert.equal((await login(changes.email, changes.password)).status, 200);
    assert.equal((await login(email, password)).status, 422);
  });

  it('creates an admin, who logs in and is let in: /api/v1/users (POST)', async () => {
    const invalid = await call('POST', '/users', { email: 'fail-data' }, admin);
    assert.equal(invalid.status, 422);
    assert.ok(invalid.body.errors.email);
    const person = { email: `created.${Date.now()}@example.com`, password: 'a horse with wings' };
    const user = { ...person, firstName: 'By', lastName: 'Admin', role: { id: 1 }, status: { id: 1 } };
    const created = await call('POST', '/users', user, admin);
    assert.equal(created.status, 201);
    const { token } = (await login(person.email, person.password)).body;
    const found = await call('GET', `/users/${created.body.id}`, undefined, token);
    assert.equal(found.status, 200);
    assert.equal(found.body.role.name, 'Admin');
  });

  it('deletes a user: /api/v1/users/:id (DELETE)', async () => {
    const { email, password } = await register();
    const { user } = (await login(email, password)).body;
    assert.equal((await call('DELETE', `/users/${user.id}`, undefined, admin)).status, 204);
    assert.equal((await login(email, password)).status, 422);
  });
});
