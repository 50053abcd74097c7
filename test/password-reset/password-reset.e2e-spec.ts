import { Logger } from '@nestjs/common';
import { AccountReleased, MailFailed, PasswordHasher, PasswordReset, StoreUnavailable, UserProvider } from '@svc/auth';
import { hash as digest } from 'node:crypto';
import type { Response } from 'supertest';
import { ADA, CONFIRMATION_HEADER } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import {
  RESET_URL,
  WAITING,
  hangingMails,
  linkIn,
  member,
  membersForFile,
  startMembers,
} from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';
import { requestStatements } from '../support/stores/request-statements';
import { whileStatementsFail } from '../support/faults/failing-statements';

const NEXT = 'another horse entirely';

const sha256 = (text: string): string => digest('sha256', text, 'hex');

const { t, mailbox } = membersForFile({ features: { lockout: true }, lockout: { maxAttempts: 2 } });

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
  status,
  text,
  headers,
});

describe('POST /forgot-password', () => {
  let id: string;
  beforeEach(async () => void (id = await member(t, ADA)));

  const forgot = (email: unknown = ADA) => t.http.post('/auth/forgot-password').send({ email });
  const rows = () => t.database.query('SELECT * FROM svc_password_resets ORDER BY slot');

  it('answers 200, and mails a link to the configured page', async () => {
    const { body, headers } = await forgot().expect(200);
    expect(body).toEqual({ status: 'password-reset-link-sent' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    const mail = await mailbox.nth(1);
    expect(mail).toMatchObject({ to: ADA, subject: 'Reset your api.example.com password' });
    expect(mail.text).toContain(`${RESET_URL}?token=`);
    expect(mail.text).toContain('&email=ada%40example.com');
    expect(linkIn(mail).searchParams.get('token')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('stores only hashes, in one row for each link', async () => {
    await forgot().expect(200);
    const token = linkIn(await mailbox.nth(1)).searchParams.get('token')!;
    const stored = await rows();
    const [{ password_hash }] = await t.database.query('SELECT password_hash FROM members');
    expect(stored).toEqual([
      {
        guard: 'api',
        broker: '',
        user_id: id,
        email_hash: sha256(ADA),
        token_hash: sha256(token),
        created_at: expect.any(Date),
        password_fingerprint: sha256(JSON.stringify(password_hash)),
        slot: 1,
        undelivered: false,
      },
    ]);
    t.clock.advance(61);
    await forgot().expect(200);
    await mailbox.nth(2);
    const next = linkIn(mailbox.mails[1]!).searchParams.get('token')!;
    const both = await rows();
    expect(both.map((row: { token_hash: string }) => row.token_hash)).toEqual([sha256(token), sha256(next)]);
  });

  it('mails an address once a minute, for any number of concurrent requests and any spelling', async () => {
    const host = await startMembers();
    host.t.clock.stop();
    await member(host.t, ADA);
    const ask = (email: string) => host.t.http.post('/auth/forgot-password').send({ email }).expect(200);
    const spellings = [ADA, 'ADA@example.com', ' Ada@Example.COM '];
    await Promise.all(Array.from({ length: 30 }, (_, i) => ask(spellings[i % 3]!)));
    host.t.clock.advance(59);
    await ask(ADA);
    // All queued mails are sent at this point.
    await host.t.stop();
    // The mail goes to the stored address, not to the spelling in the request.
    expect(host.mailbox.mails.map(({ to }) => to)).toEqual([ADA]);
  });

  it('builds the link from the configured URL, whatever the request contains', async () => {
    await forgot()
      .set('Host', 'evil.test')
      .set('X-Forwarded-Host', 'evil.test')
      .set('X-Forwarded-Proto', 'gopher')
      .set('X-Forwarded-Prefix', '/evil')
      .set('Origin', 'https://evil.test')
      .set('Referer', 'https://evil.test/')
      .expect(200);
    const { text } = await mailbox.nth(1);
    expect(text).toContain(`${RESET_URL}?token=`);
    expect(text).not.toContain('evil');
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', [ADA]],
    ['no address', 'ada'],
    ['two addresses', `${ADA},eve@example.com`],
    ['a line break', `${ADA}\nBcc: eve@example.com`],
    ['a quoted line break', '"a\r\nBcc: x"@corp.com'],
    ['half a surrogate pair', 'ada\ud800@example.com'],
    ['an address inside another', '"evil@gmail.com x"@corp.com'],
    ['an invisible character', 'ada\u3164@example.com'],
    ['a dot leader', 'ada@example\u2024com'],
    ['256 characters', `${'x'.repeat(244)}@example.com`],
  ])('answers 422 by field for %s', async (_, email) => {
    const { body } = await t.http.post('/auth/forgot-password').send({ email }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['email']);
  });

  it('treats a Kelvin sign as k, and a dotless i as another letter than i', async () => {
    for (const email of ['kim@example.com', 'mike@example.com']) await member(t, email);
    await forgot('m\u0131ke@example.com').expect(200);
    await forgot('\u212aim@example.com').expect(200);
    await mailbox.to('kim@example.com');
    await t.calm();
    expect(mailbox.mails.map(({ to }) => to)).toEqual(['kim@example.com']);
  });

  it('mails by the template of the host, to the user only', async () => {
    const passwordReset = async ({ user, url }: { user: object; url: string }) => ({
      subject: 'Neues Passwort',
      text: `Hallo ${(user as { name: string }).name}: ${url}`,
      html: `<a href="${url}">Neues Passwort</a>`,
      to: 'eve@example.com',
    });
    const { t: german } = await startMembers({
      mail: { mailer: mailbox, templates: { passwordReset } },
      passwordReset: { frontendUrl: 'https://app.test/#/reset?lang=de' },
    });
    await member(german, ADA);
    await german.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const mail = await mailbox.nth(1);
    await german.stop();
    expect(mail).toMatchObject({ to: ADA, subject: 'Neues Passwort', html: expect.stringContaining('<a href') });
    expect(mail.text).toContain('Hallo Ada: https://app.test/#/reset?lang=de&token=');
  });

  it('answers known, unknown and throttled addresses and broken mail with the same bytes and headers', async () => {
    const known = await forgot();
    const throttled = await forgot();
    const unknown = await forgot('nobody@example.com');
    t.clock.advance(61);
    mailbox.deliver = () => Promise.reject(new Error('no route to host'));
    const broken = await forgot();
    for (const answer of [throttled, unknown, broken]) expect(shape(answer)).toEqual(shape(known));
  });

  it('does the same work before the answer for every address: one look-up and no hash', async () => {
    // Work that runs after the answer must not count, so the mails wait.
    await hangingMails(t, mailbox);
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const statements = requestStatements(t);
    const work = async (email: string): Promise<unknown[]> => {
      statements.mockClear();
      await forgot(email).expect(200);
      return statements.mock.calls.map(([text]) => text);
    };
    const [first, ...others] = [await work(ADA), await work('nobody@example.com'), await work(ADA)];
    expect(first).toHaveLength(1);
    for (const other of others) expect(other).toEqual(first);
    expect(hash).not.toHaveBeenCalled();
    mailbox.release();
    await mailbox.to(ADA);
  });

  it.each<[string, () => unknown]>([
    ['refuses', () => (mailbox.deliver = async () => Promise.reject(smtpError('EENVELOPE', 550)))],
    ['throws', () => jest.spyOn(mailbox, 'send').mockImplementation(throwMailError)],
  ])('reports a mail server that %s by an event and a log line without address and link', async (_, breakIt) => {
    const failed = t.recorded(MailFailed);
    const lines = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    breakIt();
    await forgot().expect(200);
    await eventually(async () => failed.length > 0);
    expect(failed).toEqual([{ kind: 'passwordReset', guard: 'api', error: expect.any(Error) }]);
    const logged = JSON.stringify(lines.mock.calls);
    expect(logged).toMatch(/a mail \(passwordReset\) was not sent: \w+/);
    expect(logged).not.toMatch(/ada|token|[0-9a-f]{64}/);
  });

  it('answers while the mail server hangs, and sends the queued mails before the application closes', async () => {
    const hanging = await startMembers();
    await hangingMails(hanging.t, hanging.mailbox);
    await member(hanging.t, ADA);
    await hanging.t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const stopped = hanging.t.stop();
    hanging.mailbox.release();
    await stopped;
    expect(hanging.mailbox.mails.map(({ to }) => to)).toEqual([...Array(4).fill(WAITING), ADA]);
  });

  it('answers 503 while the user store does not answer', async () => {
    jest.spyOn(t.database, 'createQueryRunner').mockImplementation(() => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    });
    await forgot().expect(503);
  });
});

describe('POST /reset-password', () => {
  beforeEach(async () => void (await member(t, ADA)));

  /** Requests a link, and returns the token of the mail. */
  async function mailed(email = ADA): Promise<string> {
    const before = mailbox.mails.length;
    await t.http.post('/auth/forgot-password').send({ email }).expect(200);
    return (await mailbox.linkAfter(before)).searchParams.get('token')!;
  }
  const reset = (token: unknown, more: object = {}) =>
    t.http
      .post('/auth/reset-password')
      .send({ token, email: ADA, password: NEXT, password_confirmation: NEXT, ...more });

  it('replaces the password, confirms that, and opens no session', async () => {
    const events = t.recorded(PasswordReset);
    const { body, headers } = await reset(await mailed()).expect(200);
    expect(body).toEqual({ status: 'password-reset' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(headers['set-cookie']).toBeUndefined();
    expect(events).toEqual([{ user: expect.objectContaining({ email: ADA }), guard: 'api' }]);
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

  it('accepts the address in any case, and stores the password exactly as typed', async () => {
    const password = ` ${NEXT} `;
    await reset(await mailed(), { email: ' ADA@Example.com ', password, password_confirmation: password }).expect(200);
    await t.login(ADA, NEXT).expect(422);
    await t.login(ADA, password).expect(200);
  });

  it('accepts a link once, within an hour, also after a newer one was mailed', async () => {
    t.clock.stop();
    const old = await mailed();
    t.clock.advance(61);
    const token = await mailed();
    t.clock.advance(3600 - 62);
    await reset(old).expect(200);
    for (const used of [old, token]) await reset(used).expect(422);
    const late = await mailed();
    t.clock.advance(3601);
    await reset(late).expect(422);
  });

  const changeInSession = async (): Promise<unknown> => {
    const { access_token: token } = await t.session();
    const body = {
      current_password: PASSWORD,
      password: 'yet-another-horse',
      password_confirmation: 'yet-another-horse',
    };
    return t.call('post', '/auth/password', token).send(body).expect(200);
  };
  const storedByHost = async (): Promise<unknown> => {
    const stored = await t.app.get(PasswordHasher).hash('yet-another-horse');
    return t.database.query('UPDATE members SET password_hash = $1', [stored]);
  };

  it.each<[string, () => Promise<unknown>]>([
    // The link cannot be deleted, as by a request that ends before.
    ['a change in a session', () => whileStatementsFail(t, 'DELETE ON svc_password_resets', changeInSession)],
    ['a change by code of the host', storedByHost],
    ['the removal of the password', () => t.database.query('UPDATE members SET password_hash = NULL')],
  ])('refuses a link that was mailed before %s, like an unknown one', async (_, change) => {
    const refused = await reset('f'.repeat(64)).expect(422);
    const token = await mailed();
    await change();
    const before = await t.database.query('SELECT password_hash FROM members');
    expect((await reset(token).expect(422)).text).toBe(refused.text);
    expect(await t.database.query('SELECT password_hash FROM members')).toEqual(before);
    t.clock.advance(61);
    await reset(await mailed()).expect(200);
    await t.login(ADA, NEXT).expect(200);
  });

  it('refuses a link that was mailed to a user without a password before the first one was set', async () => {
    await t.database.query('UPDATE members SET password_hash = NULL');
    const token = await mailed();
    await storedByHost();
    await reset(token).expect(422);
  });

  it('does not undo a change of the password that is made meanwhile', async () => {
    const token = await mailed();
    const users = t.app.get(UserProvider);
    const save = users.savePasswordHash.bind(users);
    jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
      await storedByHost();
      return save(...args);
    });
    await reset(token).expect(422);
    await t.login(ADA, 'yet-another-horse').expect(200);
    await reset(token).expect(422);
  });

  it('refuses a link for another account, and for a former address of the same account', async () => {
    await member(t, 'eve@example.com');
    const token = await mailed('eve@example.com');
    await reset(token).expect(422);
    await t.database.getRepository(Member).update({ email: 'eve@example.com' }, { email: 'mallory@example.com' });
    await reset(token, { email: 'mallory@example.com' }).expect(422);
    await reset(token, { email: 'eve@example.com' }).expect(422);
    await t.database.getRepository(Member).update({ email: 'mallory@example.com' }, { email: 'eve@example.com' });
    await reset(token, { email: 'eve@example.com' }).expect(200);
  });

  it('refuses a link of another broker', async () => {
    const token = await mailed();
    const other = await startMembers(
      { passwordReset: { broker: 'staff', brokers: { staff: {} } } },
      { databaseUrl: t.databaseUrl },
    );
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await other.t.http.post('/auth/reset-password').send(body).expect(422);
    await other.t.stop();
    await reset(token).expect(200);
  });

  it('answers an unknown email like a wrong token where the user provider cannot read an empty id', async () => {
    const users = t.app.get(UserProvider);
    const read = users.passwordHashOf.bind(users);
    const asked = jest.spyOn(users, 'passwordHashOf').mockImplementation(async (id) => {
      if (!/^[0-9a-f-]{36}$/.test(id)) throw new TypeError('This is no id.');
      return read(id);
    });
    const [known, unknown] = [await reset('x'), await reset('x', { email: 'nobody@example.com' })];
    expect(known.status).toBe(422);
    expect(shape(unknown)).toEqual(shape(known));
    expect(asked).toHaveBeenCalledTimes(2);
    asked.mockImplementation(async () => Promise.reject(new StoreUnavailable('A store')));
    for (const email of [ADA, 'nobody@example.com']) await reset('x', { email }).expect(503);
  });

  it('answers every failure with the same bytes and headers, after the same work', async () => {
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const statements = requestStatements(t);
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
    for (const calls of work) expect(calls).toEqual(work[0]);
    const kinds = [/SELECT/, /SELECT/, /UPDATE/].map((kind) => expect.stringMatching(kind) as unknown);
    expect(work[0]).toEqual([1, kinds]);
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
  ])('refuses %s by field before any look-up, and keeps the token valid', async (_, more, fields) => {
    const token = await mailed();
    const statements = requestStatements(t);
    const known = await reset(token, more).expect(422);
    expect(statements).not.toHaveBeenCalled();
    const unknown = await reset('x', { email: 'nobody@example.com', ...more });
    expect(Object.keys(known.body.errors)).toEqual(fields);
    if (fields[0] === 'password' && !('password' in more && more.password === ADA))
      expect(unknown.text).toBe(known.text);
    await reset(token).expect(200);
  });

  it('keeps the sessions with passwordReset.revokeSessions off', async () => {
    const keeping = await startMembers({ passwordReset: { revokeSessions: false } });
    await member(keeping.t, ADA);
    const { access_token } = await keeping.t.session();
    await keeping.t.http.post('/auth/forgot-password').send({ email: ADA });
    const token = linkIn(await keeping.mailbox.nth(1)).searchParams.get('token');
    const body = { token, email: ADA, password: NEXT, password_confirmation: NEXT };
    await keeping.t.http.post('/auth/reset-password').send(body).expect(200);
    await keeping.t.get('/private', access_token).set(CONFIRMATION_HEADER, 'x').expect(200);
    await keeping.t.stop();
  });

  it('keeps the token valid when hashing fails', async () => {
    const token = await mailed();
    const busy = jest.spyOn(t.app.get(PasswordHasher), 'hash').mockRejectedValue(new Error('busy'));
    await reset(token).expect(500);
    busy.mockRestore();
    await reset(token).expect(200);
  });

  it('refuses the login identifier as a password, and reports that only for a valid link', async () => {
    const host = await startMembers({
      features: { registration: false },
      username: 'name',
      guards: { admin: { username: 'email' } },
    });
    await member(host.t, ADA, { name: 'ada.lovelace' });
    await host.t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await host.mailbox.nth(1)).searchParams.get('token')!;
    const choose = (given: string, password: string) =>
      host.t.http
        .post('/auth/reset-password')
        .send({ token: given, email: ADA, password, password_confirmation: password });
    const unknown = await choose('f'.repeat(64), NEXT).expect(422);
    expect((await choose('f'.repeat(64), 'Ada Lovelace')).text).toBe(unknown.text);
    const { body } = await choose(token, 'Ada Lovelace').expect(422);
    expect(Object.keys(body.errors)).toEqual(['password']);
    await choose(token, NEXT).expect(200);
    await host.t.stop();
  });
});

const smtpError = (code: string, responseCode: number): Error =>
  Object.assign(new Error(`550 5.1.1 <${ADA}> unknown`), { code, responseCode });

function throwMailError(): never {
  throw new TypeError(`cannot mail ${ADA}`);
}
