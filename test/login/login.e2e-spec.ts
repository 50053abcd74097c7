import { Logger } from '@nestjs/common';
import type { Response } from 'supertest';
import { PasswordHasher } from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { member } from '../support/hosts/members';
import { ADA, Member, PASSWORD } from '../support/hosts/user-entities';
import { userProvidersOf } from '../support/stores/user-reads';

describe('POST /login', () => {
  const t = TestApp.forFile();

  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.database.query("INSERT INTO people (email) VALUES ('keyless@example.com')");
    await t.database.query("INSERT INTO people (email, password_hash) VALUES ('broken@example.com', 'no digest')");
  });

  it('answers 200 with a token pair and forbids caching', async () => {
    const { body, headers } = await t.login('ada@example.com').expect(200);
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^[\w-]{71}$/),
      token_type: 'Bearer',
      expires_in: 900,
    });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(headers['set-cookie']).toBeUndefined();
    await t.get('/private', body.access_token).expect(200);
  });

  it('normalizes the identifier, and uses the password unchanged', async () => {
    await t.login('  Ada@Example.COM ').expect(200);
    await t.login('ada@example.com', ` ${PASSWORD}`).expect(422);
    await t.login('ada@example.com', `${PASSWORD} `).expect(422);
  });

  it('answers an unknown user, a wrong password and absent credentials with the same bytes and headers', async () => {
    const attempts: object[] = [
      { email: 'ada@example.com', password: 'wrong' },
      { email: 'nobody@example.com', password: 'wrong' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: 'keyless@example.com', password: '' },
      { email: 'keyless@example.com', password: PASSWORD },
      { email: 'broken@example.com', password: PASSWORD },
      { email: 'a\0b@example.com', password: PASSWORD },
      { email: '\ud800', password: '\ud800' },
      { email: null, password: null },
      { email: '', password: '' },
      {},
      [],
      { __proto__: null, constructor: 'x', email: 'ada@example.com' },
    ];
    const answers: Response[] = [];
    for (const attempt of attempts) answers.push(await t.http.post('/auth/login').send(attempt));
    const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
      status,
      text,
      headers,
    });
    for (const answer of answers) expect(shape(answer)).toEqual(shape(answers[0]!));
    expect(answers[0]!.status).toBe(422);
    expect(answers[0]!.body).toEqual({
      message: 'These credentials do not match our records.',
      errors: { email: ['These credentials do not match our records.'] },
    });
  });

  it('costs one hash for known and unknown users', async () => {
    const hasher = t.app.get(PasswordHasher) as unknown as { library: { verify: () => Promise<boolean> } };
    const hashes = jest.spyOn(hasher.library, 'verify');
    for (const email of [
      'ada@example.com',
      'nobody@example.com',
      'keyless@example.com',
      'broken@example.com',
      'a\0b',
      '',
    ]) {
      hashes.mockClear();
      await t.login(email, 'wrong').expect(422);
      expect(hashes).toHaveBeenCalledTimes(1);
    }
  });

  it.each([
    ['a number', 7],
    ['a list', ['ada@example.com']],
    ['an object', { $gt: '' }],
    ['true', true],
    ['256 characters', 'x'.repeat(256)],
  ])('answers 422 with an error for the field to %s', async (_, value) => {
    for (const field of ['email', 'password']) {
      const { body } = await t.http
        .post('/auth/login')
        .send({ email: 'a', password: 'b', [field]: value })
        .expect(422);
      expect(Object.keys(body)).toEqual(['message', 'errors']);
      expect(Object.keys(body.errors)).toEqual([field]);
      expect(body.message).toBe(body.errors[field][0]);
    }
  });

  it('counts characters and not bytes', async () => {
    await t.login('ada@example.com', '🔑'.repeat(255)).expect(422, /These credentials/);
    await t.login('ada@example.com', '🔑'.repeat(256)).expect(422, /longer than 255/);
  });

  it('reports the number of errors', async () => {
    const { body } = await t.http.post('/auth/login').send({ email: 1, password: 2 }).expect(422);
    expect(body.message).toBe('The email field must be a string. (and 1 more error)');
    expect(Object.keys(body.errors)).toEqual(['email', 'password']);
  });

  it.each([
    ['broken JSON', 'application/json', '{"email":'],
    ['a JSON string', 'application/json', '"email"'],
    ['a text that is not JSON', 'text/plain', 'hello'],
    ['bad UTF-8', 'application/json', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])('answers %s with a 4xx in JSON', async (_, type, body) => {
    const { status, headers } = await t.http.post('/auth/login').set('Accept', 'text/html').type(type).send(body);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(headers['content-type']).toMatch(/application\/json/);
  });

  it('stores the address and the user agent of the session', async () => {
    const { body } = await t.http
      .post('/auth/login')
      .set('User-Agent', 'Lynx/2.9 '.padEnd(600, 'x'))
      .send({ email: 'ada@example.com', password: PASSWORD });
    const [row] = await t.database.query('SELECT * FROM svc_sessions WHERE id = $1', [claimsOf(body.access_token).fid]);
    expect(row).toMatchObject({ guard: 'api', user_id: '1', ip: '127.0.0.1', amr: ['pwd'], revoked_at: null });
    expect(row.user_agent).toHaveLength(512);
  });

  it('renews a hash with other parameters, and no other hash', async () => {
    const hashOf = async (): Promise<string> =>
      (await t.database.query("SELECT password_hash FROM people WHERE email = 'old@example.com'"))[0].password_hash;
    const id = await t.person('old@example.com');
    const current = await hashOf();
    await t.login('old@example.com').expect(200);
    expect(await hashOf()).toBe(current);

    const { hash } = await import('argon2');
    await t.database.query('UPDATE people SET password_hash = $2 WHERE id = $1', [
      id,
      await hash(PASSWORD, { memoryCost: 128, timeCost: 3, parallelism: 1 }),
    ]);
    await t.login('old@example.com', 'wrong').expect(422);
    expect(await hashOf()).toContain('m=128');
    await t.login('old@example.com').expect(200);
    expect(await hashOf()).toContain('m=64');
    await t.login('old@example.com').expect(200);
  });

  it('never exposes the hash, not even to the host', async () => {
    const { access_token: token } = await t.session();
    const { body } = await t.get('/private', token).expect(200);
    expect(body.user).toEqual({ id: 1, email: 'ada@example.com' });
  });
});

describe('a custom login of the host', () => {
  it('replaces the credentials check and gets the request and the guard', async () => {
    const calls: unknown[] = [];
    const t = await TestApp.start({
      options: {
        hooks: {
          authenticate: async (request, { guard }) => {
            const { body } = request as { body: { ticket?: string } };
            calls.push([body.ticket, guard]);
            return body.ticket === 'good' ? { id: 1 } : null;
          },
        },
      },
    });
    await t.person('ada@example.com');
    const { body } = await t.http.post('/auth/login').send({ ticket: 'good' }).expect(200);
    await t.get('/private', body.access_token).expect(200);
    await t.http.post('/auth/login').send({ ticket: 'bad' }).expect(422);
    // The other guard's table also has an id 1. A ticket of this guard must not sign in there.
    await t.person('root@example.com', 'admin');
    await t.http.post('/admin/auth/login').send({ ticket: 'good' }).expect(422);
    expect(calls).toEqual([
      ['good', 'api'],
      ['bad', 'api'],
    ]);
    await t.stop();
  });
});

describe('a user whose email is not verified', () => {
  describe('of a host that requires verification', () => {
    const t = TestApp.forFile({
      options: { users: { entity: Member }, emailVerification: { blockUnverifiedLogin: true } },
    });

    it('cannot sign in, and gets the reason only after the correct password', async () => {
      await member(t, ADA);
      const { body, headers } = await t.login(ADA).expect(403);
      expect(body).toEqual({ message: 'Please verify your email address before you sign in.' });
      expect(headers['set-cookie']).toBeUndefined();
      const wrong = await t.login(ADA, 'wrong').expect(422);
      const unknown = await t.login('nobody@example.com', 'wrong').expect(422);
      expect(wrong.body).toEqual(unknown.body);
      expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    });

    it('can sign in after the verification', async () => {
      await member(t, ADA);
      await t.login(ADA).expect(403);
      await t.database.query('UPDATE members SET email_verified_at = now()');
      await t.login(ADA).expect(200);
    });
  });

  it('cannot sign in if it is not known whether the email is verified', async () => {
    const t = await TestApp.start({
      options: { users: { entity: Member }, emailVerification: { blockUnverifiedLogin: true } },
    });
    await member(t, ADA, { emailVerifiedAt: new Date() });
    for (const users of userProvidersOf(t)) jest.spyOn(users, 'isEmailVerified').mockReturnValue(null);
    await t.login(ADA).expect(403);
    await t.stop();
  });

  it('can sign in at an extra guard whose users have no such state, which is logged at boot', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const t = await TestApp.start({
      options: { users: { entity: Member }, emailVerification: { blockUnverifiedLogin: true } },
    });
    expect(warned.mock.calls.flat()).toContainEqual(
      expect.stringMatching(
        /^guards\.admin\.emailVerification\.blockUnverifiedLogin is on, .* It has no effect there\.$/,
      ),
    );
    warned.mockRestore();
    await t.person('root@example.com', 'admin');
    await t.http.post('/admin/auth/login').send({ email: 'root@example.com', password: PASSWORD }).expect(200);
    await t.stop();
  });

  it('can sign in if the option is off', async () => {
    const options = { users: { entity: Member }, emailVerification: { blockUnverifiedLogin: false } };
    const t = await TestApp.start({ options });
    await member(t, ADA);
    await t.login(ADA).expect(200);
    await t.stop();
  });
});
