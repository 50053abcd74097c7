import { SoftAuthenticator } from '@svc/auth/testing';
import { TestApp, claimsOf } from '../support/hosts/app';
import { mailedCode, sendCode } from '../support/flows/email-code';
import { member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA, codeOf, completeChallenge, enrol, enrolledForFile } from '../support/flows/two-factor';
import { PASSWORD } from '../support/hosts/user-entities';

const DAY = 86_400;
const MONTH = 30 * DAY;

type Answer = { status: number; headers: Record<string, unknown>; body: Record<string, unknown> };

const cookieOf = ({ headers }: Answer): string => (headers['set-cookie'] as string[])[0]!;
/** The seconds for which a browser keeps the refresh cookie; null: until it closes. */
const keptFor = (answer: Answer): number | null => {
  expect(cookieOf(answer)).not.toContain('Expires');
  const [, age] = /; Max-Age=(\d+)/.exec(cookieOf(answer)) ?? [];
  return age === undefined ? null : Number(age);
};
/** The seconds from the start of a session to its deadline, as stored. */
const ttlOf = async (t: TestApp, accessToken: unknown): Promise<number> => {
  const [row] = await t.database.query(
    'SELECT extract(epoch FROM expires_at - created_at)::float8 AS ttl FROM svc_sessions WHERE id = $1',
    [claimsOf(String(accessToken)).fid],
  );
  return row.ttl;
};

const REMEMBER = { sessions: { ttlWithoutRemember: DAY } };

describe('a login', () => {
  const t = TestApp.forFile({
    options: { ...REMEMBER, cookieMode: true, guards: { admin: { cookieMode: false, refreshTtl: 3600 } } },
  });
  beforeEach(async () => {
    await t.person('ada@example.com');
    await t.person('root@example.com', 'admin');
  });
  const login = (remember?: unknown, guard = 'api') =>
    t.http
      .post(`${t.paths[guard]}/login`)
      .send({ email: guard === 'api' ? 'ada@example.com' : 'root@example.com', password: PASSWORD, remember });
  const refresh = (answer: Answer) => t.http.post('/auth/refresh').set('Cookie', cookieOf(answer).split(';')[0]!);

  it('without remember has the shorter deadline, and a cookie that ends with the browser, also after each refresh', async () => {
    let answer: Answer = await login(false).expect(200);
    expect(await ttlOf(t, answer.body.access_token)).toBe(DAY);
    for (let i = 0; i < 3; i++) {
      expect(keptFor(answer)).toBeNull();
      expect(cookieOf(answer).split('; ').slice(1).toSorted()).toEqual([
        'HttpOnly',
        'Path=/',
        'SameSite=Strict',
        'Secure',
      ]);
      t.clock.advance(1000);
      answer = await refresh(answer).expect(200);
    }
    t.clock.advance(DAY - 3000 + 10);
    await refresh(answer).expect(401);
  });

  it.each([[true], [undefined], [null], ['on']])(
    'with remember %j has the deadline of the guard and a cookie that ends with it',
    async (remember) => {
      const answer = await login(remember).expect(200);
      expect([await ttlOf(t, answer.body.access_token), keptFor(answer)]).toEqual([MONTH, MONTH]);
      t.clock.advance(2 * DAY);
      expect(keptFor(await refresh(answer).expect(200))).toBeGreaterThan(MONTH - 2 * DAY - 10);
    },
  );

  it('reads the field of a form', async () => {
    const form = `email=ada%40example.com&password=${PASSWORD}&remember=false`;
    expect(keptFor(await t.http.post('/auth/login').type('form').send(form).expect(200))).toBeNull();
  });

  it.each([['maybe'], [0], [[]], [{ remember: true }]])(
    'with remember %j is refused before the password is checked',
    async (remember) => {
      const { body } = await login(remember).expect(422);
      expect(body).toEqual({
        message: 'The remember field is invalid.',
        errors: { remember: ['The remember field is invalid.'] },
      });
      const [{ n }] = await t.database.query('SELECT count(*)::int AS n FROM svc_sessions');
      expect(n).toBe(0);
    },
  );

  it('without remember never lives longer than the sessions of its guard', async () => {
    const { body } = await login(false, 'admin').expect(200);
    expect(await ttlOf(t, body.access_token)).toBe(3600);
  });

  it('in code of the host takes the same choice', async () => {
    const source = { ip: '192.0.2.1' };
    const credentials = { identifier: 'ada@example.com', password: PASSWORD };
    const short = await t.auth.login.attempt({ ...credentials, remember: false }, source);
    expect(short).toMatchObject({ remembered: false, refreshExpiresIn: DAY });
    const { refreshToken } = short as { refreshToken: string };
    expect(await t.auth.sessions.refresh(refreshToken, source)).toMatchObject({ remembered: false });
    expect(await t.auth.login.attempt(credentials, source)).toMatchObject({
      remembered: true,
      refreshExpiresIn: MONTH,
    });
    expect(await t.auth.startSession(1, { remember: false, ttl: 1000 })).toMatchObject({
      remembered: false,
      refreshExpiresIn: 1000,
    });
    await expect(t.auth.startSession(1, { remember: 'false' as never })).rejects.toThrow(/must be a boolean/);
  });
});

describe('without the option', () => {
  const t = TestApp.forFile({ options: { cookieMode: true } });

  it.each([[false], ['maybe'], [{}]])('the field remember has no effect: %j', async (remember) => {
    await t.person('ada@example.com');
    const login = t.http.post('/auth/login').send({ email: 'ada@example.com', password: PASSWORD, remember });
    expect(keptFor(await login.expect(200))).toBe(MONTH);
  });
});

describe('a login with a second factor', () => {
  const { t, ada } = enrolledForFile({ ...REMEMBER, cookieMode: true });

  it.each([
    [false, DAY, null],
    [true, MONTH, MONTH],
  ])('keeps remember: %j of its first step', async (remember, ttl, kept) => {
    const { body } = await t.http.post('/auth/login').send({ email: ADA, password: PASSWORD, remember }).expect(200);
    const answer = await completeChallenge(t, {
      challenge_token: body.challenge_token,
      code: codeOf(t, ada.secret),
      // Not a field of this step: it cannot change the first one.
      remember: !remember,
    }).expect(200);
    expect([await ttlOf(t, answer.body.access_token), keptFor(answer)]).toEqual([ttl, kept]);
  });
});

describe('a login with a passkey', () => {
  const app = PasskeyApp.forFile(REMEMBER);

  it('takes remember, and refuses an invalid value before the ceremony is used', async () => {
    const { t } = app;
    const device = new SoftAuthenticator(ORIGIN);
    await app.enrol(await app.confirmed(ADA), device);
    const ceremony = (await t.http.post('/auth/passkeys/login-options').expect(200)).body;
    const login = (remember: unknown) =>
      t.http
        .post('/auth/passkeys/login')
        .send({ ceremony_id: ceremony.ceremony_id, credential: device.get(ceremony.options), remember });
    await login('maybe').expect(422);
    const { body } = await login(false).expect(200);
    expect(await ttlOf(t, body.access_token)).toBe(DAY);
    const started = await t.auth.passkeys.loginOptions({ ip: '192.0.2.1' });
    const answer = {
      ceremonyId: started.ceremonyId,
      credential: device.get(started.options as never),
      remember: false,
    };
    expect(await t.auth.passkeys.login(answer, { ip: '192.0.2.1' })).toMatchObject({ remembered: false });
    expect(PASSKEYS.passkeys?.rpId).toBe('example.com');
  });
});

describe('a login with a mailed code', () => {
  const { t, mailbox } = membersForFile({ ...REMEMBER, features: { emailCode: true, twoFactor: true } });
  beforeEach(() => member(t, ADA, { emailVerifiedAt: new Date() }));

  it('takes remember, and refuses an invalid value before the code is used', async () => {
    const mailed = await mailedCode(t, mailbox);
    const { body: refused } = await sendCode(t, { ...mailed, remember: 'maybe' }).expect(422);
    expect(refused.errors).toEqual({ remember: ['The remember field is invalid.'] });
    const { body } = await sendCode(t, { ...mailed, remember: false }).expect(200);
    expect(await ttlOf(t, body.access_token)).toBe(DAY);
    const { body: usual } = await sendCode(t, await mailedCode(t, mailbox)).expect(200);
    expect(await ttlOf(t, usual.access_token)).toBe(MONTH);
    const { code, code_token: codeToken } = await mailedCode(t, mailbox);
    expect(await t.auth.emailCode.verify({ codeToken, code, remember: false }, {})).toMatchObject({
      remembered: false,
    });
  });

  it.each([
    [false, DAY],
    [true, MONTH],
  ])('keeps remember: %j and the method of the first step after a second factor', async (remember, ttl) => {
    const { secret } = await enrol(t);
    const { body } = await sendCode(t, { ...(await mailedCode(t, mailbox)), remember }).expect(200);
    const { challenge_token } = body;
    const answer = await completeChallenge(t, { challenge_token, code: codeOf(t, secret), remember: !remember });
    expect(await ttlOf(t, answer.body.access_token)).toBe(ttl);
    expect(claimsOf(answer.body.access_token)).toMatchObject({ amr: ['email', 'otp'] });
  });
});

describe('a registration', () => {
  const { t } = membersForFile(REMEMBER);
  const register = (email: string, remember: unknown) =>
    t.http.post('/auth/register').send({
      name: 'Ada',
      email,
      password: 'long-enough-and-rare',
      password_confirmation: 'long-enough-and-rare',
      remember,
    });

  it('takes remember, and refuses an invalid value before the account exists', async () => {
    await register(ADA, 'maybe').expect(422);
    const { body } = await register(ADA, false).expect(200);
    expect(await ttlOf(t, body.access_token)).toBe(DAY);
    const { body: usual } = await register('bob@example.com', undefined).expect(200);
    expect(await ttlOf(t, usual.access_token)).toBe(MONTH);
    expect(await member(t, 'eve@example.com')).toBeDefined();
  });
});
