import { NestFactory } from '@nestjs/core';
import { AuthModule, type UserProvider } from '@svc/auth';
import { DrizzleUsers } from '@svc/auth/drizzle';
import { isNull, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import {
  type PgTable,
  boolean,
  customType,
  integer,
  numeric,
  pgTable,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { Pool } from 'pg';
import { hostOptions } from '../support/hosts/host.module';
import { createEmptyDatabase } from '../support/stores/database';

const citext = customType<{ data: string }>({ dataType: () => 'citext' });
const account = { email: text().notNull().unique(), passwordHash: text() };

const amounts = pgTable('amounts', { id: numeric().primaryKey(), ...account });
const smalls = pgTable('smalls', { id: smallint().primaryKey(), ...account });
const uuids = pgTable('uuids', { id: uuid().primaryKey(), ...account });
const texts = pgTable('texts', { id: text().primaryKey(), ...account });
const names = pgTable('names', {
  id: integer().primaryKey(),
  login: citext().notNull().unique(),
  passwordHash: text(),
});
const exact = pgTable('exact', { id: integer().primaryKey(), login: text().notNull().unique(), passwordHash: text() });
const numbers = pgTable('numbers', {
  id: integer().primaryKey(),
  login: integer().notNull().unique(),
  passwordHash: text(),
});
const replaced = pgTable('replaced', {
  id: integer().primaryKey(),
  ...account,
  hash: text(),
  twoFactorSecret: text(),
  twoFactorRecoveryCodes: text(),
  twoFactorConfirmedAt: timestamp({ withTimezone: true }),
});

const TABLES = `
  CREATE EXTENSION citext;
  CREATE TABLE amounts (id numeric PRIMARY KEY, email text UNIQUE, "passwordHash" text);
  CREATE TABLE smalls (id smallint PRIMARY KEY, email text UNIQUE, "passwordHash" text);
  CREATE TABLE uuids (id uuid PRIMARY KEY, email text UNIQUE, "passwordHash" text);
  CREATE TABLE texts (id text PRIMARY KEY, email text UNIQUE, "passwordHash" text);
  CREATE TABLE names (id int PRIMARY KEY, login citext UNIQUE, "passwordHash" text);
  CREATE TABLE exact (id int PRIMARY KEY, login text UNIQUE, "passwordHash" text);
  CREATE TABLE numbers (id int PRIMARY KEY, login int UNIQUE, "passwordHash" text);
  CREATE TABLE replaced (id int PRIMARY KEY, email text UNIQUE, "passwordHash" text, hash text, "twoFactorSecret" text,
    "twoFactorRecoveryCodes" text, "twoFactorConfirmedAt" timestamptz);
  INSERT INTO amounts VALUES (7, 'ada@example.com', 'h');
  INSERT INTO smalls VALUES (7, 'ada@example.com', 'h');
  INSERT INTO uuids VALUES ('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'ada@example.com', 'h');
  INSERT INTO texts VALUES ('ada', 'ada@example.com', 'h');
  INSERT INTO names VALUES (7, 'Ada', 'h');
  INSERT INTO exact VALUES (7, 'Ada', 'h');
  INSERT INTO numbers VALUES (7, 7, 'h');
  INSERT INTO replaced VALUES (1, 'ada@example.com', 'old', 'h', 's', 'c', now());`;

describe('users in columns of other types', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let pool: Pool;
  const statements: string[] = [];
  const of = (
    table: PgTable,
    options: object = {},
  ): UserProvider & { findById(id: string): Promise<object | null> } => {
    const database = drizzle(pool, { logger: { logQuery: (statement) => void statements.push(statement) } });
    return new DrizzleUsers(database, table as never, options) as never;
  };
  const refusal = (table: PgTable, options: object = {}): string => {
    try {
      of(table, options);
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
    return '';
  };

  beforeAll(async () => {
    empty = await createEmptyDatabase();
    pool = new Pool({ connectionString: empty.url });
    await pool.query(TABLES);
  });
  afterAll(async () => {
    await pool.end();
    await empty.drop();
  });

  it('finds the users of a numeric id after a look-up by a text that is no number', async () => {
    for (const users of [of(amounts), of(amounts, { ids: 'text' })]) {
      for (const id of ['', 'abc', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa']) {
        expect(await users.findById(id)).toBeNull();
        expect(await users.passwordHashOf(id)).toBeNull();
        expect(await users.savePasswordHash(id, 'next')).toBe(false);
      }
      expect(await users.findById('7')).toEqual({ id: '7', email: 'ada@example.com' });
    }
  });

  it('does not know which users exist if the database cannot read one of the ids', async () => {
    const users = of(amounts, { ids: 'text' });
    expect(await users.existingIds(['7', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'])).toBeNull();
    expect(await users.existingIds(['7', '8'])).toEqual(new Set(['7']));
  });

  it('changes no user by another spelling of the id', async () => {
    const users = of(amounts);
    for (const id of ['07', '7.0', ' 7']) {
      expect(await users.findById(id)).toBeNull();
      expect(await users.savePasswordHash(id, 'other')).toBe(false);
    }
    expect(await users.savePasswordHash('7', 'next')).toBe(true);
  });

  it('finds no user by a number that a smallint does not have', async () => {
    const users = of(smalls);
    for (const id of ['70000', '-32769', '07']) expect(await users.findById(id)).toBeNull();
    expect(await users.existingIds(['7', '70000'])).toEqual(new Set(['7']));
    expect(await users.findById('7')).toEqual({ id: 7, email: 'ada@example.com' });
  });

  it('finds no user by a number outside the column, with the option ids', async () => {
    expect(await of(smalls, { ids: 'integer' }).findById('70000')).toBeNull();
  });

  it('reads the user and the hash of an id of another form with as many statements as those of a user', async () => {
    const ids: [PgTable, string][] = [
      [uuids, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'],
      [smalls, '7'],
      [amounts, '7'],
      [texts, 'ada'],
    ];
    for (const [table, id] of ids) {
      const counted = async (asked: string): Promise<unknown[]> => {
        statements.length = 0;
        return [await of(table).passwordHashOf(asked), await of(table).findById(asked), statements.length];
      };
      expect(await counted(id)).toEqual([expect.any(String), expect.any(Object), 2]);
      expect(await counted('')).toEqual([null, null, 2]);
      expect(await counted('a\0b')).toEqual([null, null, 2]);
    }
  });

  it('shows no hash and no second factor of a field that is switched off or replaced', async () => {
    const off = { twoFactorSecret: null, twoFactorRecoveryCodes: null, twoFactorConfirmedAt: null };
    const fields = { passwordHash: 'hash', ...off };
    expect(await of(replaced, { fields }).findById('1')).toEqual({ id: 1, email: 'ada@example.com' });
    expect(refusal(replaced, { fields, select: ['passwordHash'] })).toMatch(
      /has "passwordHash", which no route may show/,
    );
    expect(refusal(replaced, { fields, select: ['twoFactorSecret'] })).toMatch(/has "twoFactorSecret", which no route/);
  });

  it.each(['emailVerifiedAt', 'deletedAt', 'createdAt', 'twoFactorConfirmedAt'])(
    'refuses a field %s that is no time',
    (role) => {
      const factor = { twoFactorSecret: text(), twoFactorRecoveryCodes: text(), twoFactorConfirmedAt: timestamp() };
      const table = pgTable('flags', { id: integer().primaryKey(), ...account, ...factor, flag: boolean().notNull() });
      expect(refusal(table, { fields: { [role]: 'flag' } })).toBe(
        `AuthConfigError: The table flags has "flag", which is no time. Correct fields.${role}, or the type of the column.`,
      );
    },
  );

  it('counts an email as verified only by a time', () => {
    const table = pgTable('proved', { id: integer().primaryKey(), ...account, emailVerifiedAt: timestamp() });
    const verified = (emailVerifiedAt: unknown) => of(table).isEmailVerified({ id: 1, emailVerifiedAt });
    expect([new Date(), '2026-01-01 00:00:00'].map(verified)).toEqual([true, true]);
    expect([false, true, null, undefined, 0].map(verified)).toEqual([false, false, false, false, false]);
  });

  it('folds an identifier for the counters where the column ignores case', async () => {
    const fields = { identifier: 'login' };
    const users = of(names, { fields });
    expect(await users.findByIdentifier('ADA')).toMatchObject({ user: { login: 'Ada' } });
    expect([users.comparedForm('ADA'), users.comparedForm('ada')]).toEqual(['ada', 'ada']);
    expect(await of(exact, { fields }).findByIdentifier('ADA')).toBeNull();
    expect(of(exact, { fields }).comparedForm('ADA')).toBe('ADA');
  });

  it('finds a user by one spelling of a number only, and by no text that is no number', async () => {
    const users = of(numbers, { fields: { identifier: 'login' } });
    expect(await users.findByIdentifier('7')).toMatchObject({ user: { id: 7 }, passwordHash: 'h' });
    for (const login of ['007', '+7', 'abc', '99999999999', '']) expect(await users.findByIdentifier(login)).toBeNull();
  });

  it('refuses an id that several users can have', () => {
    const table = pgTable('shared', { id: integer().notNull(), ...account });
    expect(refusal(table)).toBe(
      'AuthConfigError: The table shared has id, which several users can have. Declare it .primaryKey() or .unique().',
    );
  });

  const id = integer().primaryKey();
  const columns = { id, email: text().notNull(), passwordHash: text(), deletedAt: timestamp({ withTimezone: true }) };

  it('refuses at the start a feature that needs one account per email or identifier, if several users can have it', async () => {
    const { guards: _guards, ...options } = hostOptions({
      users: { provider: { useFactory: () => of(pgTable('shared', columns)) } },
      features: { passwordReset: true, registration: true },
      passwordReset: { frontendUrl: 'https://app.example.com/reset' },
      mail: { mailer: { send: async () => undefined } as never },
      guards: {},
      pool,
    });
    const start = NestFactory.createApplicationContext(AuthModule.forRoot(options), {
      logger: false,
      abortOnError: false,
    });
    const error = await start.then(
      () => '',
      ({ message }: Error) => message,
    );
    for (const [feature, kind] of [
      ['passwordReset', 'email'],
      ['registration', 'identifier'],
    ])
      expect(error).toContain(
        `features.${feature} needs one account per ${kind}, but the table declares no unique index on shared.email. ` +
          'Declare it .unique(), and put the index into a migration.',
      );
  });

  it('takes a unique index that ignores case, and one on the users who are not deleted', () => {
    const shared = (table: PgTable) =>
      (of(table) as unknown as { sharedColumn(kind: string): string | null }).sharedColumn('email');
    const unique = [
      pgTable('u', { ...columns, email: text().unique() }),
      pgTable('u', columns, (t) => [uniqueIndex().on(t.email)]),
      pgTable('u', columns, (t) => [uniqueIndex().on(sql`lower(${t.email})`)]),
      pgTable('u', columns, (t) => [uniqueIndex().on(t.email).where(isNull(t.deletedAt))]),
    ];
    expect(unique.map(shared)).toEqual([null, null, null, null]);
    expect(
      shared(
        pgTable('u', columns, (t) => [
          uniqueIndex()
            .on(t.email)
            .where(sql`${t.id} > 7`),
        ]),
      ),
    ).toBe('u.email');
    expect(shared(pgTable('u', columns, (t) => [uniqueIndex().on(t.email, t.id)]))).toBe('u.email');
  });
});
