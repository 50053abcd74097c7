import { AccountReleased, PasswordHasher } from '@svc/auth';
import { randomUUID } from 'node:crypto';
import { type TestApp, claimsOf } from '../support/app';
import { ADA, confirm, startConfirming } from '../support/confirming';
import { forge } from '../support/forge';
import { API_AUDIENCE } from '../support/host.module';
import { PASSWORD } from '../support/people';

describe('POST /confirm-password', () => {
  let t: TestApp;
  let token: string;

  beforeAll(async () => {
    t = await startConfirming({ features: { lockout: true }, lockout: { maxAttempts: 3, releaseAfter: 60 } });
  });
  beforeEach(async () => {
    await t.database.query('TRUNCATE svc_lockouts');
    token = (await t.session()).access_token;
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => t.stop());

  it('answers the right password with a proof for this session, that nothing may cache', async () => {
    const { body, headers } = await confirm(t, token).expect(200);
    expect(body).toEqual({ confirmation_token: expect.any(String) });
    expect(headers['cache-control']).toBe('no-store, private');
    const now = Math.floor(Date.now() / 1000);
    const claims = claimsOf(body.confirmation_token);
    expect(claims).toEqual({
      iss: 'https://api.example.com',
      aud: [API_AUDIENCE],
      sub: '1',
      gid: 'api',
      fid: claimsOf(token).fid,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      nbf: claims.iat,
      exp: (claims.iat as number) + 300,
    });
    expect(Math.abs((claims.iat as number) - now)).toBeLessThan(5);
    const header = JSON.parse(Buffer.from(body.confirmation_token.split('.')[0], 'base64url').toString());
    expect(header).toEqual({ typ: 'reauth+challenge', alg: 'HS256' });
  });

  it('leaves the session out of the proof where the bearer names none', async () => {
    const { body } = await confirm(t, forge({ without: ['fid', 'jti'] })).expect(200);
    expect(claimsOf(body.confirmation_token)).not.toHaveProperty('fid');
  });

  it('answers a wrong password with 422, counts it, and locks step-up alone', async () => {
    for (const password of ['wrong', ` ${PASSWORD}`, PASSWORD.toUpperCase()]) {
      const { body } = await confirm(t, token, { password }).expect(422);
      const text = 'The password is not correct.';
      expect(body).toEqual({ message: text, errors: { password: [text] } });
    }
    const verify = jest.spyOn(t.app.get(PasswordHasher), 'verify');
    const { body } = await confirm(t, token).expect(423);
    expect(Object.keys(body.errors)).toEqual(['password']);
    expect(body.message).toMatch(/locked. Please try again in (59|60) seconds/);
    expect(verify).not.toHaveBeenCalled();
    const rows = await t.database.query('SELECT purpose, subject, guard FROM svc_lockouts');
    expect(rows).toEqual([{ purpose: 'confirm', subject: '1', guard: 'api' }]);
    // The lock is the account's, whatever the session; and a login, which proves the same, releases it.
    const other = (await t.session()).access_token;
    await confirm(t, other).expect(200);
  });

  it('releases its own counter with a success, and no login`s', async () => {
    const released = t.recorded(AccountReleased);
    await t.login(ADA, 'wrong').expect(422);
    await confirm(t, token, { password: 'wrong' }).expect(422);
    await confirm(t, token).expect(200);
    expect(released).toEqual([{ purpose: 'confirm', subject: '1', guard: 'api' }]);
    expect(await t.database.query('SELECT purpose FROM svc_lockouts')).toEqual([{ purpose: 'login' }]);
  });

  it.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['an empty one', ''],
    ['a list', [PASSWORD]],
    ['an object', { $ne: '' }],
    ['a number', 7],
    ['256 characters', 'x'.repeat(256)],
  ])('answers %s with 422 without counting it', async (_, password) => {
    const { body } = await confirm(t, token, { password }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['password']);
    expect(await t.database.query('SELECT 1 FROM svc_lockouts')).toEqual([]);
  });

  it('needs a token', async () => {
    await t.http.post('/auth/confirm-password').send({ password: PASSWORD }).expect(401);
    await confirm(t, forge({ claims: { sub: '999' } })).expect(401);
  });

  it('refuses a user without a password like a wrong one', async () => {
    const [{ id }] = await t.database.query("INSERT INTO people (email) VALUES ('keyless@example.com') RETURNING id");
    const { accessToken } = await t.auth.startSession(id);
    await confirm(t, accessToken, { password: 'x' }).expect(422);
  });
});

describe('the limit on step-up', () => {
  it('counts every attempt, by client and by user, for each guard by itself', async () => {
    const run = randomUUID();
    let client = 0;
    const t = await startConfirming({
      keyPrefix: `${run}:`,
      rateLimits: {},
      hooks: { rateLimitKey: () => `${client++}` },
    });
    const { accessToken: one } = await t.auth.startSession(1);
    const { accessToken: two } = await t.auth.startSession(1);
    for (let i = 0; i < 5; i++) {
      await confirm(t, i % 2 ? one : two, { password: i % 2 ? PASSWORD : 'wrong' }).expect(i % 2 ? 200 : 422);
    }
    const { headers, body } = await confirm(t, one).expect(429);
    expect(headers['x-ratelimit-limit']).toBe('5');
    expect(body).toEqual({ message: expect.stringMatching(/Too many attempts/) });
    await confirm(t, (await t.auth.startSession(2)).accessToken).expect(200);
    await confirm(t, (await t.auth.guard('admin').startSession(1)).accessToken, undefined, 'admin').expect(200);
    await t.stop();
  });
});
