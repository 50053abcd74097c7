import { type AuthHooks, type MailTemplates, PasswordHasher, Registered, type RegistrationRules } from '@svc/auth';
import { Client } from 'pg';
import { claimsOf } from '../support/hosts/app';
import { Mailbox, member, membersForFile } from '../support/hosts/members';
import { Member, PASSWORD } from '../support/hosts/user-entities';

const FORM = { name: 'Ada', email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };
const EVE = { name: 'Eve', email: 'eve@example.com', password: 'another horse, wingless' };
const EVES_FORM = { ...EVE, password_confirmation: EVE.password };

type Register = NonNullable<AuthHooks['register']>;

describe('hooks.register', () => {
  let hook: Register;
  const { t } = membersForFile({
    hooks: { register: (...given) => hook(...given) },
    features: { twoFactor: true },
    // A long time-out, so that no concurrent request is answered 503 on a busy machine.
    storeTimeoutMs: 20_000,
  });
  const register = (body: object = FORM) => t.http.post('/auth/register').send(body);
  const users = () => t.database.getRepository(Member);
  const sessions = () => t.database.query('SELECT 1 FROM svc_sessions');

  it('receives the declared fields, the guard and the hasher, and its new user is signed in', async () => {
    const calls: unknown[] = [];
    hook = async (fields, context) => {
      calls.push([fields, context]);
      const { name, email, password } = fields as Record<string, string>;
      const passwordHash = await context.hash(password!);
      const user = await users().save({ name, email, passwordHash, role: 'trial' });
      // A row that is written twice still counts as new.
      return users().save({ ...user, name: 'Ada L.' });
    };
    const { body } = await register({ ...FORM, role: 'admin' }).expect(200);
    expect(calls).toEqual([
      [
        { name: 'Ada', email: 'ada@example.com', password: PASSWORD },
        { guard: 'api', hash: expect.any(Function) },
      ],
    ]);
    const [row] = await t.database.query('SELECT id, role, name FROM members');
    expect(row).toMatchObject({ role: 'trial', name: 'Ada L.' });
    expect(claimsOf(body.access_token).sub).toBe(row.id);
    await t.http.post('/auth/login').send({ email: FORM.email, password: PASSWORD }).expect(200);
  });

  it('may return null, which reports that the identifier is taken', async () => {
    hook = async () => null;
    const { body } = await register().expect(422);
    expect(body.errors).toEqual({ email: ['This email is taken.'] });
  });

  it.each<[string, () => unknown]>([
    ['an id of no user of this guard', () => ({ id: '00000000-0000-4000-8000-000000000000' })],
    ['an object without an id', () => ({})],
    ['a user that was not saved', () => users().create({ name: 'x', email: 'x@example.com' })],
  ])('signs no user in when it returns %s', async (_, made) => {
    hook = async () => made() as object;
    await register().expect(500);
    expect(await sessions()).toEqual([]);
  });

  it('signs in once when many registrations return one new user', async () => {
    let shared: Promise<Member> | undefined;
    let [waiting, release] = [20, (): void => undefined];
    const all = new Promise<void>((resolve) => (release = resolve));
    hook = async () => {
      // All registrations have started before the user is created.
      if (--waiting === 0) release();
      await all;
      return (shared ??= users().save({ name: 'x', email: FORM.email }));
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => register()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 500)]);
    expect(await sessions()).toHaveLength(1);
  });

  it('may create a user with a second factor, which the login then requires', async () => {
    const enrolled = { twoFactorSecret: 'unreadable', twoFactorConfirmedAt: new Date() };
    hook = ({ email }) => users().save({ name: 'x', email: String(email), ...enrolled });
    const { body, headers } = await register().expect(200);
    expect(body).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: [] });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(await sessions()).toEqual([]);
  });

  it('that throws leaves no session, and its error is not in the answer', async () => {
    hook = async () => Promise.reject(new Error('secret detail'));
    const { text } = await register().expect(500);
    expect(text).not.toContain('secret detail');
    expect(await sessions()).toEqual([]);
  });
});

describe('hooks.tokenClaims', () => {
  let tokenClaims: NonNullable<AuthHooks['tokenClaims']>;
  const { t } = membersForFile({ hooks: { tokenClaims: (...given) => tokenClaims(...given) } });

  it.each<[string, typeof tokenClaims]>([
    ['return a claim that no token can have', () => ({ huge: 1n })],
    ['throw', () => Promise.reject(new Error('secret detail'))],
  ])('that %s do not hide that the account was created', async (_, claims) => {
    tokenClaims = claims;
    const { body } = await t.http.post('/auth/register').send(FORM).expect(201);
    expect(body).toEqual({ registered: true, requires_verification: false });
    tokenClaims = () => ({});
    await t.login(FORM.email).expect(200);
  });
});

describe('hooks.register with hooks.registerRules', () => {
  let hook: Register;
  let rules: RegistrationRules;
  const { t } = membersForFile({ hooks: { register: (...given) => hook(...given), registerRules: () => rules } });
  const register = (body: object = FORM) => t.http.post('/auth/register').send(body);
  const users = () => t.database.getRepository(Member);

  it('receives the fields of the rules only', async () => {
    const given: unknown[] = [];
    rules = {
      email: { email: true },
      password: {},
      nickname: { optional: true, maxLength: 5 },
      age: { type: 'number', check: (value) => (value as number) >= 18 },
      terms: { type: 'boolean', check: (value, fields) => value === true && fields.age !== null },
    };
    hook = async (fields) => {
      given.push(fields);
      return users().save({ name: 'x', email: String(fields.email) });
    };
    const form = { ...FORM, age: 36, terms: true };
    const { body } = await register({ ...form, age: 17, terms: 'yes', nickname: 'longer' }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['nickname', 'age', 'terms']);
    await register({ ...form, age: Number.NaN }).expect(422);
    await register({ ...form, password: 'password', password_confirmation: 'password' }).expect(422);
    expect(given).toEqual([]);
    await register(form).expect(200);
    expect(given).toEqual([{ email: FORM.email, password: PASSWORD, nickname: null, age: 36, terms: true }]);
    await register(form).expect(422, /This email is taken/);
  });

  it.each<[string, RegistrationRules]>([
    ['a password that is not a text', { email: {}, password: { type: 'number' } }],
    ['an optional password', { email: {}, password: { optional: true } }],
    ['an identifier that is not a text', { email: { type: 'number' }, password: {} }],
    ['an optional identifier', { email: { optional: true }, password: {} }],
  ])('answers 500 to rules with %s, because no check would apply to it', async (_, invalidRules) => {
    const given: unknown[] = [];
    rules = invalidRules;
    hook = async (fields) => {
      given.push(fields);
      return users().save({ name: 'x', email: 'x@example.com' });
    };
    await register().expect(500);
    await register({ email: 7, password: 7 }).expect(500);
    await register({}).expect(500);
    expect(given).toEqual([]);
  });

  it('may declare neither a password nor an identifier', async () => {
    rules = { nickname: {} };
    hook = ({ nickname }) => users().save({ name: 'x', email: `${nickname}@example.com` });
    await register({ nickname: 'ada' }).expect(200);
  });
});

describe('hooks.registerRules', () => {
  let rules: RegistrationRules;
  const { t } = membersForFile({ hooks: { registerRules: () => rules } });
  const register = (body: object = FORM) => t.http.post('/auth/register').send(body);

  it('cannot allow a password that is longer than a login accepts', async () => {
    rules = { name: {}, email: {}, password: { maxLength: 1000 } };
    const chosen = (password: string) => register({ ...FORM, password, password_confirmation: password });
    const { body } = await chosen('🔑'.repeat(256)).expect(422);
    expect(body.errors).toEqual({ password: ['The password must not be longer than 255 characters.'] });
    await chosen('🔑'.repeat(255)).expect(200);
    await t.login(FORM.email, '🔑'.repeat(255)).expect(200);
  });

  it('answers 500 when they omit a field that an account requires', async () => {
    rules = { email: {}, password: {} };
    await register().expect(500);
    expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
  });
});

describe('an account that existed before hooks.register', () => {
  let hook: Register;
  const { t, mailbox } = membersForFile({ hooks: { register: (...given) => hook(...given) } });
  let other: Client;
  let id: string;

  beforeAll(async () => {
    other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
  });
  beforeEach(async () => void (id = await member(t, 'victim@example.com')));
  afterAll(() => other.end());

  const users = () => t.database.getRepository(Member);
  const victim = () => users().findOneByOrFail({ id });
  const hash = () => t.app.get(PasswordHasher).hash(EVE.password);

  it.each<[string, Register]>([
    ['unchanged', () => victim()],
    ['by its id alone', async () => ({ id })],
    [
      'changed by the callback',
      async () => users().save({ ...(await victim()), name: 'Eve', passwordHash: await hash() }),
    ],
    [
      'upserted',
      async () => {
        await users().upsert({ id, name: 'Eve', email: 'victim@example.com', passwordHash: await hash() }, ['id']);
        return victim();
      },
    ],
    [
      'while another connection changes it',
      async () => {
        await other.query("UPDATE members SET role = 'seen' WHERE id = $1", [id]);
        return victim();
      },
    ],
    [
      'while it takes the submitted address',
      async () => {
        await other.query('UPDATE members SET email = $2 WHERE id = $1', [id, EVE.email]);
        return victim();
      },
    ],
    ['with the submitted address', async ({ email }) => users().save({ id, email: String(email) })],
    [
      'with all submitted values',
      async ({ name, email }) =>
        users().save({ ...(await victim()), name, email, passwordHash: await hash() } as Partial<Member>),
    ],
    [
      'upserted with the submitted address',
      async ({ email }) => {
        await users().upsert({ id, name: 'Eve', email: String(email), passwordHash: await hash() }, ['id']);
        return victim();
      },
    ],
    [
      'as an object with other values',
      async ({ email }) => users().create({ id, email: String(email), createdAt: new Date(Date.now() + 60_000) }),
    ],
  ])('is never signed in when the callback returns it %s', async (_, register) => {
    hook = register;
    const registered = t.recorded(Registered);
    const { body } = await t.http.post('/auth/register').send(EVES_FORM).expect(500);
    expect(body).toEqual({ message: 'Something went wrong on our side.' });
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    expect(registered).toEqual([]);
    await t.calm();
    expect(mailbox.mails).toEqual([]);
  });

  it('is refused, and so is a new account whose address is not the submitted one', async () => {
    hook = async () => users().save({ name: 'Bob', email: 'bob@example.com' });
    await t.http.post('/auth/register').send(EVES_FORM).expect(500);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('the user that hooks.register created', () => {
  type LinkMail = Parameters<MailTemplates['emailVerification']>[0];
  const seen: LinkMail[] = [];
  const template = (mail: LinkMail) => (seen.push(mail), { subject: 'x', text: mail.url });
  const mailer = new Mailbox();
  let hook: Register;
  const { t } = membersForFile({
    mail: { mailer, templates: { emailVerification: template } },
    hooks: { register: (...given) => hook(...given) },
    features: { twoFactor: true },
  });
  beforeEach(() => {
    mailer.clear();
    seen.length = 0;
  });

  /** Registers, and returns the answer and the user in the event and in the mail. */
  const registerBy = async (register: Register) => {
    hook = register;
    const registered = t.recorded(Registered);
    const { body } = await t.http.post('/auth/register').send(EVES_FORM).expect(200);
    await mailer.nth(1);
    return { body, reported: [registered[0]!.user, seen[0]!.user] };
  };

  it('is reported as its row, and not as the object with the hash', async () => {
    const passwordHash = await t.app.get(PasswordHasher).hash(EVE.password);
    const { reported } = await registerBy(async ({ name, email }) => {
      const saved = await t.database.getRepository(Member).save({ name, email, passwordHash } as Partial<Member>);
      return Object.assign(saved, { role: 'made up' });
    });
    for (const user of reported) {
      expect(user).toBeInstanceOf(Member);
      expect(user).toMatchObject({ email: EVE.email, role: 'customer' });
      expect(user).not.toHaveProperty('passwordHash');
    }
    expect(JSON.stringify(reported)).not.toMatch(/argon2|wingless/);
  });

  it('is reported with its stored second factor, whatever the object contains', async () => {
    const { body, reported } = await registerBy(async ({ email }) => {
      const enrolled = { twoFactorSecret: 'unreadable', twoFactorConfirmedAt: new Date() };
      const { id } = await t.database.getRepository(Member).save({ name: 'Eve', email: String(email), ...enrolled });
      return { id, emailVerifiedAt: new Date() };
    });
    expect(body).toMatchObject({ two_factor: true });
    expect(reported[0]).toMatchObject({ email: EVE.email, emailVerifiedAt: null });
  });
});
