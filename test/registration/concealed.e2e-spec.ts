import { Logger } from '@nestjs/common';
import { PasswordHasher, Presenter, Registered, type TokenBody } from '@svc/auth';
import type { Response } from 'supertest';
import { WAITING, hangingMails, linkIn, member, membersForFile, startMembers } from '../support/members';
import { requestStatements } from '../support/request-statements';
import { ADA, PASSWORD } from '../support/user-entities';

const NEW = 'grace@example.com';
const RECEIVED = { status: 'registration-received' };
const CONCEALING = {
  registration: { concealExisting: true },
  emailVerification: { blockUnverifiedLogin: true },
};

const form = (email: string, more: object = {}): object => ({
  name: 'Ada Lovelace',
  email,
  password: PASSWORD,
  password_confirmation: PASSWORD,
  ...more,
});

/** The parts of an answer by which a client could distinguish it. */
const shape = ({ status, text, headers: { date: _, 'x-ratelimit-remaining': __, ...headers } }: Response) => ({
  status,
  text,
  headers,
});

describe('a registration that conceals existing accounts', () => {
  const { t, mailbox } = membersForFile({ ...CONCEALING, storeTimeoutMs: 10_000 });
  const register = (email: string, more?: object) => t.http.post('/auth/register').send(form(email, more));
  const rows = () => t.database.query('SELECT * FROM members ORDER BY email');
  /** The mails, sorted, after this number of them arrived. */
  const mailed = async (count: number): Promise<string[]> => {
    await mailbox.nth(count);
    await t.calm();
    return mailbox.mails.map(({ to, subject }) => `${to}: ${subject.split(' ').slice(0, 3).join(' ')}`).toSorted();
  };

  it('is answered with the same bytes and headers for every address', async () => {
    await member(t, ADA, { emailVerifiedAt: new Date() });
    await member(t, 'unverified@example.com');
    await member(t, 'deleted@example.com', { deletedAt: new Date() });
    const first = await register(NEW).expect(202);
    expect(first.body).toEqual(RECEIVED);
    expect(first.headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(first.headers['set-cookie']).toBeUndefined();
    for (const email of [ADA, ' ADA@Example.com ', 'unverified@example.com', 'deleted@example.com', NEW])
      expect(shape(await register(email))).toEqual(shape(first));
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });

  it('creates an account that can sign in after its mailed link was opened', async () => {
    const registered = t.recorded(Registered);
    await register(NEW).expect(202);
    expect(registered).toEqual([{ user: expect.objectContaining({ email: NEW }) }]);
    expect(JSON.stringify(registered)).not.toContain('argon2');
    const { pathname, search } = linkIn(await mailbox.to(NEW));
    await t.http
      .get(pathname + search)
      .set('Accept', 'application/json')
      .expect(204);
    await t.login(NEW).expect(200);
  });

  it('mails the owner of an existing account, and changes nothing', async () => {
    await member(t, ADA, { emailVerifiedAt: new Date() });
    const registered = t.recorded(Registered);
    const before = await rows();
    await register('ADA@example.com', { name: 'Eve' }).expect(202);
    expect(await mailed(1)).toEqual([`${ADA}: You already have`]);
    expect(mailbox.mails[0]!.text).not.toContain('http');
    expect(await rows()).toEqual(before);
    expect(registered).toEqual([]);
  });

  it('mails the owner of an existing account once a minute', async () => {
    const host = await startMembers(CONCEALING);
    await member(host.t, ADA);
    for (let i = 0; i < 3; i++) await host.t.http.post('/auth/register').send(form(ADA)).expect(202);
    // All queued mails are sent at this point.
    await host.t.stop();
    expect(host.mailbox.mails.map(({ to }) => to)).toEqual([ADA]);
  });

  it('does the same work before the answer for every address: the same queries and one hash', async () => {
    await member(t, ADA);
    // Work that runs after the answer must not count, so the mails wait.
    await hangingMails(t, mailbox);
    const statements = requestStatements(t);
    const hash = jest.spyOn(t.app.get(PasswordHasher), 'hash');
    const work = async (email: string): Promise<string[]> => {
      statements.mockClear();
      hash.mockClear();
      await register(email).expect(202);
      expect(hash).toHaveBeenCalledTimes(1);
      return statements.mock.calls.map(([text]) => text);
    };
    const [created, found] = [await work(NEW), await work(ADA)];
    // The insert, or a lock of the row that exists: both are written to the log of the database.
    const write = /^(INSERT INTO|SELECT 1 FROM) .*$/s;
    expect(created.filter((text) => text.startsWith('INSERT'))).toHaveLength(1);
    expect(found.filter((text) => text.endsWith('FOR KEY SHARE'))).toHaveLength(1);
    expect(found.map((text) => text.replace(write, '$'))).toEqual(created.map((text) => text.replace(write, '$')));
    mailbox.release();
    expect((await mailed(6)).filter((mail) => !mail.startsWith(WAITING))).toEqual([
      `${ADA}: You already have`,
      `${NEW}: Confirm your email`,
    ]);
  });

  it('refuses invalid fields with the same bytes for every address', async () => {
    await member(t, ADA);
    for (const more of [{ name: '' }, { password: 'short', password_confirmation: 'short' }]) {
      const [free, taken] = [await register(NEW, more).expect(422), await register(ADA, more).expect(422)];
      expect(shape(taken)).toEqual(shape(free));
    }
  });

  it('is answered 202 for each of many concurrent requests for one address, which create one account', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => register(i % 2 ? NEW : NEW.toUpperCase())));
    for (const answer of answers) expect(shape(answer)).toEqual(shape(answers[0]!));
    expect(answers[0]!.status).toBe(202);
    expect(await rows()).toHaveLength(1);
    expect(await mailed(2)).toEqual([`${NEW}: Confirm your email`, `${NEW}: You already have`]);
  });

  it('does not show an address by a conflict in another unique column', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await t.database.query('CREATE UNIQUE INDEX named ON members (name)');
    await member(t, ADA, { name: 'Ada Lovelace' });
    const [free, taken] = [await register(NEW), await register(ADA)];
    await t.database.query('DROP INDEX named');
    expect(shape(taken)).toEqual(shape(free));
    expect(free.status).toBe(202);
    expect(logged.mock.calls).toEqual([[expect.stringMatching(/^an account could not be created/), expect.anything()]]);
    expect(await rows()).toHaveLength(1);
  });

  it('is not shown by a login with its password, until the address is verified', async () => {
    await member(t, ADA, { emailVerifiedAt: new Date() });
    const other = { password: `${PASSWORD}!`, password_confirmation: `${PASSWORD}!` };
    for (const email of [NEW, ADA]) await register(email, other).expect(202);
    const created = await t.login(NEW, other.password).expect(422);
    const existing = await t.login(ADA, other.password).expect(422);
    const unknown = await t.login('nobody@example.com', other.password).expect(422);
    for (const answer of [existing, unknown]) expect(shape(answer)).toEqual(shape(created));
    await t.login(ADA).expect(200);
  });

  it('has the same result as a server call', async () => {
    await member(t, ADA);
    for (const email of [NEW, ADA])
      expect(await t.auth.registration.register(form(email) as Record<string, unknown>, { ip: '203.0.113.7' })).toEqual(
        RECEIVED,
      );
    expect(await mailed(2)).toEqual([`${ADA}: You already have`, `${NEW}: Confirm your email`]);
  });
});

describe('the host of a registration that conceals existing accounts', () => {
  it('can write the mail to the owner, and its presenter does not change the answer', async () => {
    class Leaking extends Presenter {
      override registration(fields: TokenBody | object) {
        return { ...fields, leaks: true };
      }
    }
    const { t, mailbox } = await startMembers({
      ...CONCEALING,
      presenter: Leaking,
      mail: {
        mailer: { send: (mail) => mailbox.send(mail) },
        templates: { existingAccount: ({ appName }) => ({ subject: 'Konto vorhanden', text: appName }) },
      },
    });
    await member(t, ADA);
    const { body } = await t.http.post('/auth/register').send(form(ADA)).expect(202);
    expect(body).toEqual(RECEIVED);
    expect(await mailbox.to(ADA)).toMatchObject({ subject: 'Konto vorhanden', text: 'api.example.com' });
    await t.stop();
  });

  it.each<[string, object, RegExp]>([
    [
      'without features.emailVerification',
      { features: { emailVerification: false } },
      /needs features\.emailVerification/,
    ],
    [
      'without emailVerification.blockUnverifiedLogin',
      { emailVerification: { blockUnverifiedLogin: false } },
      /needs emailVerification\.blockUnverifiedLogin/,
    ],
    [
      'with another identifier',
      { username: 'name', guards: { admin: { username: 'email' } } },
      /needs the identifier "email"/,
    ],
    ['with hooks.register', { hooks: { register: async () => null } }, /cannot be combined with hooks\.register/],
  ])('does not start %s', async (_, options, message) => {
    await expect(startMembers({ ...CONCEALING, ...options })).rejects.toThrow(message);
  });
});
