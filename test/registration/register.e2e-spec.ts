import { type AuthModuleOptions, Registered } from '@svc/auth';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { onFastify } from '../support/hosts/adapter';
import { type TestApp, claimsOf } from '../support/hosts/app';
import { type Mailbox, linkIn, member, membersForFile, startMembers } from '../support/hosts/members';
import { rounds } from '../support/runtime/rounds';
import { PASSWORD } from '../support/hosts/user-entities';

const FORM = { name: 'Ada Lovelace', email: 'ada@example.com', password: PASSWORD, password_confirmation: PASSWORD };

describe('POST /register', () => {
  // A long time-out, so that no concurrent request is answered 503 on a busy machine.
  const { t, mailbox } = membersForFile({ storeTimeoutMs: 20_000 });

  const register = (body: object) => t.http.post('/auth/register').send(body);
  const rows = () => t.database.query('SELECT * FROM members');

  it('creates an account, signs it in, and emits an event with the user', async () => {
    const registered = t.recorded(Registered);
    const { body, headers } = await register(FORM).expect(200);
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^[\w-]{71}$/),
      token_type: 'Bearer',
      expires_in: 900,
    });
    expect(headers).toMatchObject({ 'cache-control': 'no-store, private', pragma: 'no-cache' });
    expect(claimsOf(body.access_token)).toMatchObject({ amr: ['pwd'] });
    await t.get('/private', body.access_token).expect(200);
    const [row, ...more] = await rows();
    expect(more).toEqual([]);
    expect(row).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com', role: 'customer' });
    expect(row.password_hash).toMatch(/^\$argon2id\$/);
    expect(registered).toEqual([{ user: expect.objectContaining({ id: row.id, email: 'ada@example.com' }) }]);
    expect(JSON.stringify(registered)).not.toContain('argon2');
    await t.login('ada@example.com').expect(200);
  });

  it('mails a link to verify the address', async () => {
    await register({ ...FORM, email: 'grace@example.com' }).expect(200);
    const mail = await mailbox.to('grace@example.com');
    expect(mail.subject).toMatch(/^Confirm your email address/);
  });

  it('trims name and address, folds the address, and stores the password exactly as typed', async () => {
    const password = ` ${PASSWORD} `;
    const padded = { name: '  Ada ', email: '  Ada@Example.COM ', password, password_confirmation: password };
    await register(padded).expect(200);
    expect(await rows()).toMatchObject([{ name: 'Ada', email: 'ada@example.com' }]);
    await t.login('ada@example.com', password).expect(200);
    await t.login('ada@example.com', PASSWORD).expect(422);
  });

  it.each(['a@b.c', 'x@localhost', 'ada+tag@example.com', "o'hara@example.com", 'дядя@example.com'])(
    'accepts %s as an address',
    async (email) => {
      await register({ ...FORM, email }).expect(200);
    },
  );

  it('answers 422 for a value that a column of the host cannot contain', async () => {
    await t.database.query('ALTER TABLE members ALTER email TYPE varchar(20)');
    const { status, body } = await register({ ...FORM, email: `${'x'.repeat(20)}@example.com` });
    await t.database.query('ALTER TABLE members ALTER email TYPE text');
    expect(status).toBe(422);
    expect(body.errors).toEqual({ name: ['The name field is invalid.'], email: ['The email field is invalid.'] });
    expect(await rows()).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['name', 'email', 'password']],
    ['a list', [], ['name', 'email', 'password']],
    ['no name', { ...FORM, name: ' ' }, ['name']],
    ['a number as the name', { ...FORM, name: 7 }, ['name']],
    ['a name of 256 characters', { ...FORM, name: 'x'.repeat(256) }, ['name']],
    ['a NUL in the name', { ...FORM, name: 'a\0b' }, ['name']],
    ['no address', { ...FORM, email: null }, ['email']],
    ['a list as the address', { ...FORM, email: ['ada@example.com'] }, ['email']],
    ['a text that is not an address', { ...FORM, email: 'ada' }, ['email']],
    ['a NUL in the address', { ...FORM, email: 'a\0b@example.com' }, ['email']],
    ['a quoted line break in the address', { ...FORM, email: '"a\r\nBcc: x"@corp.com' }, ['email']],
    ['half a surrogate pair in the address', { ...FORM, email: 'ada\ud800@example.com' }, ['email']],
    ['an address inside the address', { ...FORM, email: '"evil@gmail.com x"@corp.com' }, ['email']],
    ['an invisible character in the address', { ...FORM, email: 'ada\u034f@example.com' }, ['email']],
    ['a variation selector in the address', { ...FORM, email: 'ada\ufe0f@example.com' }, ['email']],
    ['a blank character in the address', { ...FORM, email: 'ada\u2800@example.com' }, ['email']],
    ['a dot leader in the address', { ...FORM, email: 'ada@example\u2024com' }, ['email']],
    ['an ideographic full stop in the address', { ...FORM, email: 'ada@example\u3002com' }, ['email']],
    ['an address of 256 characters', { ...FORM, email: `${'x'.repeat(244)}@example.com` }, ['email']],
    ['no password', { ...FORM, password: '' }, ['password']],
    ['an object as the password', { ...FORM, password: { length: 20 } }, ['password']],
    ['no confirmation', { ...FORM, password_confirmation: undefined }, ['password']],
    ['a list as the confirmation', { ...FORM, password_confirmation: [PASSWORD] }, ['password']],
    ['another confirmation', { ...FORM, password_confirmation: `${PASSWORD} ` }, ['password']],
    [
      'a NUL in the password',
      { ...FORM, password: `${PASSWORD}\0`, password_confirmation: `${PASSWORD}\0` },
      ['password'],
    ],
    ['the own address', { ...FORM, password: FORM.email, password_confirmation: FORM.email }, ['password']],
  ])('refuses %s by field', async (_, body, fields) => {
    const { body: answer } = await register(body).expect(422);
    expect(Object.keys(answer)).toEqual(['message', 'errors']);
    expect(Object.keys(answer.errors)).toEqual(fields);
    expect(await rows()).toEqual([]);
  });

  it('refuses an address that has an account, in any case, with the same bytes', async () => {
    await member(t, 'ada@example.com');
    const answers = await Promise.all(
      ['ada@example.com', 'ADA@example.com', ' Ada@Example.com '].map((email) => register({ ...FORM, email })),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(422);
      expect(body).toEqual({ message: 'This email is taken.', errors: { email: ['This email is taken.'] } });
    }
    expect(await rows()).toHaveLength(1);
  });

  it('treats a Kelvin sign as k, and a dotless i as another letter than i', async () => {
    for (const email of ['kim@example.com', 'mike@example.com']) await member(t, email);
    await register({ ...FORM, email: '\u212aim@example.com' }).expect(422, /This email is taken/);
    await register({ ...FORM, email: 'm\u0131\u212ae@example.com' }).expect(200);
    expect((await rows()).map(({ email }: { email: string }) => email).toSorted()).toEqual([
      'kim@example.com',
      'mike@example.com',
      'm\u0131ke@example.com',
    ]);
    await t.login('\u212aIM@example.com').expect(200);
  });

  it('writes no other field to the row, and nothing to a prototype', async () => {
    const intruders = {
      id: '00000000-0000-4000-8000-000000000000',
      role: 'admin',
      email_verified_at: '2020-01-01',
      emailVerifiedAt: '2020-01-01',
      deleted_at: null,
      password_hash: 'x',
      passwordHash: 'x',
      two_factor_secret: 'x',
      twoFactorSecret: 'x',
      two_factor_confirmed_at: '2020-01-01',
      twoFactorConfirmedAt: '2020-01-01',
    };
    const reaching = ',"constructor":{"prototype":{"role":"admin"}},"__proto__":{"role":"admin"}}';
    // Fastify refuses a body with prototype fields as a whole.
    const text = JSON.stringify({ ...FORM, ...intruders }).replace(/\}$/, onFastify ? '}' : reaching);
    await t.http.post('/auth/register').type('json').send(text).expect(200);
    const [row] = await rows();
    expect(row).toMatchObject({ role: 'customer', email_verified_at: null, deleted_at: null });
    expect(row).toMatchObject({ two_factor_secret: null, two_factor_confirmed_at: null });
    expect(row.id).not.toBe(intruders.id);
    expect(({} as { role?: string }).role).toBeUndefined();
    await t.login(FORM.email).expect(200);
  });

  it('creates one row for many concurrent requests in many cases, and answers the others 422', async () => {
    for (let round = 0; round < rounds(1); round++) {
      const email = `race${round}@example.com`;
      const spellings = Array.from({ length: 25 }, (_, i) =>
        [...email].map((char, at) => ((i >> (at % 6)) & 1 ? char.toUpperCase() : char)).join(''),
      );
      const answers = await Promise.all(spellings.map((spelling) => register({ ...FORM, email: spelling })));
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([200, ...Array.from({ length: 24 }, () => 422)]);
      expect(await t.database.query('SELECT 1 FROM members WHERE lower(email) = $1', [email])).toHaveLength(1);
    }
  });

  it('answers a NUL in a password with the same message as a reset or a change', async () => {
    const password = `${PASSWORD}\0`;
    const { body } = await register({ ...FORM, password, password_confirmation: password }).expect(422);
    expect(body.message).toBe('The password contains a character that cannot be part of a password.');
  });

  it('is mounted at the default guard only', async () => {
    await t.http.post('/admin/auth/register').send(FORM).expect(404);
  });
});

describe('the answer to a registration', () => {
  it.each<[string, object, object, boolean]>([
    ['nothing is blocked', { registration: { login: false } }, {}, false],
    [
      'the address must be verified first',
      { registration: { login: false }, emailVerification: { blockUnverifiedLogin: true } },
      {},
      true,
    ],
    ['the block applies', { emailVerification: { blockUnverifiedLogin: true } }, {}, true],
  ])('contains no session when %s', async (_, options, more, requires) => {
    const { t } = await startMembers({ ...options, ...more });
    const { body, headers } = await t.http.post('/auth/register').send(FORM).expect(201);
    expect(body).toEqual({ registered: true, requires_verification: requires });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(headers['set-cookie']).toBeUndefined();
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    await t.stop();
  });

  it('sets the cookie in cookie mode', async () => {
    const { t } = await startMembers({ cookieMode: true });
    const { body, headers } = await t.http.post('/auth/register').send(FORM).expect(200);
    expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in']);
    expect(headers['set-cookie']).toMatchObject([expect.stringMatching(/^__Host-refresh=[\w-]{71}; /)]);
    await t.stop();
  });
});

describe('a taken identifier that the look-up does not find', () => {
  const { t } = membersForFile();
  const register = (body: object = {}) => t.http.post('/auth/register').send({ ...FORM, ...body });
  const TAKEN = { email: ['This email is taken.'] };

  it('answers 422 for an account that is marked as deleted', async () => {
    await member(t, FORM.email, { deletedAt: new Date() });
    expect((await register().expect(422)).body.errors).toEqual(TAKEN);
  });

  it('answers 422 in every message language of the database', async () => {
    await member(t, FORM.email, { deletedAt: new Date() });
    await t.database.query(`
      CREATE FUNCTION auf_deutsch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE unique_violation USING MESSAGE = 'doppelter Schlüsselwert verletzt Unique-Constraint »members_email_key«';
      END $$;
      CREATE TRIGGER auf_deutsch BEFORE INSERT ON members FOR EACH ROW EXECUTE FUNCTION auf_deutsch()`);
    expect((await register().expect(422)).body.errors).toEqual(TAKEN);
    // The violated constraint is that of another column, so another address would not help.
    await register({ email: 'free@example.com' }).expect(500);
    await t.database.query('DROP FUNCTION auf_deutsch CASCADE');
  });

  it('answers 422 when an index treats other spellings as equal', async () => {
    await t.database.query('CREATE UNIQUE INDEX folded ON members (lower(email))');
    await t.database.query("INSERT INTO members (name, email) VALUES ('x', 'ADA@example.com')");
    expect((await register().expect(422)).body.errors).toEqual(TAKEN);
    await t.database.query('DROP INDEX folded');
  });

  it('is not assumed for a conflict in another unique column, which the host must handle', async () => {
    await t.database.query('CREATE UNIQUE INDEX named ON members (name)');
    await member(t, 'other@example.com', { name: FORM.name });
    await register().expect(500);
    await t.database.query('DROP INDEX named');
    await register().expect(200);
    await t.login(FORM.email).expect(200);
    await t.login(FORM.email, `${PASSWORD}!`).expect(422);
  });
});

/** An entity without `withAuthColumns`: case-sensitive columns, and a hash that every query selects. */
@Entity('readers')
class Reader {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text')
  name!: string;

  @Column('text', { unique: true })
  email!: string;

  @Column('text', { unique: true, nullable: true })
  handle!: string | null;

  @Column('text', { nullable: true })
  passwordHash!: string | null;
}

const SUBMITTED = { name: 'Ada', password: PASSWORD, password_confirmation: PASSWORD };

function readersForFile(options: Partial<AuthModuleOptions> = {}): { t: TestApp; mailbox: Mailbox } {
  const tables = `CREATE TABLE readers (id int GENERATED ALWAYS AS IDENTITY, name text NOT NULL, email text UNIQUE,
    handle text UNIQUE, "passwordHash" text)`;
  return membersForFile(
    { users: { entity: Reader }, storeTimeoutMs: 20_000, ...options, features: { emailVerification: false } },
    { entities: [Reader], tables },
  );
}

describe('users with columns of the host', () => {
  const { t, mailbox } = readersForFile();
  const register = (body: object) => t.http.post('/auth/register').send({ ...SUBMITTED, ...body });
  const reader = (email: string, passwordHash: string | null = null) =>
    t.database.getRepository(Reader).save({ name: 'x', email, passwordHash });

  it('register once per address in any case, and sign in with the address as typed', async () => {
    await register({ email: 'Ada@Example.com' }).expect(200);
    await register({ email: 'ADA@example.com' }).expect(422);
    expect(await t.database.query('SELECT email FROM readers')).toEqual([{ email: 'ada@example.com' }]);
    for (const email of ['Ada@Example.com', ' ada@example.com ']) await t.login(email).expect(200);
  });

  it('are created once for concurrent registrations of one address in many cases', async () => {
    const spellings = ['ada', 'Ada', 'ADA', 'aDa'].flatMap((name) => Array<string>(5).fill(`${name}@example.com`));
    const answers = await Promise.all(spellings.map((email) => register({ email })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 422)]);
    expect(await t.database.query('SELECT 1 FROM readers')).toHaveLength(1);
  });

  it('that existed before sign in with the stored address, each to their own account', async () => {
    await register({ email: 'ada@example.com' }).expect(200);
    const [{ passwordHash }] = await t.database.query('SELECT "passwordHash" FROM readers');
    const { id } = await reader('Grace@Example.com', passwordHash);
    const { id: twin } = await reader('Ada@Example.com', passwordHash);
    const idOf = async (email: string): Promise<unknown> =>
      (await t.get('/private', (await t.session(email)).access_token).expect(200)).body.userId;
    expect(await idOf('Grace@Example.com')).toBe(String(id));
    expect(await idOf('Ada@Example.com')).toBe(String(twin));
    expect(await idOf('ada@example.com')).not.toBe(String(twin));
    await t.login('grace@example.com').expect(422);
  });

  it('get mails at the stored address, in whatever case it was typed', async () => {
    await register({ email: 'ada@example.com' }).expect(200);
    await t.http.post('/auth/forgot-password').send({ email: 'Ada@Example.com' }).expect(200);
    expect(linkIn(await mailbox.to('ada@example.com')).searchParams.get('email')).toBe('ada@example.com');
  });

  it('are reported without the hash that their entity selects', async () => {
    const registered = t.recorded(Registered);
    await register({ email: 'ada@example.com' }).expect(200);
    expect(registered).toEqual([{ user: expect.any(Reader) }]);
    expect(registered[0]!.user).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
    expect(registered[0]!.user).not.toHaveProperty('passwordHash');
  });
});

describe('users with columns of the host, who sign in with a handle', () => {
  const { t } = readersForFile({ username: 'handle', guards: { admin: { username: 'email' } } });
  const register = (body: object) => t.http.post('/auth/register').send({ ...SUBMITTED, ...body });

  it('are identified by the exact handle', async () => {
    for (const handle of ['', 'a\u200bda', 'ada\ufe0f']) {
      const { body } = await register({ handle }).expect(422);
      expect(Object.keys(body.errors)).toEqual(['handle']);
    }
    await t.database.query('ALTER TABLE readers ALTER email DROP NOT NULL');
    await register({ handle: 'Ada' }).expect(200);
    await register({ handle: 'ada' }).expect(200);
    await register({ handle: 'Ada' }).expect(422);
    await t.http.post('/auth/login').send({ handle: 'ADA', password: PASSWORD }).expect(422);
  });
});

@Entity('by_handle')
class ByHandle {
  @PrimaryColumn('text')
  handle!: string;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  passwordHash!: string | null;
}

describe('users whose primary key is the identifier', () => {
  const { t } = membersForFile(
    {
      username: 'handle',
      guards: { admin: { username: 'email' } },
      users: { entity: ByHandle },
      features: { passwordReset: false, emailVerification: false },
    },
    {
      entities: [ByHandle],
      tables: 'CREATE TABLE by_handle (handle text PRIMARY KEY, name text NOT NULL, "passwordHash" text)',
    },
  );
  const register = (password: string) =>
    t.http
      .post('/auth/register')
      .send({ handle: 'ada', name: 'Ada', password, password_confirmation: password })
      .then(({ status }) => status);
  const login = (password: string) =>
    t.http
      .post('/auth/login')
      .send({ handle: 'ada', password })
      .then(({ status }) => status);

  it('keep their password when another person registers their identifier, also at the same time', async () => {
    const passwords = [PASSWORD, 'another horse entirely', 'a third horse entirely'];
    const answers = await Promise.all(passwords.map(register));
    expect(answers.toSorted()).toEqual([200, 422, 422]);
    expect(await register('a fourth horse entirely')).toBe(422);
    expect(await Promise.all(passwords.map(login))).toEqual(answers);
    expect(await login('a fourth horse entirely')).toBe(422);
  });
});
