import { NestFactory } from '@nestjs/core';
import { AuthModule, type UserProvider, migrateAuth } from '@svc/auth';
import { PrismaUsers } from '@svc/auth/prisma';
import { Pool } from 'pg';
import { hostOptions } from '../support/hosts/host.module';
import { createEmptyDatabase } from '../support/stores/database';

type Row = Record<string, unknown>;
type Where = Record<string, unknown>;

/** An error of a query as Prisma 7 throws it. */
const refused = (code: string, originalCode?: string): Error =>
  Object.assign(new Error(code), { code, meta: { driverAdapterError: { cause: { originalCode } } } });

const CODES: Readonly<Record<string, string>> = { '22P02': 'P2007', '22003': 'P2020', '23505': 'P2002' };

/**
 * The members of a generated client that the provider calls, on PostgreSQL. As Prisma does, it joins the calls of `findUnique` of one
 * tick in one statement, and fails for a value that an enum does not have.
 */
function clientOf(pool: Pool, table: string, types: Record<string, string>) {
  const statements: string[] = [];
  const query = async (text: string, params: unknown[]): Promise<{ rows: Row[]; rowCount: number | null }> => {
    statements.push(text);
    try {
      return await pool.query(text, params);
    } catch (error) {
      const { code } = error as { code: string };
      throw CODES[code] ? refused(CODES[code], code) : error;
    }
  };
  const condition = (where: Where, params: unknown[]): string =>
    Object.entries(where)
      .map(([name, value]) => {
        const { in: list } = (value ?? {}) as { in?: unknown[] };
        if (value === null) return `"${name}" IS NULL`;
        if (!list) return `"${name}" = $${params.push(value)}`;
        return `"${name}" IN (${list.map((one) => `$${params.push(one)}`).join()})`;
      })
      .join(' AND ');
  const find = async (wheres: Where[], select: object): Promise<Row[]> => {
    const params: unknown[] = [];
    const names = [...new Set([...Object.keys(select), 'id'])].map((name) => `"${name}"`).join();
    const or = wheres.map((where) => `(${condition(where, params)})`).join(' OR ');
    const { rows } = await query(`SELECT ${names} FROM "${table}" WHERE ${or}`, params);
    if (rows.some(({ role }) => role === 'UNKNOWN')) throw refused('P2023');
    return rows;
  };
  let batch: { where: Where; resolve: (row: Row | null) => void; reject: (error: unknown) => void }[] = [];
  const flush = async (select: object): Promise<void> => {
    const calls = batch;
    batch = [];
    try {
      const rows = await find(
        calls.map(({ where }) => where),
        select,
      );
      for (const { where, resolve } of calls) resolve(rows.find(({ id }) => String(id) === String(where.id)) ?? null);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };
  const user = {
    $name: 'User',
    fields: Object.fromEntries(Object.entries(types).map(([name, typeName]) => [name, { typeName }])),
    findUnique: ({ where, select }: { where: Where; select: object }) =>
      new Promise<Row | null>((resolve, reject) => {
        if (batch.push({ where, resolve, reject }) === 1) setImmediate(() => void flush(select));
      }),
    findMany: ({ where, select }: { where: Where; select: object }) => find([where], select),
    findFirst: async ({ where, select }: { where: Where; select: object }) => (await find([where], select))[0] ?? null,
    updateMany: async ({ where, data }: { where: Where; data: Row }) => {
      const params = Object.values(data);
      const set = Object.keys(data).map((name, i) => `"${name}" = $${i + 1}`);
      const { rowCount } = await query(`UPDATE "${table}" SET ${set.join()} WHERE ${condition(where, params)}`, params);
      return { count: rowCount ?? 0 };
    },
    create: async () => ({}),
  };
  const models = { User: { dbName: table, fields: Object.keys(types).map((name) => ({ name })) } };
  const $queryRawUnsafe = async (text: string, ...params: unknown[]) => (await query(text, params)).rows;
  return { statements, client: { user, $queryRawUnsafe, _runtimeDataModel: { models } } };
}

const TABLES = `
  CREATE EXTENSION citext;
  CREATE TABLE texts (id text PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text, role text NOT NULL DEFAULT 'READER');
  CREATE TABLE uuids (id uuid PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text);
  CREATE TABLE smalls (id smallint PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text);
  CREATE TABLE names (id int PRIMARY KEY, login citext NOT NULL UNIQUE, "passwordHash" text);
  CREATE TABLE exact (id int PRIMARY KEY, login text NOT NULL UNIQUE, "passwordHash" text);
  CREATE TABLE dated (id int PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text, "createdAt" timestamptz DEFAULT now());
  CREATE TABLE local (id int PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text, "createdAt" timestamp(3) DEFAULT now());
  CREATE TABLE shared (id int PRIMARY KEY, email text NOT NULL, "passwordHash" text);
  CREATE INDEX ON shared (email);
  CREATE UNIQUE INDEX ON shared (email) WHERE id > 7;
  CREATE TABLE keyless (id int NOT NULL, email text NOT NULL UNIQUE, "passwordHash" text);
  CREATE TABLE lower (id int PRIMARY KEY, email text NOT NULL, "passwordHash" text);
  CREATE UNIQUE INDEX ON lower (lower(email));
  CREATE TABLE alive (id int PRIMARY KEY, email text NOT NULL, "passwordHash" text, "deletedAt" timestamptz);
  CREATE UNIQUE INDEX ON alive (email) WHERE "deletedAt" IS NULL;
  CREATE TABLE folded (id citext PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text);
  INSERT INTO texts (id, email, "passwordHash", role) VALUES ('c1', 'ada@example.com', 'h', 'READER'), ('c2', 'eve@example.com', 'h', 'UNKNOWN');
  INSERT INTO uuids VALUES ('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'ada@example.com', 'h');
  INSERT INTO smalls VALUES (7, 'ada@example.com', 'h');
  INSERT INTO names VALUES (7, 'Ada', 'h');
  INSERT INTO exact VALUES (7, 'Ada', 'h');`;

const UUID = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const TEXTS = { id: 'String', email: 'String', passwordHash: 'String' };
const NUMBERS = { ...TEXTS, id: 'Int' };
const LOGINS = { id: 'Int', login: 'String', passwordHash: 'String' };

describe('users of a client of Prisma', () => {
  let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let pool: Pool;
  const on = (table: string, types: Record<string, string>, options: object = {}, connections = pool) => {
    const { client, statements } = clientOf(connections, table, types);
    return { users: new PrismaUsers(client, options as never) as unknown as UserProvider, statements, client };
  };
  const of = (...args: Parameters<typeof on>): UserProvider => on(...args).users;

  beforeAll(async () => {
    empty = await createEmptyDatabase();
    pool = new Pool({ connectionString: empty.url });
    await pool.query(TABLES);
  });
  afterAll(async () => {
    await pool.end();
    await empty.drop();
  });

  it('finds the users of ids that are texts after a row that Prisma cannot read', async () => {
    const users = of('texts', { ...TEXTS, role: 'Role' });
    await expect(users.findById('c2')).rejects.toMatchObject({ code: 'P2023' });
    expect(await users.findById('c1')).toMatchObject({ id: 'c1' });
    expect(await users.existingIds(['c1', 'c2'])).toEqual(new Set(['c1', 'c2']));
    expect(await users.savePasswordHash('c1', 'h')).toBe(true);
  });

  it('finds a user in the moment in which another row cannot be read', async () => {
    const users = of('texts', { ...TEXTS, role: 'Role' });
    const [ada, eve] = await Promise.allSettled([users.findById('c1'), users.findById('c2')]);
    expect(ada).toMatchObject({ status: 'fulfilled', value: { id: 'c1' } });
    expect(eve).toMatchObject({ status: 'rejected', reason: { code: 'P2023' } });
  });

  it('finds a user by a UUID in the moment in which another id is none', async () => {
    const users = of('uuids', TEXTS);
    const found = await Promise.all([UUID, 'not-an-id', '', UUID.toUpperCase()].map((id) => users.findById(id)));
    expect(found).toEqual([{ id: UUID, email: 'ada@example.com' }, null, null, null]);
  });

  it('changes no user by another spelling of a UUID, also at first', async () => {
    expect(await of('uuids', TEXTS).savePasswordHash(UUID.toUpperCase(), 'x')).toBe(false);
    expect(await of('uuids', TEXTS).savePasswordHash(UUID, 'h')).toBe(true);
  });

  it('asks the database about the columns once, and again after a failure', async () => {
    const { client, statements } = clientOf(pool, 'later', TEXTS);
    const users = new PrismaUsers(client) as unknown as UserProvider;
    await expect(users.findById(UUID)).rejects.toThrow();
    await pool.query('CREATE TABLE later (id uuid PRIMARY KEY, email text NOT NULL UNIQUE, "passwordHash" text)');
    expect(await Promise.all([users.findById(UUID), users.findById('x')])).toEqual([null, null]);
    expect(await users.findById(UUID)).toBeNull();
    expect(statements.filter((text) => text.includes('pg_attribute'))).toHaveLength(2);
  });

  it('finds no user by a number that a smallint does not have', async () => {
    const users = of('smalls', NUMBERS);
    expect(await users.findById('70000')).toBeNull();
    expect(await users.existingIds(['7', '70000'])).toEqual(new Set(['7']));
    expect(await of('smalls', NUMBERS, { ids: 'integer' }).findById('70000')).toBeNull();
    expect(await of('smalls', NUMBERS, { ids: 'integer' }).existingIds(['7', '70000'])).toBeNull();
    expect(await users.findById('7')).toMatchObject({ id: 7 });
  });

  it('reads the user and the hash of an id of another form with as many statements as those of a user', async () => {
    for (const [table, types, id] of [['uuids', TEXTS, UUID] as const, ['smalls', NUMBERS, '7'] as const]) {
      const { users, statements } = on(table, types);
      await users.findById(id);
      const counted = async (asked: string): Promise<unknown[]> => {
        statements.length = 0;
        return [await users.passwordHashOf(asked), await users.findById(asked), statements.length];
      };
      expect(await counted(id)).toEqual(['h', expect.any(Object), 2]);
      expect(await counted('')).toEqual([null, null, 2]);
    }
  });

  it('folds an identifier for the counters where the column ignores case', async () => {
    const fields = { identifier: 'login' };
    const [folded, exact] = [of('names', LOGINS, { fields }), of('exact', LOGINS, { fields })];
    expect(await folded.findByIdentifier('ADA')).toMatchObject({ user: { login: 'Ada' } });
    expect([folded.comparedForm('ADA'), folded.comparedForm('ada')]).toEqual(['ada', 'ada']);
    expect(await exact.findByIdentifier('ADA')).toBeNull();
    expect(exact.comparedForm('ADA')).toBe('ADA');
  });

  it('counts no older user as new, in any time zone and form of dates of the connections', async () => {
    const options = '-c TimeZone=Europe/Berlin -c DateStyle=German';
    const berlin = new Pool({ connectionString: empty.url, options, max: 1 });
    try {
      const users = of('dated', { ...NUMBERS, createdAt: 'DateTime' }, { fields: { createdAt: 'createdAt' } }, berlin);
      const mark = (await users.currentMark!())!;
      expect(mark).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const add = `INSERT INTO dated (id, email, "createdAt") VALUES ($1, $2, $3::timestamptz + $4::interval)`;
      await berlin.query(add, [1, 'before@example.com', mark, '-1 microsecond']);
      await berlin.query(add, [2, 'at@example.com', mark, '0']);
      await berlin.query(add, [3, 'after@example.com', mark, '1 microsecond']);
      expect(await Promise.all(['1', '2', '3', '4', 'x'].map((id) => users.wasCreatedSince!(id, mark)))).toEqual([
        false,
        true,
        true,
        false,
        false,
      ]);
    } finally {
      await berlin.end();
    }
  });

  it.each(['dated', 'local'])(
    'counts a user as new that was dated with a Date in the millisecond of the mark: %s',
    async (table) => {
      const utc = new Pool({ connectionString: empty.url, options: '-c TimeZone=UTC', max: 1 });
      try {
        const users = of(table, { ...NUMBERS, createdAt: 'DateTime' }, { fields: { createdAt: 'createdAt' } }, utc);
        const mark = (await users.currentMark!())!;
        // A Date has no microseconds.
        const add = `INSERT INTO ${table} (id, email, "createdAt") VALUES (9, 'new@example.com', $1)`;
        await utc.query(add, [new Date(mark).toISOString()]);
        expect(await users.wasCreatedSince!('9', mark)).toBe(true);
      } finally {
        await utc.end();
      }
    },
  );

  it('refuses columns that do not fit, and names the correction', async () => {
    const refusal = async (table: string, types: Record<string, string>, options: object = {}): Promise<string> => {
      try {
        await of(table, types, options).findByIdentifier('ada@example.com');
      } catch (error) {
        return `${(error as Error).name}: ${(error as Error).message}`;
      }
      return '';
    };
    expect(await refusal('shared', NUMBERS)).toBe(
      'AuthConfigError: The model User has email, which several users can have. Give it @unique, and the table the index.',
    );
    expect(await refusal('keyless', NUMBERS)).toMatch(/User has id, which several users can have/);
    expect(await refusal('folded', TEXTS)).toBe(
      'AuthConfigError: The model User has an id of the type citext, which reads several texts as one id. Use uuid, text or a whole number.',
    );
    expect(await refusal('texts', { ...TEXTS, id: 'Decimal' })).toMatch(
      /has "id" of the type Decimal\. Use String, Int or BigInt/,
    );
    expect(await refusal('exact', { ...LOGINS, login: 'Int' }, { fields: { identifier: 'login' } })).toMatch(
      /has "login" of the type Int\. Use String/,
    );
    expect(await refusal('texts', { ...TEXTS, emailVerifiedAt: 'Boolean' })).toMatch(
      /The model User has "emailVerifiedAt", which is no time\. Correct fields\.emailVerifiedAt/,
    );
    expect(await refusal('lower', NUMBERS)).toBe('');
    expect(await refusal('alive', { ...NUMBERS, deletedAt: 'DateTime' })).toBe('');
    expect(await refusal('alive', NUMBERS)).toMatch(/several users can have/);
  });

  it('stops the start of an application whose columns do not fit', async () => {
    await migrateAuth(pool);
    const { guards: _guards, ...options } = hostOptions({
      users: { provider: { useFactory: () => of('shared', NUMBERS) } },
      guards: {},
      pool,
    });
    const start = NestFactory.createApplicationContext(AuthModule.forRoot(options), {
      logger: false,
      abortOnError: false,
    });
    await expect(start).rejects.toThrow('The model User has email, which several users can have.');
  });

  it('takes a time of creation without a zone only on connections in UTC', async () => {
    const dated = { ...NUMBERS, createdAt: 'DateTime' };
    const inZone = (zone: string) => new Pool({ connectionString: empty.url, options: `-c TimeZone=${zone}`, max: 1 });
    const [berlin, utc] = [inZone('Europe/Berlin'), inZone('Etc/UTC')];
    try {
      const options = { fields: { createdAt: 'createdAt' } };
      await expect(of('local', dated, options, berlin).findById('1')).rejects.toThrow(
        'The model User has createdAt without a time zone, and its connections are not in UTC. Give it @db.Timestamptz.',
      );
      const users = of('local', dated, options, utc);
      await utc.query(`INSERT INTO local (id, email) VALUES (1, 'before@example.com')`);
      const mark = await users.currentMark!();
      await utc.query(
        `INSERT INTO local (id, email, "createdAt") VALUES (2, 'after@example.com', now() + interval '1 s')`,
      );
      await utc.query(`UPDATE local SET "createdAt" = "createdAt" - interval '1 s' WHERE id = 1`);
      expect(await Promise.all(['1', '2'].map((id) => users.wasCreatedSince!(id, mark)))).toEqual([false, true]);
    } finally {
      await Promise.all([berlin.end(), utc.end()]);
    }
  });
});
