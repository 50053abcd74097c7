import { AccountReleased, PasswordChanged, PasswordHasher } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { TestApp } from '../support/app';
import { ADA, confirm } from '../support/confirming';
import { forge } from '../support/forge';
import { PASSWORD, Person } from '../support/people';

const NEXT = 'another horse entirely';

describe('POST /password', () => {
  let t: TestApp;
  let token: string;

  beforeAll(async () => {
    t = await TestApp.start({ options: { features: { lockout: true }, lockout: { maxAttempts: 3 } } });
    await t.person(ADA);
    await t.person('bob@example.com');
  });
  beforeEach(async () => {
    await t.database.query('TRUNCATE svc_lockouts');
    const passwordHash = await t.app.get(PasswordHasher).hash(PASSWORD);
    await t.database.getRepository(Person).update({ id: 1 }, { passwordHash });
    token = (await t.session()).access_token;
    await t.database.query('TRUNCATE svc_lockouts');
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => t.stop());

  const change = (body: object, as = token) => t.call('post', '/auth/password', as).send(body);
  const wanted = (password: unknown = NEXT, current: unknown = PASSWORD, confirmation: unknown = password) => ({
    current_password: current,
    password,
    password_confirmation: confirmation,
  });
  const counters = () => t.database.query('SELECT purpose, attempts FROM svc_lockouts ORDER BY purpose');

  it('replaces the password, answers so, and lets nothing cache the answer', async () => {
    const { body, headers } = await change(wanted()).expect(200);
    expect(body).toEqual({ status: 'password-changed' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  it('ends every other session of the user at once, and nobody else`s; the calling one goes on', async () => {
    const other = await t.session();
    const bob = await t.session('bob@example.com');
    await change(wanted()).expect(200);
    await t.get('/private', other.access_token).expect(401);
    await t.refresh(other.refresh_token).expect(401);
    await t.get('/private', bob.access_token).expect(200);
    await t.get('/private', token).expect(200);
  });

  it('ends all of them where the token names no session', async () => {
    const other = await t.session();
    await change(wanted(), forge({ without: ['fid', 'jti'] })).expect(200);
    for (const one of [token, other.access_token]) await t.get('/private', one).expect(401);
  });

  it('releases the locks of step-up and of the login, and tells who changed', async () => {
    const released = t.recorded(AccountReleased);
    const changed = t.recorded(PasswordChanged);
    await t.login(ADA, 'wrong').expect(422);
    await confirm(t, token, { password: 'wrong' }).expect(422);
    await change(wanted()).expect(200);
    expect(released.map(({ purpose, subject }) => `${purpose} ${subject}`).toSorted()).toEqual([
      'confirm 1',
      'login id:1',
    ]);
    expect(changed).toEqual([{ user: expect.objectContaining({ id: 1, email: ADA }) }]);
    expect(JSON.stringify(changed)).not.toContain('argon2');
  });

  it('counts a wrong current password together with step-up, and locks', async () => {
    for (let i = 0; i < 2; i++) {
      const { body } = await change(wanted(NEXT, 'wrong')).expect(422);
      expect(body).toEqual({
        message: 'The password is not correct.',
        errors: { current_password: ['The password is not correct.'] },
      });
    }
    await confirm(t, token, { password: 'wrong' }).expect(422);
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { body } = await change(wanted()).expect(423);
    expect(Object.keys(body.errors)).toEqual(['current_password']);
    expect(verify).not.toHaveBeenCalled();
    expect(await counters()).toEqual([{ purpose: 'confirm', attempts: 3 }]);
  });

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['password', 'current_password']],
    ['no current password', wanted(NEXT, null), ['current_password']],
    ['an empty current password', wanted(NEXT, ''), ['current_password']],
    ['a list as the current password', wanted(NEXT, [PASSWORD]), ['current_password']],
    ['a current password of 256 characters', wanted(NEXT, 'x'.repeat(256)), ['current_password']],
    ['no new password', wanted(null), ['password']],
    ['an object as the new password', wanted({}, PASSWORD, NEXT), ['password']],
    ['a new password of 256 characters', wanted('x'.repeat(256)), ['password', 'password_confirmation']],
    ['a number as the confirmation', wanted(NEXT, PASSWORD, 7), ['password_confirmation']],
    ['no confirmation', wanted(NEXT, PASSWORD, null), ['password']],
    ['another confirmation', wanted(NEXT, PASSWORD, `${NEXT} `), ['password']],
    ['the same password again', wanted(PASSWORD), ['password']],
    ['seven characters', wanted('seven77'), ['password']],
    ['a NUL', wanted(`${NEXT}\0`), ['password']],
    ['a common password', wanted('password1'), ['password']],
    ['the own email', wanted(ADA), ['password']],
    ['the name of the service', wanted('api.example.com'), ['password']],
  ])('refuses %s by field, and counts nothing', async (_, body, fields) => {
    const { body: answer } = await change(body).expect(422);
    expect(Object.keys(answer.errors).toSorted()).toEqual(fields.toSorted());
    expect(answer.message).toMatch(/^\S.*\S/);
    expect(await counters()).toEqual([]);
  });

  it.each([
    ['a space at the end', `${NEXT} `],
    ['64 characters', 'abcdefgh '.repeat(8).slice(0, 63) + '!'],
    ['emoji', '🐎🔋📎✏️🐎🔋📎✏️'],
    ['73 bytes', `${'x'.repeat(72)}y`],
    ['255 characters', '🔑'.repeat(255)],
  ])('accepts %s, to the last character', async (_, password) => {
    await change(wanted(password)).expect(200);
    await t.login(ADA, password).expect(200);
    for (const near of [password.trim(), password.slice(0, -1), `${password.slice(0, -1)}z`]) {
      if (near !== password) await t.login(ADA, near).expect(422);
      await t.database.query('TRUNCATE svc_lockouts');
    }
  });

  it('needs a token, and at an extra guard there is no such route', async () => {
    await t.http.post('/auth/password').send(wanted()).expect(401);
    await t.http.post('/admin/auth/password').send(wanted()).expect(404);
  });

  it('is gone with features.changePassword off', async () => {
    const off = await TestApp.start({ options: { features: { changePassword: false } } });
    await off.http.post('/auth/password').send(wanted()).expect(404);
    await off.stop();
  });

  it('shares its limit with step-up', async () => {
    const app = await TestApp.start({ options: { keyPrefix: `${randomUUID()}:`, rateLimits: {} } });
    await app.person(ADA);
    const { access_token: own } = await app.session();
    for (let i = 0; i < 5; i++) {
      const call = i % 2 ? app.call('post', '/auth/password', own).send(wanted(NEXT, 'wrong')) : confirm(app, own);
      await call.expect(i % 2 ? 422 : 200);
    }
    const { body } = await app.call('post', '/auth/password', own).send(wanted()).expect(429);
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await app.stop();
  });
});
