import { type AuthModuleOptions, Registered } from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TestApp } from '../support/app';
import { linkIn, type Mailbox, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

/** No `withAuthColumns`: columns with a case, and a hash that every query selects. */
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

const FORM = { name: 'Ada', password: PASSWORD, password_confirmation: PASSWORD };

describe('users with columns of the host`s own', () => {
  let t: TestApp;
  let mailbox: Mailbox;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    ({ t, mailbox } = await startMembers(
      { users: { entity: Reader }, ...options, features: { emailVerification: false } },
      { entities: [Reader] },
    ));
    await t.database.query(
      `CREATE TABLE readers (id int GENERATED ALWAYS AS IDENTITY, name text NOT NULL, email text UNIQUE,
         handle text UNIQUE, "passwordHash" text)`,
    );
  };
  const register = (body: object) => t.http.post('/auth/register').send({ ...FORM, ...body });
  const reader = (email: string, passwordHash: string | null = null) =>
    t.database.getRepository(Reader).save({ name: 'x', email, passwordHash });
  afterEach(() => t.stop());

  it('register with one address once, in whatever case, and sign in as they typed it', async () => {
    await start();
    await register({ email: 'Ada@Example.com' }).expect(200);
    await register({ email: 'ADA@example.com' }).expect(422);
    expect(await t.database.query('SELECT email FROM readers')).toEqual([{ email: 'ada@example.com' }]);
    for (const email of ['Ada@Example.com', ' ada@example.com ']) await t.login(email).expect(200);
  });

  it('of many at once, in many cases, are one', async () => {
    await start();
    const spellings = ['ada', 'Ada', 'ADA', 'aDa'].flatMap((name) => Array<string>(5).fill(`${name}@example.com`));
    const answers = await Promise.all(spellings.map((email) => register({ email })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 422)]);
    expect(await t.database.query('SELECT 1 FROM readers')).toHaveLength(1);
  });

  it('that were there before sign in with the address as it is stored, each to the own account', async () => {
    await start();
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

  it('are mailed at the address that is stored, however it was typed', async () => {
    await start();
    await register({ email: 'ada@example.com' }).expect(200);
    await t.http.post('/auth/forgot-password').send({ email: 'Ada@Example.com' }).expect(200);
    expect(linkIn(await mailbox.to('ada@example.com')).searchParams.get('email')).toBe('ada@example.com');
  });

  it('are told of without the hash that their entity selects', async () => {
    await start();
    const registered = t.recorded(Registered);
    await register({ email: 'ada@example.com' }).expect(200);
    expect(registered).toEqual([{ user: expect.any(Reader) }]);
    expect(registered[0]!.user).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
    expect(registered[0]!.user).not.toHaveProperty('passwordHash');
  });

  it('may be known by a handle, to the letter', async () => {
    await start({ username: 'handle', guards: { admin: { username: 'email' } } });
    const { body } = await register({ handle: '' }).expect(422);
    expect(Object.keys(body.errors)).toEqual(['handle']);
    await t.database.query('ALTER TABLE readers ALTER email DROP NOT NULL');
    await register({ handle: 'Ada' }).expect(200);
    await register({ handle: 'ada' }).expect(200);
    await register({ handle: 'Ada' }).expect(422);
    await t.http.post('/auth/login').send({ handle: 'ADA', password: PASSWORD }).expect(422);
  });
});
