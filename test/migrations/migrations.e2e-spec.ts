import { authEntities, authMigrations } from '@svc/auth';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { createEmptyDatabase } from '../support/database';

const ROOT = join(__dirname, '../..');
const TABLES = ['svc_lockouts', 'svc_passkeys', 'svc_password_resets', 'svc_sessions'];
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

    function typeorm(command: string): Promise<{ code: number | null; output: string }> {
      const register = join(ROOT, 'test/support/register-ts.cjs');
      const cli = join(ROOT, 'node_modules/typeorm/cli.js');
      const child = spawn(
        process.execPath,
        ['--require', register, cli, command, '-d', join(folder, 'data-source.ts')],
        { cwd: ROOT, env: { ...process.env, DATABASE: database.url }, timeout: 30_000 },
      );
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
      return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
    }

    it('run, are listed as run, and are undone one by one', async () => {
      expect(await typeorm('migration:run')).toMatchObject({ code: 0 });
      expect(await tables()).toEqual(TABLES);
      const shown = await typeorm('migration:show');
      for (const name of NAMES) expect(shown.output).toMatch(new RegExp(`\\[X\\].*${name}`));
      expect(await typeorm('migration:run')).toMatchObject({ code: 0, output: expect.stringMatching(/No migrations/) });
      expect(await typeorm('migration:revert')).toMatchObject({ code: 0 });
      // The command calls `undoLastMigration()`. This direct call saves one process for each migration.
      for (const _name of NAMES.slice(1)) await source.undoLastMigration();
      expect(await tables()).toEqual([]);
      await expect(source.showMigrations()).resolves.toBe(true);
      expect(await run()).toEqual(NAMES);
    });
  });
});
