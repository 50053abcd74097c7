import {
  type AuthModuleOptions,
  MailFailed,
  Presenter,
  SecurityStore,
  SessionStarted,
  type TokenBody,
} from '@svc/auth';
import { TestApp, claimsOf } from '../support/hosts/app';
import { REFUSED, codeIn, mailedCode, otherCode, requestCode, sendCode } from '../support/flows/email-code';
import { RESET_URL, linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { codeOf, completeChallenge, enrol } from '../support/flows/two-factor';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const verified = { emailVerifiedAt: new Date() };
const NEXT = 'another horse entirely';

describe('a sign-in with a mailed code', () => {
  // A long time-out, so that no concurrent request is answered 503 on a busy machine.
  const { t, mailbox } = membersForFile({ features: { emailCode: true }, storeTimeoutMs: 20_000 });
  beforeEach(() => member(t, ADA, verified));

  it('is answered with the tokens of a session, and the method is email', async () => {
    const started = t.recorded(SessionStarted);
    const { body, headers } = await requestCode(t).expect(202);
    expect(body).toEqual({ code_token: expect.stringMatching(/^[0-9a-f]{64}$/), expires_in: 600 });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(headers['set-cookie']).toBeUndefined();
    const mail = await mailbox.to(ADA);
    const code = codeIn(mail);
    expect(code).toMatch(/^\d{8}$/);
    expect(mail.subject).not.toContain(code);
    expect(mail.text).not.toContain('http');
    const answer = await sendCode(t, { code_token: body.code_token, code }).expect(200);
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^[\w-]{71}$/),
      token_type: 'Bearer',
      expires_in: 900,
    });
    expect(claimsOf(answer.body.access_token)).toMatchObject({ amr: ['email'] });
    await t.get('/private', answer.body.access_token).expect(200);
    await t.refresh(answer.body.refresh_token).expect(200);
    expect(started).toEqual([expect.objectContaining({ amr: ['email'] })]);
  });

  it('is possible without a password, and in any spelling of the address', async () => {
    await t.database.query('UPDATE members SET password_hash = NULL');
    await sendCode(t, await mailedCode(t, mailbox, ' Ada@Example.COM ')).expect(200);
  });

  it('stores neither the code, nor the token, nor the address', async () => {
    const store = t.app.get(SecurityStore);
    const written = jest.spyOn(store, 'setMany');
    const { code, code_token } = await mailedCode(t, mailbox);
    const stored = JSON.stringify(written.mock.calls);
    expect(written.mock.calls.length).toBeGreaterThan(1);
    for (const secret of [code, code_token, ADA]) expect(stored).not.toContain(secret);
  });

  describe('is refused with one body', () => {
    const refused = async (body: object): Promise<void> => {
      const answer = await sendCode(t, body).expect(422);
      expect(answer.body).toEqual(REFUSED);
    };

    it.each<[string, (mailed: { code: string; code_token: string }) => object]>([
      ['for a wrong code', ({ code, code_token }) => ({ code_token, code: otherCode(code) })],
      ['without a code', ({ code_token }) => ({ code_token })],
      ['without a token', ({ code }) => ({ code })],
      ['for an unknown token', ({ code }) => ({ code, code_token: 'f'.repeat(64) })],
      ['for a token that is no token', ({ code }) => ({ code, code_token: '\0' })],
      ['for a code that is no number', ({ code_token }) => ({ code_token, code: '\ud800' })],
    ])('%s, and the code stays valid', async (_, body) => {
      const mailed = await mailedCode(t, mailbox);
      await refused(body(mailed));
      await sendCode(t, mailed).expect(200);
    });

    it('for the code of another browser', async () => {
      const [mine, another] = [await mailedCode(t, mailbox), await mailedCode(t, mailbox)];
      await refused({ code_token: mine.code_token, code: another.code });
      await sendCode(t, mine).expect(200);
      await sendCode(t, another).expect(200);
    });

    it('for a code that was used', async () => {
      const mailed = await mailedCode(t, mailbox);
      await sendCode(t, mailed).expect(200);
      await refused(mailed);
    });

    it('for a code that has expired', async () => {
      const mailed = await mailedCode(t, mailbox);
      t.clock.advance(600 + 6);
      await refused(mailed);
    });

    it('for the correct code after five guesses', async () => {
      const mailed = await mailedCode(t, mailbox);
      for (let i = 0; i < 5; i++) await refused({ ...mailed, code: otherCode(mailed.code) });
      await refused(mailed);
      await sendCode(t, await mailedCode(t, mailbox)).expect(200);
    });

    it('for a user who was deleted', async () => {
      const mailed = await mailedCode(t, mailbox);
      await t.database.query('DELETE FROM members');
      await refused(mailed);
    });

    it('for a code that was mailed to a former address', async () => {
      const mailed = await mailedCode(t, mailbox);
      await t.database.query("UPDATE members SET email = 'ada@new.example'");
      await refused(mailed);
    });

    it.each<[string, (own: { token: string; proof: string }) => Promise<unknown>]>([
      [
        'the password changed',
        async ({ token }) =>
          t
            .call('post', '/auth/password', token)
            .send({ current_password: PASSWORD, password: NEXT, password_confirmation: NEXT })
            .expect(200),
      ],
      ['code of the host changed the password', async () => t.database.query("UPDATE members SET password_hash = 'x'")],
      ['all sessions ended', async ({ token }) => t.call('delete', '/auth/sessions', token).expect(204)],
      [
        'the account was deleted',
        async ({ token, proof }) =>
          t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof).expect(204),
      ],
    ])('after %s', async (_, meanwhile) => {
      const { access_token: token } = await t.session(ADA);
      const own = { token, proof: await confirmationTokenOf(t, token) };
      const mailed = await mailedCode(t, mailbox);
      await meanwhile(own);
      await refused(mailed);
    });
  });

  it('starts one session with one code, for any number of concurrent requests', async () => {
    const mailed = await mailedCode(t, mailbox);
    const answers = await Promise.all(Array.from({ length: 5 }, () => sendCode(t, mailed)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422, 422, 422, 422]);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toHaveLength(1);
  });

  it('compares five of many concurrent guesses', async () => {
    const mailed = await mailedCode(t, mailbox);
    const guesses = Array.from({ length: 20 }, () => sendCode(t, { ...mailed, code: otherCode(mailed.code) }));
    for (const { status } of await Promise.all(guesses)) expect(status).toBe(422);
    await sendCode(t, mailed).expect(422);
  });

  it('is not asked for by a text that is no address', async () => {
    for (const email of [null, 7, '', 'ada', ['ada@example.com']])
      expect((await requestCode(t, email).expect(422)).body.errors).toHaveProperty('email');
  });

  it('is asked for with the same answer when the mail server fails', async () => {
    const failed = t.recorded(MailFailed);
    mailbox.deliver = async () => {
      throw new Error('no mail server');
    };
    await requestCode(t).expect(202);
    while (failed.length === 0) await t.calm();
    expect(failed).toEqual([expect.objectContaining({ kind: 'signInCode', guard: 'api' })]);
  });

  it('does not exist where the feature is off', async () => {
    const off = await startMembers();
    await requestCode(off.t).expect(404);
    await sendCode(off.t, {}).expect(404);
    await expect(off.t.auth.emailCode.request(ADA, {})).rejects.toMatchObject({
      cause: { message: expect.stringContaining('does not have features.emailCode') },
    });
    await off.t.stop();
  });

  it('has the same result as server calls', async () => {
    const client = { ip: '203.0.113.7' };
    const { codeToken, expiresIn } = await t.auth.emailCode.request(ADA, client);
    expect(expiresIn).toBe(600);
    const code = codeIn(await mailbox.nth(1));
    await expect(t.auth.emailCode.verify({ codeToken, code: otherCode(code) }, client)).rejects.toMatchObject({
      code: 'wrong_email_code',
    });
    const tokens = await t.auth.emailCode.verify({ codeToken, code }, client);
    expect(claimsOf((tokens as { accessToken: string }).accessToken)).toMatchObject({ amr: ['email'] });
  });
});

describe('a code while it is used', () => {
  const checkpoint = PausePoint.disabled();
  const { t, mailbox } = membersForFile({
    features: { emailCode: true },
    hooks: { tokenClaims: async () => checkpoint.pass().then(() => ({})) },
  });
  beforeEach(() => member(t, ADA, verified));
  const living = async (): Promise<number> =>
    (await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).length;

  it.each<[string, () => Promise<unknown>]>([
    ['the password is replaced', () => t.database.query("UPDATE members SET password_hash = 'x'")],
    ['all sessions are ended', async () => t.auth.revokeAll((await t.database.query('SELECT id FROM members'))[0].id)],
    ['the account is deleted', () => t.database.query('DELETE FROM members')],
  ])('starts no session if %s at the same time', async (_, meanwhile) => {
    const mailed = await mailedCode(t, mailbox);
    const { status, body } = await whilePaused(checkpoint, sendCode(t, mailed), meanwhile);
    expect([status, body]).toEqual([422, REFUSED]);
    expect(await living()).toBe(0);
  });
});

describe('a sign-in with a mailed code and a second factor', () => {
  const { t, mailbox } = membersForFile({ features: { emailCode: true, twoFactor: true } });
  beforeEach(() => member(t, ADA, verified));

  it('is answered with a challenge, and the session has both methods', async () => {
    const { secret } = await enrol(t);
    const before = (await t.database.query('SELECT 1 FROM svc_sessions')).length;
    const { body } = await sendCode(t, await mailedCode(t, mailbox)).expect(200);
    expect(body).toEqual({
      two_factor: true,
      challenge_token: expect.any(String),
      methods: ['totp', 'recovery_code'],
    });
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toHaveLength(before);
    const { challenge_token } = body;
    const completed = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    expect(claimsOf(completed.body.access_token)).toMatchObject({ amr: ['email', 'otp'] });
  });

  it('leaves the methods of a sign-in with the password unchanged', async () => {
    const { secret } = await enrol(t);
    const { body } = await t.login(ADA).expect(200);
    const { challenge_token } = body;
    const completed = await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    expect(claimsOf(completed.body.access_token)).toMatchObject({ amr: ['pwd', 'otp'] });
  });
});

describe('a sign-in with a mailed code in cookie mode', () => {
  const { t, mailbox } = membersForFile({ features: { emailCode: true }, cookieMode: true });
  beforeEach(() => member(t, ADA, verified));
  const cookiesOf = (headers: Record<string, unknown>): string[] =>
    (headers['set-cookie'] as string[] | undefined) ?? [];
  const request = async (): Promise<{ cookie: string; code: string; attributes: string[] }> => {
    const { body, headers } = await requestCode(t).expect(202);
    expect(body).toEqual({ expires_in: 600 });
    const [[pair, ...attributes]] = cookiesOf(headers).map((cookie) => cookie.split('; ')) as [[string, ...string[]]];
    return { cookie: pair, attributes, code: codeIn(await mailbox.nth(1)) };
  };

  it('has its token in a cookie that is HttpOnly, SameSite=Strict and Secure, and is removed after the sign-in', async () => {
    const { cookie, attributes, code } = await request();
    expect(cookie).toMatch(/^__Host-refresh\.code=[0-9a-f]{64}$/);
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Strict', 'Secure']);
    const { body, headers } = await sendCode(t, { code }).set('Cookie', cookie).expect(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'token_type']);
    const set = cookiesOf(headers);
    expect(set).toEqual([
      expect.stringMatching(/^__Host-refresh\.code=; Max-Age=0;/),
      expect.stringMatching(/^__Host-refresh=[\w-]{71};/),
    ]);
  });

  it('ignores a token in the body, and a refused code keeps the cookie', async () => {
    const { cookie, code } = await request();
    const code_token = cookie.split('=')[1];
    expect((await sendCode(t, { code, code_token }).expect(422)).body).toEqual(REFUSED);
    const wrong = await sendCode(t, { code: otherCode(code) })
      .set('Cookie', cookie)
      .expect(422);
    expect(cookiesOf(wrong.headers)).toEqual([]);
    await sendCode(t, { code }).set('Cookie', cookie).expect(200);
  });

  it('is refused to pages of other origins, which can neither request nor use a code', async () => {
    const foreign = { Origin: 'https://evil.test' };
    await requestCode(t).set(foreign).expect(403);
    expect(mailbox.mails).toEqual([]);
    const { cookie, code } = await request();
    await sendCode(t, { code })
      .set({ ...foreign, Cookie: cookie })
      .expect(403);
    await sendCode(t, { code }).set('Cookie', cookie).expect(200);
  });
});

describe('the options of mailed codes', () => {
  const start = (emailCode: AuthModuleOptions['emailCode'], more: Partial<AuthModuleOptions> = {}) =>
    startMembers({ features: { emailCode: true }, emailCode, ...more });

  it('set the digits, the minutes and a link with the code in its fragment', async () => {
    const { t, mailbox } = await start({ digits: 6, expireMinutes: 2, frontendUrl: 'https://app.example.test/in?a=b' });
    await member(t, ADA, verified);
    const { body } = await requestCode(t).expect(202);
    expect(body.expires_in).toBe(120);
    const mail = await mailbox.to(ADA);
    const code = codeIn(mail);
    expect(code).toMatch(/^\d{6}$/);
    expect(mail.text).toContain('2 minutes');
    expect(linkIn(mail).href).toBe(`https://app.example.test/in?a=b#code=${code}`);
    await sendCode(t, { code_token: body.code_token, code }).expect(200);
    const late = await mailedCode(t, mailbox);
    t.clock.advance(120 + 6);
    await sendCode(t, late).expect(422);
    await t.stop();
  });

  it('let a presenter add fields to the tokens', async () => {
    class Own extends Presenter {
      override login(fields: TokenBody) {
        return { ...fields, own: true };
      }
    }
    const { t, mailbox } = await start({}, { presenter: Own });
    await member(t, ADA, verified);
    expect((await sendCode(t, await mailedCode(t, mailbox)).expect(200)).body).toMatchObject({ own: true });
    await t.stop();
  });

  it('let hooks.canSignIn refuse a user, and the code stays valid', async () => {
    let may = true;
    const { t, mailbox } = await start({}, { hooks: { canSignIn: () => may } });
    await member(t, ADA, verified);
    const mailed = await mailedCode(t, mailbox);
    may = false;
    await sendCode(t, mailed).expect(401);
    may = true;
    await sendCode(t, mailed).expect(200);
    await t.stop();
  });

  it.each<[string, Partial<AuthModuleOptions>, RegExp]>([
    [
      'a link over http',
      { emailCode: { frontendUrl: 'http://app.example.test' } },
      /emailCode\.frontendUrl \(SVC_CODE_URL\) is "http/,
    ],
    [
      'a link with a fragment',
      { emailCode: { frontendUrl: `${RESET_URL}#a` } },
      /emailCode\.frontendUrl .* has a fragment/,
    ],
    ['no mailer', { mail: {} }, /needs mail\.mailer/],
    ['five digits', { emailCode: { digits: 5 } }, /emailCode\.digits \(SVC_CODE_DIGITS\) is 5/],
    ['eleven minutes', { emailCode: { expireMinutes: 11 } }, /emailCode\.expireMinutes \(SVC_CODE_EXPIRE\) is 11/],
  ])('do not start with %s', async (_, options, message) => {
    const features = { emailCode: true, passwordReset: false, emailVerification: false, registration: false };
    await expect(startMembers({ ...options, features })).rejects.toThrow(message);
  });

  it('concern the server calls of an extra guard, which has no routes for codes', async () => {
    const t = await TestApp.start({
      options: { features: { accountDeletion: false }, guards: { admin: { features: { emailCode: true } } } },
    });
    await t.http.post('/admin/auth/login/code').send({ email: ADA }).expect(404);
    await expect(t.auth.guard('admin').emailCode.request(ADA, {})).rejects.toMatchObject({
      cause: { message: expect.stringContaining('mail.mailer') },
    });
    await t.stop();
  });
});
