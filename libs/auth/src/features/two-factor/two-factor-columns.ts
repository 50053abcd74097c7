import { Exclude } from 'class-transformer';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { data, identity, pg } from '../../kit';

declare module '../../foundation/ports/user-provider' {
  /**
   * The second factor in a user row. It is enabled when it has a date of confirmation. Then the login requires it, also if the
   * secret is missing or cannot be read: no code is accepted in that case, only a recovery code.
   */
  interface StoredSecondFactor {
    /** The encrypted TOTP secret, until the confirmation with the recovery codes; null without a second factor. */
    secret: string | null;
    /** JSON array of the hashes of the unused recovery codes; null without a second factor. */
    recoveryCodes: string | null;
    /** Time at which the user confirmed the enrolment with a code; null while the enrolment is pending. */
    confirmedAt: Date | null;
  }
}

/** The state of a user without a second factor. */
export const NO_SECOND_FACTOR: Readonly<identity.StoredSecondFactor> = {
  secret: null,
  recoveryCodes: null,
  confirmedAt: null,
};

// As that of `withAuthColumns`, and not exported for the same reason.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor = abstract new (...args: any[]) => object;

/**
 * Adds the columns of the second factor to a user entity. Queries do not select them by default, and responses do not
 * contain the secret and the recovery codes: see {@link withAuthColumns}, also for the methods.
 * {@link addTwoFactorColumns} is their migration.
 *
 * @example
 * \@Entity('users')
 * export class User extends withTwoFactorColumns(withAuthColumns()) {}
 * @publicApi
 */
export function withTwoFactorColumns<Base extends Constructor>(base: Base) {
  abstract class TwoFactorColumns extends identity.withTokenMethods(base) {
    /** Encrypted and bound to the user: it cannot be decrypted in the row of another user. */
    @Exclude()
    @data.Column({ name: 'two_factor_secret', type: 'text', nullable: true, select: false })
    twoFactorSecret?: string | null;

    /** JSON array of the hashes of the unused recovery codes. */
    @Exclude()
    @data.Column({ name: 'two_factor_recovery_codes', type: 'text', nullable: true, select: false })
    twoFactorRecoveryCodes?: string | null;

    @data.Column({ name: 'two_factor_confirmed_at', type: 'timestamptz', nullable: true, select: false })
    twoFactorConfirmedAt?: Date | null;

    /** The fields for JSON, without the secret and the recovery codes. */
    toJSON(): object {
      const {
        twoFactorSecret: _secret,
        twoFactorRecoveryCodes: _codes,
        ...shown
      } = identity.shownBy(base, this) as this;
      return shown;
    }
  }
  return TwoFactorColumns;
}

const COLUMNS = [
  ['two_factor_secret', 'text'],
  ['two_factor_recovery_codes', 'text'],
  ['two_factor_confirmed_at', 'timestamptz'],
] as const;

/** SQLSTATE of a statement that `lock_timeout` ended. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Creates the migration for {@link withTwoFactorColumns}, for the `migrations` of the host's data source: one for each
 * user table. It waits at most 5 seconds for its lock on the table, or for the `lock_timeout` that the host has set; then
 * it fails, and its transaction is rolled back.
 *
 * @param table the table, with its schema if it has one
 * @param timestamp milliseconds that order the host's migrations; later than the migration that creates the table
 * @example migrations: [...authMigrations, CreateUsers1795000000000, addTwoFactorColumns('users', 1795000000001)]
 * @publicApi
 */
export function addTwoFactorColumns(table: string, timestamp: number): new () => MigrationInterface {
  const altered = `ALTER TABLE ${pg.quotedPath(table)}`;
  return class implements MigrationInterface {
    readonly name = `AddTwoFactorColumns_${table}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const added = COLUMNS.map(([name, type]) => `ADD ${name} ${type}`);
      await alter(runner, table, `${altered} ${added.join(', ')}`);
    }

    async down(runner: QueryRunner): Promise<void> {
      await alter(runner, table, `${altered} ${COLUMNS.map(([name]) => `DROP COLUMN ${name}`).join(', ')}`);
    }
  };
}

/**
 * Runs a statement that alters a table of the host. While it waits for its lock, every later query of the table waits
 * behind it, so the wait is limited.
 */
async function alter(runner: QueryRunner, table: string, statement: string): Promise<void> {
  const [{ lock_timeout: ofHost }] = await runner.query('SHOW lock_timeout');
  try {
    // One query, which is one transaction also with `transaction: 'none'`. Later statements of the host have no limit.
    await runner.query(
      ofHost === '0' ? `SET LOCAL lock_timeout = '5s'; ${statement}; SET LOCAL lock_timeout = 0` : statement,
    );
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
    throw new Error(
      `The table ${table} was not changed: other transactions have kept it locked for ${ofHost === '0' ? '5s' : ofHost}, ` +
        'and queries of the table must not wait longer. Nothing of this transaction was stored. End the transactions that ' +
        'use the table (pg_stat_activity shows them), and run the migrations again.',
      { cause: error },
    );
  }
}
