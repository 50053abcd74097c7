import { hashSync } from 'bcryptjs';
import { bcryptVerifier } from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { modulesOf } from '../docs/page-modules';
import { blocksOf } from '../docs/blocks';
import { TestApp } from '../support/hosts/app';
import { MailRecorder, linkIn } from '@svc/auth/testing';

const PAGE = 'docs/recipes/moving-here.md';
const { User } = modulesOf(PAGE, {}, ['src/user.entity.ts'])['src/user.entity.ts'];
const PASSWORD = 'of-the-former-application';

const statements = blocksOf(PAGE).find(({ text }) => text.includes('former_passwords AS'))!.text;
const TABLES = `CREATE TABLE users (id serial PRIMARY KEY, email varchar(255) NOT NULL, password varchar(60) NOT NULL,
    name text NOT NULL, role text DEFAULT 'user');
  INSERT INTO users (name, email, password) VALUES ('Ada', ' Ada@Example.com', '${hashSync(PASSWORD, 4)}');
  ${statements}`;

describe('a host that keeps its table of users, as in the recipe', () => {
  const mailer = new MailRecorder();
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({
      entities: [User],
      tables: TABLES,
      options: {
        users: { entity: User },
        hashing: { memoryCost: 64, timeCost: 1, verifiers: [bcryptVerifier({ rounds: 4 })] },
        features: { registration: true, passwordReset: true },
        passwordReset: { frontendUrl: 'https://app.example.test/reset' },
        mail: { mailer },
      },
    });
  });
  afterAll(() => t.stop());

  const stored = async (email: string): Promise<{ id: number; password: string }> =>
    (await t.database.query('SELECT id, password FROM users WHERE email = $1', [email]))[0];

  it('signs its users in with their passwords, and replaces the hashes in the same column', async () => {
    await t.login('ada@example.com', 'wrong').expect(422);
    const { body } = await t.login('ADA@example.com', PASSWORD).expect(200);
    // The name of the change that bcrypt makes: it ignores what follows 72 bytes.
    expect((await stored('ada@example.com')).password).toMatch(/^72-bytes:\$argon2id\$/);
    await t.login('ada@example.com', PASSWORD).expect(200);
    const { body: seen } = await t.get('/private', body.access_token).expect(200);
    expect(seen.user).toEqual({ id: 1, name: 'Ada', email: 'ada@example.com' });
  });

  it('changes and resets passwords there, and registers users', async () => {
    const { access_token: token } = (await t.login('ada@example.com', PASSWORD).expect(200)).body;
    const change = {
      current_password: PASSWORD,
      password: 'the-second-password',
      password_confirmation: 'the-second-password',
    };
    await t.call('post', '/auth/password', token).send(change).expect(200);
    await t.http.post('/auth/forgot-password').send({ email: 'ada@example.com' }).expect(200);
    const link = linkIn(await mailer.to('ada@example.com'));
    const password = 'the-third-password';
    const reset = {
      token: link.searchParams.get('token'),
      email: 'ada@example.com',
      password,
      password_confirmation: password,
    };
    await t.http.post('/auth/reset-password').send(reset).expect(200);
    await t.login('ada@example.com', password).expect(200);
    await t.http
      .post('/auth/register')
      .send({ name: 'Bob', email: 'bob@example.com', password, password_confirmation: password })
      .expect(200);
    expect(await stored('bob@example.com')).toEqual({ id: 2, password: expect.stringMatching(/^\$argon2id\$/) });
  });
});

describe('an entity whose property of the hash has another name', () => {
  @Entity('users')
  class Customer {
    @PrimaryGeneratedColumn() id!: number;
    @Column('text') email!: string;
    @Column('text') password!: string;
  }

  it('does not start, and the error keeps the column', async () => {
    await expect(TestApp.start({ entities: [Customer], options: { users: { entity: Customer } } })).rejects.toThrow(
      /^.*Customer has no column "passwordHash".* @Column\(\{ name: 'password', type: 'text', nullable: true, select: false \}\) passwordHash\.$/m,
    );
  });
});
