import { DefaultNamingStrategy, MigrationExecutor, type QueryRunner } from 'typeorm';
import { LOCK_UNTIL_COMMIT } from '../../foundation/platform/database';
import { type PostgresPool, sourceOn } from '../../foundation/platform/postgres-pool';
import { authMigrations } from '../../entities';

/** The table with the names of the migrations that have run, in the form of TypeORM. */
const TABLE = 'svc_migrations';

/** The name that TypeORM gives the primary key of this table. */
const PRIMARY_KEY = new DefaultNamingStrategy().primaryKeyName(TABLE, ['id']);

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
  const source = await sourceOn(pool, { migrations: authMigrations, migrationsTableName: TABLE });
  const runner = source.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(LOCK_UNTIL_COMMIT, [TABLE]);
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = 'all';
    const done = await executor.executePendingMigrations();
    await runner.commitTransaction();
    return done.map(({ name }) => name);
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/**
 * The statements of {@link migrateAuth} for an empty database, for the migrations of another tool. Those of each migration
 * begin with its name, and record it, so that a later version can continue with the statements or with `migrateAuth`.
 */
export async function tablesAsSql(): Promise<string> {
  const printed = [
    `CREATE TABLE IF NOT EXISTS "${TABLE}" ("id" serial CONSTRAINT "${PRIMARY_KEY}" PRIMARY KEY, "timestamp" bigint NOT NULL, ` +
      '"name" varchar NOT NULL);\n',
  ];
  for (const Migration of authMigrations) {
    const migration = new Migration();
    const statements: string[] = [];
    await migration.up({ query: async (statement: string) => statements.push(statement) } as unknown as QueryRunner);
    const [, timestamp] = /(\d{13})$/.exec(migration.name)!;
    statements.push(`INSERT INTO "${TABLE}" ("timestamp", "name") VALUES (${timestamp}, '${migration.name}')`);
    printed.push(`\n-- ${migration.name}\n`);
    printed.push(...statements.map((statement) => `${statement.trim().replaceAll(/^ {6}/gm, '')};\n`));
  }
  return printed.join('');
}
