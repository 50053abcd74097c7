import { Logger } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { LOCK_UNTIL_COMMIT } from '../../foundation/platform/database';
import { type PostgresPool, sourceOn } from '../../foundation/platform/postgres-pool';
import { authMigrations } from '../../library-options';

/** The table with the names of the migrations that have run, in the form of TypeORM. */
const TABLE = 'svc_migrations';

const CREATE_TABLE =
  `CREATE TABLE IF NOT EXISTS "${TABLE}" ("id" serial CONSTRAINT "${TABLE}_pkey" PRIMARY KEY, "timestamp" bigint NOT NULL, ` +
  '"name" varchar NOT NULL)';

/** Where `CREATE TABLE` would create it. A statement that creates nothing also needs the right to create. */
const EXISTS = `SELECT to_regclass(quote_ident(current_schema()) || '.${TABLE}') IS NOT NULL AS exists`;

/** The statement that records a migration. */
const recordOf = (name: string): string =>
  `INSERT INTO "${TABLE}" ("timestamp", "name") VALUES (${/(\d{13})$/.exec(name)![1]}, '${name}')`;

/**
 * Creates or changes the tables of the library on a pool of node-postgres: for a host with the option `pool`. The migrations
 * that have run are in the table `svc_migrations`. All missing ones run in one transaction. Of several processes, one runs
 * them, and the others wait for it. The pool stays open.
 *
 * @returns the names of the migrations that have run now
 * @throws AuthConfigError for a value that is not a pool of node-postgres
 * @throws the error of a statement; nothing is changed then
 * @example await migrateAuth(new Pool({ connectionString: process.env.DATABASE_URL }));
 * @publicApi
 */
export async function migrateAuth(pool: PostgresPool): Promise<string[]> {
  const source = await sourceOn(pool, []);
  const runner = source.createQueryRunner();
  try {
    // READ COMMITTED: after the wait for the lock, the migrations of the process before are read.
    await runner.startTransaction('READ COMMITTED');
    await runner.query(LOCK_UNTIL_COMMIT, [TABLE]);
    const done = await runMissing(runner);
    await runner.commitTransaction();
    return done;
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

async function runMissing(runner: QueryRunner): Promise<string[]> {
  const [table] = await runner.query(EXISTS);
  if (!table.exists) await runner.query(CREATE_TABLE);
  const recorded: { name: string }[] = await runner.query(`SELECT "name" FROM "${TABLE}"`);
  const known = new Set(recorded.map(({ name }) => name));
  const missing = authMigrations.map((Migration) => new Migration()).filter(({ name }) => !known.has(name));
  for (const migration of missing) {
    try {
      await migration.up(runner);
    } catch (error) {
      new Logger('Auth').error(`The migration ${migration.name} has failed: ${(error as Error).message}`);
      throw error;
    }
    await runner.query(recordOf(migration.name));
  }
  return missing.map(({ name }) => name);
}

/**
 * The statements of {@link migrateAuth} for an empty database, for the migrations of another tool. Those of each migration
 * begin with its name, and record it, so that a later version can continue with the statements or with `migrateAuth`.
 */
export async function tablesAsSql(): Promise<string> {
  const printed = [`${CREATE_TABLE};\n`];
  for (const Migration of authMigrations) {
    const migration = new Migration();
    const statements: string[] = [];
    await migration.up({ query: async (statement: string) => statements.push(statement) } as unknown as QueryRunner);
    statements.push(recordOf(migration.name));
    printed.push(`\n-- ${migration.name}\n`);
    printed.push(...statements.map((statement) => `${statement.trim().replaceAll(/^ {6}/gm, '')};\n`));
  }
  return printed.join('');
}
