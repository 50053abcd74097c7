import { AccountReleased, PasswordHasher, PasswordReset } from '@svc/auth';
import type { Response } from 'supertest';
import type { TestApp } from '../support/app';
import { ADA, HEADER } from '../support/confirming';
import { type Mailbox, linkIn, member, startMembers } from '../support/members';
import { Member, PASSWORD } from '../support/people';
import { statementsOf } from '../support/statements';

const NEXT = 'another horse entirely';

describe('POST /reset-password', () => {
  let t: TestApp;
  let mailbox: Mailbox;

  beforeAll(async () => {
    ({ t, mailbox } = await startMembers({ features: { lockout: true }, lockout: { maxAttempts: 2 } }));
  });
  beforeEach(async () => {
    await t.database.query('TRUNCATE members, svc_password_resets, svc_lockouts, svc_sessions CASCADE');
    await member(t, ADA);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => t.stop());

  /** A token that was mailed. */
  async function mailed(email = ADA): Promise<string> {
    const before = mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email }).expect(200);
    return linkIn(await mailbox.nth(before + 1)).searchParams.get('token')!;
  }
  const reset = (token: unknown, more: object = {}) =>
    t.http
      .post('/auth/reset-password')
      .send({ token, email: ADA, password: NEXT, password_confirmation: NEXT, ...more });

  it('replaces the password, answers so, and signs nobody in', async () => {
    const events = t.recorded(PasswordReset);
    const { body, headers } = await reset(await mailed()).expect(200);
    expect(body).toEqual({ status: 'password-reset' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(headers['set-cookie']).toBeUndefined();
    expect(events).toEqual([{ user: expect.objectContaining({ email: ADA }) }]);
    expect(await t.database.query('SELECT 1 FROM svc_password_resets')).toEqual([]);
    await t.login(ADA, PASSWORD).expect(422);
    await t.login(ADA, NEXT).expect(200);
  });

  it('ends every session and every access token', async () => {
    const sessions = [await t.session(), await t.session()];
    await reset(await mailed()).expect(200);
    for (const { access_token, refresh_token } of sessions) {
      await t.get('/private', access_token).expect(401);
      await t.refresh(refresh_token).expect(401);
    }
  });

  it('releases the locks of login and step-up', async () => {
    const { access_token: token } = await t.session();
    for (let i = 0; i < 2; i++) {
      await t.login(ADA, 'wrong').expect(422);
      await t.call('post', '/auth/confirm-password', token).send({ password: 'wrong' }).expect(422);
    }
    await t.login(ADA).expect(423);
    const released = t.recorded(AccountReleased);
    await reset(await mailed()).expect(200);
    expect(released.map(({ purpose }) => purpose).toSorted()).toEqual(['confirm', 'login']);
    await t.login(ADA, NEXT).expect(200);
  });

  it('takes the address in any case, and a password to the letter', async () => {
    const password = ` ${NEXT} `;
    await reset(await mailed(), { email: ' ADA@Example.com ', password, password_confirmation: password }).expect(200);
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, password).expect(200);
  });

  it('works once, for an hour, and only by the newest link', async () => {
    const old = await mailed();
    t.clock.advance(61);
    const token = await mailed();
    await reset(old).expect(422);
    t.clock.advance(3590);
    await reset(token).expect(200);
    await reset(token).expect(422);
    const late = await mailed();
    t.clock.advance(3601);
    await reset(late).expect(422);
  });

  it('is good for no other account, and not for another address of the same one', async () => {
    await member(t, 'eve@example.com');
    const token = await mailed('eve@example.com');
    await reset(token).expect(422);
    await t.database.getRepository(Member).update({ email: 'eve@example.com' }, { email: 'mallory@example.com' });
    await reset(token, { email: 'mallory@example.com' }).expect(422);
    await reset(token, { email: 'eve@example.com' }).expect(422);
    await t.database.getRepository(Member).update({ email: 'mallory@example.com' }, { email: 'eve@example.com' });
    await reset(token, { email: 'eve@example.com' }).expect(200);
  });

  it('is good for no other broker', async () => {
    const token = await mailed();
    const other = await startMembers({ passwordReset: { broker: 'staff' } }, { databaseUrl: t.databaseUrl });
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await other.t.http.post('/auth/reset-password').send(body).expect(422);
    await other.t.stop();
    await reset(token).expect(200);
  });

  const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
    status,
    text,
    headers,
  });

  it('answers every failure with the same bytes and headers, and the same work', async () => {
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const statements = await statementsOf(t);
    const token = await mailed();
    const attempts: [unknown, object][] = [
      ['f'.repeat(64), {}],
      [token.toUpperCase(), {}],
      [token, { email: 'nobody@example.com' }],
      ["' OR 1=1 --", {}],
      ['x', {}],
      [token, { email: 'дядя@example.com' }],
    ];
    const answers: Response[] = [];
    const work: unknown[] = [];
    for (const [given, more] of attempts) {
      statements.mockClear();
      hash.mockClear();
      answers.push(await reset(given, more));
      work.push([hash.mock.calls.length, statements.mock.calls.map(([text]) => text)]);
    }
    t.clock.advance(3601);
    answers.push(await reset(token));
    for (const answer of answers) expect(shape(answer)).toEqual(shape(answers[0]!));
    expect(answers[0]!.body.errors).toEqual({ email: [expect.stringMatching(/not valid any more/)] });
    for (const one of work) expect(one).toEqual(work[0]);
    expect(work[0]).toEqual([1, [expect.stringMatching(/SELECT/), expect.stringMatching(/DELETE/)]]);
  });

  it.each<[string, object, string[]]>([
    ['no token', { token: null }, ['token']],
    ['a list as the token', { token: ['x'] }, ['token']],
    ['a token of 256 characters', { token: 'x'.repeat(256) }, ['token']],
    ['no address', { email: '' }, ['email']],
    ['no password', { password: null }, ['password']],
    ['256 characters', { password: 'x'.repeat(256), password_confirmation: 'x'.repeat(255) }, ['password']],
    ['another confirmation', { password_confirmation: PASSWORD }, ['password']],
    ['a NUL', { password: `${NEXT}\0`, password_confirmation: `${NEXT}\0` }, ['password']],
    ['a common password', { password: 'password', password_confirmation: 'password' }, ['password']],
    ['the own address', { password: ADA, password_confirmation: ADA }, ['password']],
  ])('refuses %s by field before anything is looked up, and keeps the token', async (_, more, fields) => {
    const token = await mailed();
    const statements = await statementsOf(t);
    const known = await reset(token, more).expect(422);
    expect(statements).not.toHaveBeenCalled();
    const unknown = await reset('x', { email: 'nobody@example.com', ...more });
    expect(Object.keys(known.body.errors)).toEqual(fields);
    if (fields[0] === 'password' && !('password' in more && more.password === ADA))
      expect(unknown.text).toBe(known.text);
    await reset(token).expect(200);
  });

  it('leaves sessions alone where the host wants that', async () => {
    const keeping = await startMembers({ passwordReset: { revokeSessions: false } });
    await member(keeping.t, ADA);
    const { access_token } = await keeping.t.session();
    await keeping.t.http.post('/auth/forgot-password').send({ email: ADA });
    const token = linkIn(await keeping.mailbox.nth(1)).searchParams.get('token');
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await keeping.t.http.post('/auth/reset-password').send(body).expect(200);
    await keeping.t.get('/private', access_token).set(HEADER, 'x').expect(200);
    await keeping.t.stop();
  });

  it('keeps the token while the server is too busy to hash', async () => {
    const token = await mailed();
    const busy = jest.spyOn(t.app.get(PasswordHasher), 'hash').mockRejectedValue(new Error('busy'));
    await reset(token).expect(500);
    busy.mockRestore();
    await reset(token).expect(200);
  });
});
