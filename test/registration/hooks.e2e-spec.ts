import { type AuthHooks, type AuthModuleOptions, PasswordHasher, type RegistrationRules } from '@svc/auth';
import { DataSource } from 'typeorm';
import { type TestApp, claimsOf } from '../support/app';
import { startMembers } from '../support/members';
import { Member, PASSWORD } from '../support/people';

const FORM = { name: 'Ada', email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };

describe('a host that registers users itself', () => {
  let t: TestApp;
  afterEach(() => t.stop());

  const start = async (hooks: AuthHooks, options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    ({ t } = await startMembers({ ...options, hooks }));
  };
  const register = (body: object = FORM) => t.http.post('/auth/register').send(body);
  const users = () => t.app.get(DataSource).getRepository(Member);
  const sessions = () => t.database.query('SELECT 1 FROM svc_sessions');

  it('is given the declared fields and the guard, and its new user is signed in', async () => {
    const calls: unknown[] = [];
    await start({
      register: async (fields, context) => {
        calls.push([fields, context]);
        const { name, email, password } = fields as Record<string, string>;
        const passwordHash = await t.app.get(PasswordHasher).hash(password!);
        const user = await users().save({ name, email, passwordHash, role: 'trial' });
        // A new row that is written twice is new all the same.
        return users().save({ ...user, name: 'Ada L.' });
      },
    });
    const { body } = await register({ ...FORM, role: 'admin' }).expect(200);
    expect(calls).toEqual([[{ name: 'Ada', email: 'ada@example.com', password: PASSWORD }, { guard: 'api' }]]);
    const [row] = await t.database.query('SELECT id, role, name FROM members');
    expect(row).toMatchObject({ role: 'trial', name: 'Ada L.' });
    expect(claimsOf(body.access_token).sub).toBe(row.id);
  });

  it('may say in a race that the identifier is taken', async () => {
    await start({ register: async () => null });
    const { body } = await register().expect(422);
    expect(body.errors).toEqual({ email: ['This email is taken.'] });
  });

  it.each<[string, () => unknown]>([
    ['no user of this guard', () => ({ id: '00000000-0000-4000-8000-000000000000' })],
    ['an object without an id', () => ({})],
    ['a user that was not saved', () => users().create({ name: 'x', email: 'x@example.com' })],
  ])('signs nobody in with %s', async (_, made) => {
    await start({ register: async () => made() as object });
    await register().expect(500);
    expect(await sessions()).toEqual([]);
  });

  it('signs one in where many registrations are given one new user', async () => {
    let shared: Promise<Member> | undefined;
    let [waiting, release] = [20, (): void => undefined];
    const all = new Promise<void>((resolve) => (release = resolve));
    await start({
      register: async () => {
        // None begins after the user was created.
        if (--waiting === 0) release();
        await all;
        return (shared ??= users().save({ name: 'x', email: FORM.email }));
      },
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => register()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 500)]);
    expect(await sessions()).toHaveLength(1);
  });

  it('may make a user with a second factor, who is asked for it', async () => {
    const enrolled = { twoFactorSecret: 'unreadable', twoFactorConfirmedAt: new Date() };
    await start(
      { register: ({ email }) => users().save({ name: 'x', email: String(email), ...enrolled }) },
      { features: { twoFactor: true } },
    );
    const { body, headers } = await register().expect(200);
    expect(body).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: [] });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(await sessions()).toEqual([]);
  });

  it('that throws leaves no session, and tells nobody why', async () => {
    await start({ register: async () => Promise.reject(new Error('secret detail')) });
    const { text } = await register().expect(500);
    expect(text).not.toContain('secret detail');
    expect(await sessions()).toEqual([]);
  });

  it('replaces all fields by those of its rules', async () => {
    const given: unknown[] = [];
    await start({
      registerRules: () => ({
        email: { email: true },
        password: {},
        nickname: { optional: true, maxLength: 5 },
        age: { type: 'number', check: (value) => (value as number) >= 18 },
        terms: { type: 'boolean', check: (value, fields) => value === true && fields.age !== null },
      }),
      register: async (fields) => {
        given.push(fields);
        return users().save({ name: 'x', email: String(fields.email) });
      },
    });
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
    ['a password that is no text', { email: {}, password: { type: 'number' } }],
    ['a password that may be left out', { email: {}, password: { optional: true } }],
    ['an identifier that is no text', { email: { type: 'number' }, password: {} }],
    ['an identifier that may be left out', { email: { optional: true }, password: {} }],
  ])('is refused rules with %s: it would be judged by nobody', async (_, rules) => {
    const given: unknown[] = [];
    await start({
      registerRules: () => rules,
      register: async (fields) => {
        given.push(fields);
        return users().save({ name: 'x', email: 'x@example.com' });
      },
    });
    await register().expect(500);
    await register({ email: 7, password: 7 }).expect(500);
    await register({}).expect(500);
    expect(given).toEqual([]);
  });

  it('may do without a password, and without an identifier', async () => {
    await start({
      registerRules: () => ({ nickname: {} }),
      register: ({ nickname }) => users().save({ name: 'x', email: `${nickname}@example.com` }),
    });
    await register({ nickname: 'ada' }).expect(200);
  });

  it('cannot allow a password that is too long to sign in with', async () => {
    await start({
      registerRules: () => ({ name: {}, email: {}, password: { maxLength: 1000 } }),
    });
    const chosen = (password: string) => register({ ...FORM, password, password_confirmation: password });
    const { body } = await chosen('🔑'.repeat(256)).expect(422);
    expect(body.errors).toEqual({ password: ['The password must not be longer than 255 characters.'] });
    await chosen('🔑'.repeat(255)).expect(200);
    await t.login(FORM.email, '🔑'.repeat(255)).expect(200);
  });

  it('is refused rules that leave out what an account is created from', async () => {
    await start({ registerRules: () => ({ email: {}, password: {} }) });
    await register().expect(500);
    expect(await t.database.query('SELECT 1 FROM members')).toEqual([]);
  });
});
