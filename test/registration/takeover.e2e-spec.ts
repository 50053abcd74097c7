import { type AuthHooks, type LinkMail, PasswordHasher, Registered } from '@svc/auth';
import { Client } from 'pg';
import type { TestApp } from '../support/app';
import { Mailbox, member, startMembers } from '../support/members';
import { Member, PASSWORD } from '../support/people';

const FORM = { name: 'Eve', email: 'eve@example.com', password: 'another horse, wingless' };
const SUBMITTED = { ...FORM, password_confirmation: FORM.password };

type Register = NonNullable<AuthHooks['register']>;

describe('an account that was there before hooks.register', () => {
  let t: TestApp;
  let mailbox: Mailbox;
  let other: Client;
  let id: string;
  let hook: Register;

  beforeAll(async () => {
    ({ t, mailbox } = await startMembers({ hooks: { register: (...given) => hook(...given) } }));
    other = new Client({ connectionString: t.databaseUrl });
    await other.connect();
  });
  beforeEach(async () => {
    await t.database.query('TRUNCATE members');
    id = await member(t, 'victim@example.com');
  });
  afterAll(async () => {
    await other.end();
    await t.stop();
  });

  const users = () => t.database.getRepository(Member);
  const victim = () => users().findOneByOrFail({ id });
  const hash = () => t.app.get(PasswordHasher).hash(FORM.password);

  it.each<[string, Register]>([
    ['as it is', () => victim()],
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
      'that somebody else changes meanwhile',
      async () => {
        await other.query("UPDATE members SET role = 'seen' WHERE id = $1", [id]);
        return victim();
      },
    ],
    [
      'that takes the submitted address meanwhile',
      async () => {
        await other.query('UPDATE members SET email = $2 WHERE id = $1', [id, FORM.email]);
        return victim();
      },
    ],
    ['given the submitted address', async ({ email }) => users().save({ id, email: String(email) })],
    [
      'given all that was submitted',
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
      'under an object that says otherwise',
      async ({ email }) => users().create({ id, email: String(email), createdAt: new Date(Date.now() + 60_000) }),
    ],
  ])('is signed in to by nobody where the callback returns it %s', async (_, register) => {
    hook = register;
    const registered = t.recorded(Registered);
    const sent = mailbox.mails.length;
    const { body } = await t.http.post('/auth/register').send(SUBMITTED).expect(500);
    expect(body).toEqual({ message: 'Something went wrong on our side.' });
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
    expect(registered).toEqual([]);
    expect(mailbox.mails).toHaveLength(sent);
  });

  it('is told from one that comes into being at the same moment, under another address', async () => {
    hook = async () => users().save({ name: 'Bob', email: 'bob@example.com' });
    await t.http.post('/auth/register').send(SUBMITTED).expect(500);
    expect(await t.database.query('SELECT 1 FROM svc_sessions')).toEqual([]);
  });
});

describe('what is known of a user that hooks.register made', () => {
  const made = async (register: (t: TestApp, hashed: string) => Register, more: object = {}) => {
    const seen: LinkMail[] = [];
    const mailer = new Mailbox();
    const template = (mail: LinkMail) => (seen.push(mail), { subject: 'x', text: mail.url });
    let hook: Register = async () => null;
    const { t } = await startMembers({
      mail: { mailer, templates: { emailVerification: template } },
      hooks: { register: (...given) => hook(...given) },
      ...more,
    });
    hook = register(t, await t.app.get(PasswordHasher).hash(FORM.password));
    const registered = t.recorded(Registered);
    const { body } = await t.http.post('/auth/register').send(SUBMITTED).expect(200);
    await mailer.nth(1);
    await t.stop();
    return { body, told: [registered[0]!.user, seen[0]!.user] };
  };

  it('is its row, and not the object with the hash', async () => {
    const { told } = await made((t, passwordHash) => async ({ name, email }) => {
      const saved = await t.database.getRepository(Member).save({ name, email, passwordHash } as Partial<Member>);
      return Object.assign(saved, { role: 'made up' });
    });
    for (const user of told) {
      expect(user).toBeInstanceOf(Member);
      expect(user).toMatchObject({ email: FORM.email, role: 'customer' });
      expect(user).not.toHaveProperty('passwordHash');
    }
    expect(JSON.stringify(told)).not.toMatch(/argon2|wingless/);
  });

  it('is its second factor as it is stored, whatever the object says', async () => {
    const { body, told } = await made(
      (t) =>
        async ({ email }) => {
          const { id } = await t.database.getRepository(Member).save({
            name: 'Eve',
            email: String(email),
            twoFactorSecret: 'unreadable',
            twoFactorConfirmedAt: new Date(),
          });
          return { id, emailVerifiedAt: new Date() };
        },
      { features: { twoFactor: true } },
    );
    expect(body).toMatchObject({ two_factor: true });
    expect(told[0]).toMatchObject({ email: FORM.email, emailVerifiedAt: null });
  });
});

describe('an identifier that is taken where the look-up does not see it', () => {
  let t: TestApp;
  beforeAll(async () => ({ t } = await startMembers()));
  beforeEach(() => t.database.query('TRUNCATE members'));
  afterAll(() => t.stop());

  const register = (body: object) => t.http.post('/auth/register').send({ ...SUBMITTED, ...body });
  const TAKEN = { email: ['This email is taken.'] };

  it('is 422 of an account that is marked as deleted', async () => {
    await member(t, FORM.email, { deletedAt: new Date() });
    expect((await register({}).expect(422)).body.errors).toEqual(TAKEN);
  });

  it('is 422 whatever language the database speaks', async () => {
    await member(t, FORM.email, { deletedAt: new Date() });
    await t.database.query(`
      CREATE FUNCTION auf_deutsch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE unique_violation USING MESSAGE = 'doppelter Schlüsselwert verletzt Unique-Constraint »members_email_key«';
      END $$;
      CREATE TRIGGER auf_deutsch BEFORE INSERT ON members FOR EACH ROW EXECUTE FUNCTION auf_deutsch()`);
    expect((await register({}).expect(422)).body.errors).toEqual(TAKEN);
    // The value of another column: no other address would help.
    await register({ email: 'free@example.com' }).expect(500);
    await t.database.query('DROP FUNCTION auf_deutsch CASCADE');
  });

  it('is 422 where an index takes other spellings for the same', async () => {
    await t.database.query('CREATE UNIQUE INDEX folded ON members (lower(email))');
    await t.database.query("INSERT INTO members (name, email) VALUES ('x', 'EVE@example.com')");
    expect((await register({}).expect(422)).body.errors).toEqual(TAKEN);
    await t.database.query('DROP INDEX folded');
  });

  it('is no other unique column`s: that one is the host`s to look after', async () => {
    await t.database.query('CREATE UNIQUE INDEX named ON members (name)');
    await member(t, 'other@example.com', { name: FORM.name });
    await register({}).expect(500);
    await t.database.query('DROP INDEX named');
    await register({}).expect(200);
    await t.login(FORM.email, FORM.password).expect(200);
    await t.login(FORM.email, PASSWORD).expect(422);
  });
});
