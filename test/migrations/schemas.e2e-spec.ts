import type { INestApplication } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  Auth,
  AuthModule,
  PasswordHasher,
  Pruning,
  type SessionTokens,
  authEntities,
  authMigrations,
  migrateAuth,
} from '@svc/auth';
import { Client, Pool } from 'pg';
import { DataSource } from 'typeorm';
import { startHost } from '../support/hosts/adapter';
import { hostOptions } from '../support/hosts/host.module';
import { ADA, PASSWORD, Person } from '../support/hosts/user-entities';
import { createEmptyDatabase, executed } from '../support/stores/database';

const CLIENT = { ip: '203.0.113.7', headers: {} };

const columns = `id int PRIMARY KEY, email text NOT NULL UNIQUE, password_hash text, two_factor_secret text,
  two_factor_recovery_codes text, two_factor_confirmed_at timestamptz`;

describe('the tables of the library', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let app: INestApplication | undefined;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    await executed('CREATE SCHEMA app', database.url);
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    await database.drop();
  });

  /** The schemas and names of all tables, and of the indexes of the library. */
  async function relations(): Promise<string[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(`SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class
      WHERE relkind IN ('r', 'i') AND relname LIKE '%svc_%' AND relname NOT LIKE '%migrations%'`);
    await client.end();
    return rows.map(({ name }: { name: string }) => name);
  }

  /** Starts a session, uses and ends it, and deletes its row. */
  async function useAll(started: INestApplication): Promise<void> {
    const auth = started.get(Auth);
    const { refreshToken } = await auth.startSession(7);
    const { accessToken } = await auth.sessions.refresh(refreshToken, CLIENT);
    await auth.sessions.logout({ ...CLIENT, headers: { authorization: `Bearer ${accessToken}` } });
    const tokens = (await auth.login.attempt({ identifier: ADA, password: PASSWORD }, CLIENT)) as SessionTokens;
    expect(tokens.accessToken).toEqual(expect.any(String));
    await auth.revokeAll(7);
    await started.get(Pruning).run();
  }

  const insert = async (table: string): Promise<void> => {
    const hash = await app!.get(PasswordHasher).hash(PASSWORD);
    await executed(`INSERT INTO ${table} (id, email, password_hash) VALUES (7, '${ADA}', '${hash}')`, database.url);
  };

  it.each([
    ['a schema', { schema: 'app' }, 'app.svc_', 'app.people'],
    ['a prefix', { entityPrefix: 'my_' }, 'public.my_svc_', 'public.my_people'],
    ['a schema and a prefix', { schema: 'app', entityPrefix: 'my_' }, 'app.my_svc_', 'app.my_people'],
  ])('are where a data source with %s looks for them', async (_, placing, prefix, people) => {
    const options = { type: 'postgres' as const, url: database.url, installExtensions: false, ...placing };
    await executed(`CREATE TABLE ${people} (${columns})`, database.url);
    const source = await new DataSource({ ...options, migrations: authMigrations }).initialize();
    await source.runMigrations();
    const created = await relations();
    expect(created.length).toBeGreaterThan(15);
    expect(created.filter((name) => !name.startsWith(prefix))).toEqual([]);

    const { guards: _guards, ...one } = hostOptions({});
    app = await startHost({
      module: class Host {},
      imports: [
        TypeOrmModule.forRoot({ ...options, entities: [...authEntities, Person], retryAttempts: 0 }),
        AuthModule.forRoot(one),
      ],
    });
    await insert(people);
    await useAll(app);
    for (const _migration of authMigrations) await source.undoLastMigration();
    await source.destroy();
    expect(await relations()).toEqual([]);
  });

  it('are in the search path of a pool, and a schema in its URL, which pg ignores, is refused', async () => {
    await executed(`CREATE TABLE app.people (${columns})`, database.url);
    const pool = new Pool({ connectionString: database.url, options: '-c search_path=app' });
    await migrateAuth(pool);
    expect((await relations()).filter((name) => !name.startsWith('app.svc_'))).toEqual([]);
    const { guards: _guards, ...one } = hostOptions({ pool });
    app = await startHost({ module: class Host {}, imports: [AuthModule.forRoot(one)] });
    await insert('app.people');
    await useAll(app);
    await pool.end();

    const ofPrisma = new Pool({ connectionString: `${database.url}?schema=app` });
    const refusal = /schema=app, a parameter of Prisma that the package pg ignores.*search_path=app/;
    await expect(migrateAuth(ofPrisma)).rejects.toThrow(refusal);
    await expect(
      startHost({ module: class Host {}, imports: [AuthModule.forRoot({ ...one, pool: ofPrisma })] }),
    ).rejects.toThrow(refusal);
    await ofPrisma.end();
  });
});
