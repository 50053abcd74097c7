import { Logger } from '@nestjs/common';
import { type AuthModuleOptions, type Mail, PasswordHasher, Presenter, Registered, type TokenBody } from '@svc/auth';
import type { Response } from 'supertest';
import { UNLIMITED } from '../support/hosts/host.module';
import { CompleteProvider } from '../support/hosts/incomplete-users';
import { WAITING, hangingMails, linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { requestStatements } from '../support/stores/request-statements';
import { CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const NEW = 'grace@example.com';
const RECEIVED = { status: 'registration-received' };
const CONCEALING = {
  features: { passwordReset: true },
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
  const { t, mailbox } = membersForFile({ ...CONCEALING, storeTimeoutMs: 20_000 });
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
    await member(host.t, ADA, { emailVerifiedAt: new Date() });
    for (let i = 0; i < 3; i++) await host.t.http.post('/auth/register').send(form(ADA)).expect(202);
    // All queued mails are sent at this point.
    await host.t.stop();
    expect(host.mailbox.mails.map(({ to }) => to)).toEqual([ADA]);
  });

  it('mails no link to the owner of an unverified account, so that the link verifies no password of another person', async () => {
    await register(NEW).expect(202);
    const [before] = [await rows(), await mailed(1)];
    await register(NEW, { password: 'correct-horse-9', password_confirmation: 'correct-horse-9' }).expect(202);
    expect(await mailed(2)).toEqual([`${NEW}: Confirm your email`, `${NEW}: You already have`]);
    expect(mailbox.mails.filter(({ text }) => text.includes('http'))).toHaveLength(1);
    expect(mailbox.mails[1]!.text).toContain('reset the password');
    expect(await rows()).toEqual(before);
  });

  it('does the same work before the answer for every address: the same queries and one hash', async () => {
    await member(t, ADA, { emailVerifiedAt: new Date() });
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
    // The insert, or a message: both are written to the log of the database.
    const write = /^(INSERT INTO|SELECT 1 FROM) .*$/s;
    expect(created.filter((text) => text.startsWith('INSERT'))).toHaveLength(1);
    expect(found.filter((text) => text.includes('pg_logical_emit_message'))).toHaveLength(1);
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
    await member(t, ADA, { emailVerifiedAt: new Date() });
    for (const email of [NEW, ADA])
      expect(await t.auth.registration.register(form(email) as Record<string, unknown>, { ip: '203.0.113.7' })).toEqual(
        RECEIVED,
      );
    expect(await mailed(2)).toEqual([`${ADA}: You already have`, `${NEW}: Confirm your email`]);
  });
});

describe.each<[string, number, Partial<AuthModuleOptions>]>([
  ['a lock', 423, { features: { lockout: true }, lockout: { maxAttempts: 5 } }],
  ['a limit', 429, { rateLimits: { login: { maxAttempts: 5, ipMaxAttempts: 1e9, accountMaxAttempts: 1e9 } } }],
])('%s on logins, with registrations that conceal existing accounts', (name, refused, protection) => {
  const { t, mailbox } = membersForFile({ ...CONCEALING, ...protection });
  const isLock = name === 'a lock';
  const register = (email: string) => t.http.post('/auth/register').send(form(email)).expect(202);
  const counted = (): Promise<object[]> =>
    t.database.query('SELECT subject, attempts FROM svc_lockouts ORDER BY subject');
  const unverified = 'unverified@example.com';
  beforeEach(async () => {
    await member(t, ADA, { emailVerifiedAt: new Date() });
    await member(t, unverified);
  });

  it.each([4, 5])(
    'does not show by its refusals after %d failures whether an email has an account',
    async (failures) => {
      const answersFor = async (email: string): Promise<object[]> => {
        const answers: Response[] = [];
        const guess = async (password: string) => answers.push(await t.login(email, password));
        for (let i = 0; i < failures; i++) await guess(`wrong ${i}`);
        answers.push(await register(email));
        for (const password of ['wrong', `${PASSWORD}!`, 'wrong']) await guess(password);
        // The seconds that remain may differ by one.
        return answers.map((answer) =>
          JSON.parse(JSON.stringify(shape(answer)).replace(/\d+(?= seconds)|(?<="retry-after":")\d+/g, '')),
        );
      };
      const [free, verified, registered] = [await answersFor(NEW), await answersFor(ADA), await answersFor(unverified)];
      const statuses = [...Array(failures).fill(422), 202, ...(failures === 5 ? [] : [422]), refused, refused, refused];
      expect(free.map((answer) => (answer as Response).status)).toEqual(statuses.slice(0, failures + 4));
      expect(verified).toEqual(free);
      expect(registered).toEqual(free);
    },
  );

  it('counts the correct password of an unverified account as a failure of its spelling', async () => {
    for (let i = 0; i < 5; i++) await t.login(` ${unverified.toUpperCase()}`).expect(422);
    await t.login(unverified).expect(refused);
    expect(await counted()).toEqual(isLock ? [{ subject: `idn:${unverified}`, attempts: 5 }] : []);
  });

  const session = async (email: string): Promise<string> => {
    const [{ id }] = await t.database.query('SELECT id FROM members WHERE email = $1', [email]);
    return (await t.auth.startSession(id)).accessToken;
  };
  const verify = async (): Promise<void> => {
    await t.call('post', '/auth/email/verification-notification', await session(unverified)).expect(202);
    const { pathname, search } = linkIn(await mailbox.to(unverified));
    await t.http
      .get(pathname + search)
      .set('Accept', 'application/json')
      .expect(204);
  };
  const erase = async (): Promise<void> => {
    const token = await session(ADA);
    const proof = await confirmationTokenOf(t, token);
    await t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof).expect(204);
  };

  it.each<[string, string, () => PromiseLike<unknown>]>([
    ['is registered', NEW, () => register(NEW)],
    ['is verified', unverified, verify],
    ['is deleted', ADA, erase],
    [
      'gets another email',
      ADA,
      () => t.database.query("UPDATE members SET email = 'ada@new.example' WHERE email = $1", [ADA]),
    ],
  ])('counts on when the account %s', async (_, email, change) => {
    for (let i = 0; i < 3; i++) await t.login(email, 'wrong').expect(422);
    await change();
    for (const status of [422, 422, refused]) await t.login(email, 'wrong').expect(status);
    expect(await counted()).toEqual(isLock ? [{ subject: `idn:${email}`, attempts: 5 }] : []);
  });

  it('is not ended by a registration, a verification or a deletion', async () => {
    for (const email of [NEW, ADA, unverified]) for (let i = 0; i < 5; i++) await t.login(email, 'wrong').expect(422);
    for (const change of [() => register(NEW), verify, erase]) await change();
    for (const email of [NEW, ADA, unverified]) await t.login(email).expect(refused);
  });

  it.each([ADA, unverified])('of %s ends when its owner changes the password', async (email) => {
    const token = await session(email);
    for (let i = 0; i < 5; i++) await t.login(email, 'wrong').expect(422);
    const password = 'another horse entirely';
    const body = { current_password: PASSWORD, password, password_confirmation: password };
    await t.call('post', '/auth/password', token).send(body).expect(200);
    expect(await counted()).toEqual([]);
  });

  it('leaves no counter when the password is reset', async () => {
    for (let i = 0; i < 5; i++) await t.login(unverified, 'wrong').expect(422);
    await t.http.post('/auth/forgot-password').send({ email: unverified }).expect(200);
    const token = linkIn(await mailbox.to(unverified)).searchParams.get('token');
    const password = 'another horse entirely';
    await t.http
      .post('/auth/reset-password')
      .send({ email: unverified, token, password, password_confirmation: password })
      .expect(200);
    expect(await counted()).toEqual([]);
    // A limit ends with its window.
    await t.login(unverified, password).expect(isLock ? 200 : refused);
  });
});

describe('limits and locks of emails, with registrations that conceal existing accounts', () => {
  it('mail the lock of an account to a verified owner only', async () => {
    const mailer = { send: (mail: Mail) => mailbox.send(mail) };
    const { t, mailbox } = await startMembers({
      ...CONCEALING,
      features: { ...CONCEALING.features, lockout: true },
      lockout: { maxAttempts: 2 },
      rateLimits: UNLIMITED,
      mail: { mailer, notices: ['accountLocked'] },
    });
    await member(t, ADA, { emailVerifiedAt: new Date() });
    await member(t, NEW);
    for (const email of [NEW, 'unknown@example.com', ADA])
      for (const status of [422, 422, 423]) await t.login(email, 'wrong').expect(status);
    expect(await mailbox.nth(1)).toMatchObject({ to: ADA, subject: expect.stringMatching(/locked/i) });
    // All queued mails are sent at this point.
    await t.stop();
    expect(mailbox.mails.filter(({ to }) => to !== ADA)).toEqual([]);
  });
});

/** Provider of the host that does nothing for an email with an account. */
class WithoutImitation extends CompleteProvider {}

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
    await member(t, ADA, { emailVerifiedAt: new Date() });
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
    ['without features.passwordReset', { features: { passwordReset: false } }, /needs features\.passwordReset/],
    [
      'with another identifier',
      { username: 'name', guards: { admin: { username: 'email' } } },
      /needs the identifier "email"/,
    ],
    [
      'with a provider that does no work for an existing account',
      { users: { provider: WithoutImitation } },
      /Implement imitateCreation/,
    ],
    ['with hooks.register', { hooks: { register: async () => null } }, /cannot be combined with hooks\.register/],
  ])('does not start %s', async (_, options, message) => {
    await expect(startMembers({ ...CONCEALING, ...options })).rejects.toThrow(message);
  });
});
