import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Auth, AuthModule, UserProvider, migrateAuth } from '@svc/auth';
import { DrizzleUsers, type UserOf } from '@svc/auth/drizzle';
import { userProviderContract } from '@svc/auth/testing';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigserial, integer, pgTable, primaryKey, serial, text, timestamp, uuid, varchar } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';
import { hostOptions } from '../support/hosts/host.module';
import { createEmptyDatabase } from '../support/stores/database';

const at = (name: string) => timestamp(name, { withTimezone: true });

/** A table with each column that the provider finds by its name, and one of the host. */
const people = pgTable('people', {
  id: uuid().primaryKey().defaultRandom(),
  email: text().notNull().unique(),
  name: varchar({ length: 255 }).notNull(),
  passwordHash: text('password_hash'),
  emailVerifiedAt: at('email_verified_at'),
  twoFactorSecret: text('two_factor_secret'),
  twoFactorRecoveryCodes: text('two_factor_recovery_codes'),
  twoFactorConfirmedAt: at('two_factor_confirmed_at'),
  createdAt: at('created_at').notNull().defaultNow(),
  deletedAt: at('deleted_at'),
  role: text().notNull(),
});

/** A table with other names, numbers as ids, and times that Drizzle reads as texts. */
const members = pgTable('members', {
  no: serial().primaryKey(),
  login: text().notNull().unique(),
  mail: text().unique(),
  hash: text(),
  proved: timestamp({ withTimezone: true, mode: 'string' }),
  secret: text(),
  codes: text(),
  enabled: timestamp({ withTimezone: true, mode: 'string' }),
});

const plain = pgTable('plain', { id: bigserial({ mode: 'bigint' }).primaryKey(), email: text(), passwordHash: text() });

const TABLES = `
  CREATE TABLE people (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), email text NOT NULL UNIQUE, name varchar(255) NOT NULL,
    password_hash text, email_verified_at timestamptz, two_factor_secret text, two_factor_recovery_codes text,
    two_factor_confirmed_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz,
    role text NOT NULL);
  CREATE UNIQUE INDEX people_byron ON people (name) WHERE name = 'Byron';
  CREATE TABLE members (no serial PRIMARY KEY, login text NOT NULL UNIQUE, mail text UNIQUE, hash text, proved timestamptz,
    secret text, codes text, enabled timestamptz);
  CREATE TABLE plain (id bigserial PRIMARY KEY, email text, "passwordHash" text);`;

type Database = ReturnType<typeof drizzle>;

const peopleOf = (database: Database) =>
  new DrizzleUsers(database, people, {
    fields: { createdAt: 'createdAt' },
    select: ['name'],
    newUser: () => ({ role: 'reader' }),
  });

const FIELDS = {
  id: 'no',
  identifier: 'login',
  email: 'mail',
  passwordHash: 'hash',
  emailVerifiedAt: 'proved',
  twoFactorSecret: 'secret',
  twoFactorRecoveryCodes: 'codes',
  twoFactorConfirmedAt: 'enabled',
} as const;

const membersOf = (database: Database) =>
  new DrizzleUsers(database, members, { fields: FIELDS, newUser: ({ identifier }) => ({ mail: identifier }) });

describe('users in a table of Drizzle', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let pool: Pool;
  let database: Database;
  let app: INestApplicationContext;
  /** Drizzle on an address where no PostgreSQL listens. */
  const nowhere = (): Database => drizzle('postgres://127.0.0.1:1/none');

  beforeAll(async () => {
    empty = await createEmptyDatabase();
    pool = new Pool({ connectionString: empty.url, max: 12 });
    database = drizzle(pool);
    await migrateAuth(pool);
    await pool.query(TABLES);
    const { guards: _guards, ...options } = hostOptions({
      users: { provider: { useFactory: () => peopleOf(database) } },
      guards: {},
      pool,
    });
    const module = AuthModule.forRoot({
      ...options,
      guards: {
        members: {
          path: 'members/auth',
          username: 'login',
          audience: 'https://members.example.com',
          users: { provider: { useFactory: () => membersOf(database) } },
        },
      },
    });
    app = await NestFactory.createApplicationContext(module, { logger: ['error'], abortOnError: false });
  });
  afterAll(async () => {
    await app?.close();
    await pool.end();
    await empty.drop();
  });

  describe.each([
    ['with the names of the defaults and UUIDs', undefined, peopleOf],
    ['with other names, numbers as ids and times as texts', 'members', membersOf],
  ])('%s', (_, guard, of) => {
    const contract = userProviderContract({
      app: () => app,
      guard,
      provider: () => of(database) as UserProvider,
      another: () => of(database) as UserProvider,
      unreachable: () => of(nowhere()) as UserProvider,
      insert: async ({ identifier, passwordHash, name }) => {
        const user = await of(database).create({ identifier, passwordHash, name });
        return (of(database) as UserProvider).idOf(user!);
      },
    });
    it.each(contract)('keeps the contract: $name', async ({ run }) => {
      expect(['kept', 'not implemented']).toContain(await run());
    });
  });

  const added = async (email: string, name = 'Ada') => {
    const user = await peopleOf(database).create({ identifier: email, passwordHash: 'h', name });
    return user!.id;
  };

  it('has the parts of the port whose columns exist', () => {
    const parts = ['currentMark', 'markEmailVerified', 'changeIdentifier', 'secondFactorOf', 'changeEmail'] as const;
    const offered = (users: object) => parts.filter((part) => (users as UserProvider).offers(part));
    expect(offered(peopleOf(database))).toEqual(['currentMark', 'markEmailVerified', 'secondFactorOf', 'changeEmail']);
    expect(offered(membersOf(database))).toEqual([
      'markEmailVerified',
      'changeIdentifier',
      'secondFactorOf',
      'changeEmail',
    ]);
    expect(offered(new DrizzleUsers(database, plain))).toEqual(['changeEmail']);
  });

  it('shows the selected columns, and those that the library reads, and never a hash', async () => {
    const id = await added('shown@example.com');
    const user: UserOf<ReturnType<typeof peopleOf>> | null = await peopleOf(database).findById(id);
    expect(user).toEqual({ id, email: 'shown@example.com', emailVerifiedAt: null, name: 'Ada' });
    const { rows } = await pool.query('SELECT role FROM people WHERE id = $1', [id]);
    expect(rows).toEqual([{ role: 'reader' }]);
  });

  it('counts a user as new that was dated with a Date in the millisecond of the mark', async () => {
    const users = peopleOf(database) as UserProvider;
    const mark = await users.currentMark!();
    const id = await added('dated@example.com');
    // A Date has no microseconds.
    await pool.query('UPDATE people SET created_at = $2 WHERE id = $1', [id, new Date(mark).toISOString()]);
    expect(await users.wasCreatedSince!(id, mark)).toBe(true);
  });

  it('does not find a user with a date of deletion, who keeps the email and the data', async () => {
    const users = peopleOf(database);
    const id = await added('gone@example.com');
    await pool.query('UPDATE people SET deleted_at = now() WHERE id = $1', [id]);
    expect(await users.findById(id)).toBeNull();
    expect(await users.findByIdentifier('gone@example.com')).toBeNull();
    expect(await users.passwordHashOf(id)).toBeNull();
    expect(await users.savePasswordHash(id, 'next')).toBe(false);
    expect(await users.create({ identifier: 'gone@example.com', passwordHash: 'h', name: 'Eve' })).toBeNull();
    expect(await users.existingIds([id])).toEqual(new Set([id]));
  });

  it('creates an account in the transaction of the library, and a taken email does not end it', async () => {
    const users = peopleOf(database);
    await added('taken@example.com');
    const account = (identifier: string, name = 'Ada') => ({ identifier, passwordHash: null, name });
    const undo = new Error('undo');
    const auth = app.get(Auth);
    const work = auth.transaction(async (manager) => {
      expect(await users.create(account('taken@example.com'), manager)).toBeNull();
      expect(await users.create(account('new@example.com'), manager)).toMatchObject({ id: expect.any(String) });
      await users.imitateCreation('', manager);
      throw undo;
    });
    await expect(work).rejects.toBe(undo);
    expect(await users.findByIdentifier('new@example.com')).toBeNull();
  });

  it('throws for a conflict on another column than the identifier, with and without a transaction', async () => {
    const users = peopleOf(database);
    await added('byron@example.com', 'Byron');
    const other = { identifier: 'other@example.com', passwordHash: null, name: 'Byron' };
    await expect(users.create(other)).rejects.toMatchObject({ cause: { code: '23505' } });
    const within = app.get(Auth).transaction((manager) => users.create(other, manager));
    await expect(within).rejects.toMatchObject({ code: '23505' });
  });

  it('gives the error of a value that is too long the code of PostgreSQL, by which the registration names the field', async () => {
    const long = { identifier: 'long@example.com', passwordHash: null, name: 'x'.repeat(256) };
    await expect(peopleOf(database).create(long)).rejects.toMatchObject({ code: '22001' });
  });

  it('writes on the connection of a transaction that Drizzle has begun on a client of the pool', async () => {
    const client = await pool.connect();
    try {
      const users = peopleOf(drizzle(client) as never);
      await client.query('BEGIN');
      const user = await users.create({ identifier: 'host@example.com', passwordHash: 'h', name: 'Ada' });
      await app.get(Auth).within(client, () => app.get(Auth).revokeAll(user!.id));
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
    expect(await peopleOf(database).findByIdentifier('host@example.com')).toBeNull();
  });

  it('refuses a table and options that do not fit, and names the correction', () => {
    const loose = pgTable('loose', {
      id: integer().primaryKey(),
      email: text(),
      passwordHash: text(),
      createdAt: timestamp(),
    });
    const [id, tenant] = [uuid().notNull(), text().notNull()];
    const shared = { tenant, email: text(), passwordHash: text() };
    const inKey = pgTable('in_key', { id, ...shared }, (t) => [primaryKey({ columns: [t.tenant, t.id] })]);
    const unique = pgTable('own_id', { id: uuid().notNull().unique(), ...shared }, (t) => [
      primaryKey({ columns: [t.tenant, t.id] }),
    ]);
    const refusal = (make: () => unknown): string => {
      try {
        make();
      } catch (error) {
        return `${(error as Error).name}: ${(error as Error).message}`;
      }
      return '';
    };
    expect(refusal(() => new DrizzleUsers(database, members))).toBe(
      'AuthConfigError: The table members has no field "id". Add it, or name the field that it has: fields: { id: \'…\' }.',
    );
    expect(refusal(() => new DrizzleUsers(database, plain, { fields: { name: 'nick' as never } }))).toMatch(
      /^AuthConfigError: The table plain has no field "nick"\. Correct fields\.name\.$/,
    );
    expect(refusal(() => new DrizzleUsers(database, plain, { select: ['passwordHash'] }))).toMatch(
      /select of The table plain has "passwordHash", which no route may show/,
    );
    expect(refusal(() => new DrizzleUsers(database, people, { fields: { twoFactorSecret: null } }))).toMatch(
      /The table people has a part of the second factor only\. Add twoFactorSecret\.$/,
    );
    expect(refusal(() => new DrizzleUsers(database, inKey))).toMatch(
      /The table in_key has id, which several users can have\. Declare it \.primaryKey\(\) or \.unique\(\)\.$/,
    );
    expect(refusal(() => new DrizzleUsers(database, unique))).toBe('');
    expect(refusal(() => new DrizzleUsers(database, loose, { fields: { createdAt: 'createdAt' } }))).toMatch(
      /The table loose has createdAt without a time zone\. Set withTimezone: true\.$/,
    );
  });

  it('takes the ids of a bigint as texts', async () => {
    const users = new DrizzleUsers(database, plain);
    const user = await users.create({ identifier: 'big@example.com', passwordHash: 'h', name: 'Ada' });
    expect(user).toEqual({ id: 1n, email: 'big@example.com' });
    expect(users.idOf(user!)).toBe('1');
    expect(await users.findById('1')).toEqual(user);
    for (const id of ['01', ' 1', '9223372036854775808', '1.0']) expect(await users.findById(id)).toBeNull();
  });
});
