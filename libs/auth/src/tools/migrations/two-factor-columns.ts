import type { MigrationInterface, QueryRunner } from 'typeorm';
import { quotedPath } from '../../foundation/platform/database';

const COLUMNS = [
  ['two_factor_secret', 'text'],
  ['two_factor_recovery_codes', 'text'],
  ['two_factor_confirmed_at', 'timestamptz'],
] as const;

/**
 * Creates the migration for {@link withTwoFactorColumns}, for the `migrations` of the host's data source: one for each
 * user table.
 *
 * @param table the table, with its schema if it has one
 * @param timestamp milliseconds that order the host's migrations; later than the migration that creates the table
 * @example migrations: [...authMigrations, CreateUsers1795000000000, addTwoFactorColumns('users', 1795000000001)]
 * @publicApi
 */
export function addTwoFactorColumns(table: string, timestamp: number): new () => MigrationInterface {
  const altered = `ALTER TABLE ${quotedPath(table)}`;
  return class implements MigrationInterface {
    readonly name = `AddTwoFactorColumns_${table}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const added = COLUMNS.map(([name, type]) => `ADD ${name} ${type}`);
      await runner.query(`${altered} ${added.join(', ')}`);
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(`${altered} ${COLUMNS.map(([name]) => `DROP COLUMN ${name}`).join(', ')}`);
    }
  };
}
