import { addTwoFactorColumns, authEntities, authMigrations, migrateAuth } from '@svc/auth';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { PAGES } from '../docs/blocks';
import { createEmptyDatabase } from '../support/stores/database';

const { folderOf } = require('../support/runtime/other-versions.cjs') as { folderOf: (name: string) => string };

const ROOT = join(__dirname, '../..');
const TABLES = [
  'svc_device_keys',
  'svc_email_changes',
  'svc_email_deliveries',
  'svc_known_devices',
  'svc_lockouts',
  'svc_passkeys',
  'svc_password_resets',
  'svc_sessions',
  'svc_trusted_devices',
];
const NAMES = authMigrations.map(({ name }) => name);

describe('the migrations of the library', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    source = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: authEntities,
      migrations: authMigrations,
      installExtensions: false,
    }).initialize();
  });
  beforeEach(() => source.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  /** Every relation, index, sequence and type except the migrations table of TypeORM (its key begins with `PK_`). */
  const objectNames = async (): Promise<string[]> => {
    const rows: { name: string }[] = await source.query(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
       UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype <> 'c' AND typelem = 0
       ORDER BY name`,
    );
    return rows.map(({ name }) => name).filter((name) => !/migrations|^PK_/.test(name));
  };
  const tables = async (): Promise<string[]> => (await objectNames()).filter((name) => TABLES.includes(name));
  const run = async (): Promise<string[]> => (await source.runMigrations()).map(({ name }) => name);

  it('build an empty database, once', async () => {
    expect(await run()).toEqual(NAMES);
    expect(await tables()).toEqual(TABLES);
    // Every object of the library has the prefix.
    for (const name of await objectNames()) expect(name).toMatch(/^svc_/);
    expect(await run()).toEqual([]);
  });

  it('create the tables that the entities describe, without a difference', async () => {
    await run();
    const { upQueries, downQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
    expect(downQueries.map(({ query }) => query)).toEqual([]);
  });

  it('differ from the entities when a column is missing', async () => {
    await run();
    await source.query('ALTER TABLE svc_sessions DROP COLUMN label');
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query).join()).toMatch(/ADD "label"/);
  });

  it('can be undone completely, and run again', async () => {
    await run();
    const built = await objectNames();
    for (const _name of NAMES) await source.undoLastMigration();
    expect(await objectNames()).toEqual([]);
    expect(await run()).toEqual(NAMES);
    expect(await objectNames()).toEqual(built);
  });

  it('create no extension', async () => {
    await run();
    const extensions: { extname: string }[] = await source.query('SELECT extname FROM pg_extension');
    expect(extensions.map(({ extname }) => extname)).toEqual(['plpgsql']);
  });

  it('do not change the tables of the host', async () => {
    await source.query('CREATE TABLE users (id uuid PRIMARY KEY)');
    await run();
    for (const _name of NAMES) await source.undoLastMigration();
    expect(await objectNames()).toEqual(['users', 'users_pkey']);
  });

  describe('of a host with Prisma or Drizzle', () => {
    const configs = readdirSync(join(ROOT, 'examples')).flatMap((name) =>
      ['prisma', 'drizzle'].map((tool) => `examples/${name}/${tool}.config.ts`),
    );
    const files = [...PAGES, ...configs.filter((file) => existsSync(join(ROOT, file)))];
    const textsWith = (option: string): [string, string][] =>
      files
        .map((file): [string, string] => [file, readFileSync(join(ROOT, file), 'utf8')])
        .filter(([, text]) => text.includes(option));

    // `prisma db push` and `drizzle-kit push` drop a table that they do not know.
    it('create no table that a documented configuration leaves to its tool', async () => {
      const pool = new Pool({ connectionString: database.url });
      await migrateAuth(pool);
      await pool.end();
      const rows: { name: string }[] = await source.query(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY name",
      );
      const created = rows.map(({ name }) => name);
      expect(created).toEqual(expect.arrayContaining([...TABLES, 'svc_migrations']));

      const listed = textsWith('externalTables: true').map(([file, text]) => [
        file,
        [...text.matchAll(/^\+? +'public\.(\w+)',$/gm)].map(([, name]) => name).toSorted(),
      ]);
      expect(listed.length).toBeGreaterThanOrEqual(4);
      expect(listed).toEqual(listed.map(([file]) => [file, created]));

      const filters = textsWith('tablesFilter: [').map(([file, text]) => [
        file,
        /tablesFilter: \['!(\w+)\*'\]/.exec(text)?.[1],
      ]);
      expect(filters.length).toBeGreaterThanOrEqual(2);
      expect(filters).toEqual(filters.map(([file]) => [file, 'svc_']));
      expect(created.filter((name) => !name.startsWith('svc_'))).toEqual([]);
    });
  });

  it('have distinct names that sort by time', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
    expect(NAMES.toSorted((a, b) => Number(a.slice(-13)) - Number(b.slice(-13)))).toEqual(NAMES);
    expect(authMigrations.map((Migration) => new Migration().name)).toEqual(NAMES);
    for (const name of NAMES) expect(name).toMatch(/Svc.*\d{13}$/);
  });

  describe('on the command line of TypeORM', () => {
    let folder: string;

    beforeEach(() => {
      // Below the project, so that the imports of the file resolve as in a host.
      folder = mkdtempSync(join(ROOT, 'node_modules/.svc-test-'));
      writeFileSync(
        join(folder, 'data-source.ts'),
        `import { authEntities, authMigrations } from '@svc/auth';
         import { DataSource } from 'typeorm';
         export default new DataSource({
           type: 'postgres',
           url: process.env.DATABASE,
           entities: authEntities,
           migrations: authMigrations,
           installExtensions: false,
         });`,
      );
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    /** Runs the commands in one process, one after the other: each start of TypeORM costs most of a second. */
    async function typeorm(...commands: string[]): Promise<{ code: number; output: string }[]> {
      const cli = join(folderOf('typeorm'), 'node_modules/typeorm/cli.js');
      const results = join(folder, 'results.json');
      writeFileSync(
        join(folder, 'commands.cjs'),
        `const ended = [];
         let output = '';
         for (const stream of [process.stdout, process.stderr])
           stream.write = (text) => { output += text; return true; };
         const { exit } = process;
         const [cli, file, results, ...commands] = process.argv.slice(2);
         (function next() {
           const command = commands.shift();
           if (!command) {
             require('node:fs').writeFileSync(results, JSON.stringify(ended));
             exit(0);
           }
           output = '';
           const end = new Promise((resolve) => {
             process.exit = resolve;
             process.once('beforeExit', resolve);
           });
           void end.then((code = process.exitCode ?? 0) => {
             process.removeAllListeners('beforeExit');
             ended.push({ code, output });
             setImmediate(next);
           });
           process.argv = [process.execPath, cli, command, '-d', file];
           delete require.cache[require.resolve(cli)];
           require(cli);
         })();`,
      );
      const register = join(ROOT, 'test/support/runtime/register-ts.cjs');
      const script = join(folder, 'commands.cjs');
      const args = [script, cli, join(folder, 'data-source.ts'), results, ...commands];
      const child = spawn(process.execPath, ['--require', register, ...args], {
        cwd: ROOT,
        env: { ...process.env, DATABASE: database.url },
        timeout: 240_000,
      });
      await once(child, 'close');
      const ended = JSON.parse(readFileSync(results, 'utf8')) as { code: number; output: string }[];
      rmSync(results);
      return ended;
    }

    it('run, are listed as run, and are undone one by one', async () => {
      const [first, shown, second] = await typeorm('migration:run', 'migration:show', 'migration:run');
      expect(first).toMatchObject({ code: 0 });
      expect(await tables()).toEqual(TABLES);
      for (const name of NAMES) expect(shown!.output).toMatch(new RegExp(`\\[X\\].*${name}`));
      expect(second).toMatchObject({ code: 0, output: expect.stringMatching(/No migrations/) });
      expect(await typeorm('migration:revert')).toMatchObject([{ code: 0 }]);
      // The command calls `undoLastMigration()`. This direct call saves one process for each migration.
      for (const _name of NAMES.slice(1)) await source.undoLastMigration();
      expect(await tables()).toEqual([]);
      await expect(source.showMigrations()).resolves.toBe(true);
      expect(await run()).toEqual(NAMES);
    });
  });
});

describe('a migration that alters a table of the host', () => {
  const AddColumns = addTwoFactorColumns('users', 1795000000001);
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let host: Client;

  /** A later migration of the host, which stores the limit that applies to it. */
  class StoreLimit1795000000002 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query("CREATE TABLE limits AS SELECT current_setting('lock_timeout') AS of_host");
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query('DROP TABLE limits');
    }
  }

  beforeEach(async () => {
    // TypeORM writes the failure of a migration to the console.
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    database = await createEmptyDatabase();
    host = new Client({ connectionString: database.url });
    await host.connect();
    await host.query('CREATE TABLE users (id int PRIMARY KEY)');
  });
  afterEach(async () => {
    await host.end();
    await database.drop();
  });

  /** Runs `work` with a data source of the host. `settings` are those of its connections. */
  async function migrating<T>(work: (source: DataSource) => Promise<T>, settings = ''): Promise<T> {
    const source = await new DataSource({
      type: 'postgres',
      url: database.url,
      entities: authEntities,
      migrations: [...authMigrations, AddColumns, StoreLimit1795000000002],
      installExtensions: false,
      extra: { options: settings },
    }).initialize();
    return work(source).finally(() => source.destroy());
  }

  const TABLES_OF_SCHEMA =
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
  const namesOf = async (statement: string): Promise<string[]> =>
    (await host.query(statement)).rows.map(({ name }) => String(name)).filter((name) => name !== 'migrations');
  const columns = async (): Promise<string[]> =>
    (await host.query('SELECT * FROM users')).fields.map(({ name }) => name);
  const NEW_COLUMNS = ['two_factor_secret', 'two_factor_recovery_codes', 'two_factor_confirmed_at'];

  it.each([
    ['5s', ''],
    ['200ms', '-c lock_timeout=200'],
  ])(
    'stops waiting for a locked table after %s, names the cure, and leaves nothing behind',
    async (limit, settings) => {
      await host.query('BEGIN; LOCK TABLE users IN ACCESS SHARE MODE');
      const failure = await migrating((source) => source.runMigrations().catch(String), settings);
      expect(failure).toMatch(new RegExp(`^Error: The table users was not changed: .* for ${limit}, `));
      expect(failure).toMatch(/pg_stat_activity shows them\), and run the migrations again\.$/);
      await host.query('COMMIT');
      expect([await columns(), await namesOf(TABLES_OF_SCHEMA)]).toEqual([['id'], ['users']]);
      expect(await migrating((source) => source.runMigrations(), settings)).toHaveLength(authMigrations.length + 2);
      expect(await columns()).toEqual(['id', ...NEW_COLUMNS]);
    },
  );

  it.each(['all', 'each', 'none'] as const)('limits its own wait only, with transaction: %s', async (transaction) => {
    await migrating(async (source) => {
      await source.runMigrations({ transaction });
      expect((await host.query('SELECT of_host FROM limits')).rows).toEqual([{ of_host: '0' }]);
      expect(await columns()).toEqual(['id', ...NEW_COLUMNS]);
      for (const _ of [AddColumns, StoreLimit1795000000002]) await source.undoLastMigration({ transaction });
      expect(await columns()).toEqual(['id']);
    });
  });

  it('stops waiting also when it is undone', async () => {
    await migrating((source) => source.runMigrations());
    await host.query('BEGIN; LOCK TABLE users IN ACCESS SHARE MODE');
    await migrating(async (source) => {
      await source.undoLastMigration();
      await expect(source.undoLastMigration()).rejects.toThrow(/^The table users was not changed/);
    }, '-c lock_timeout=200');
    expect(await columns()).toEqual(['id', ...NEW_COLUMNS]);
  });
});
