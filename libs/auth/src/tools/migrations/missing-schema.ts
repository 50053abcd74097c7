import { Logger } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { type Database, quotedPath } from '../../foundation/platform/database';
import { isInconclusive } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import { LockoutCounter } from '../../request/lockout/lockout.entity';
import { Passkey } from '../../features/passkeys/passkey.entity';
import { PasswordResetToken } from '../../features/password-reset/reset-token.entity';
import { Session } from '../../identity/denylist/session.entity';
import { CreateSvcLockouts1763800000000 } from './1763800000000-create-lockouts';
import { CreateSvcPasskeys1764000000000 } from './1764000000000-create-passkeys';
import { CreateSvcPasswordResets1764100000000 } from './1764100000000-create-password-resets';
import { CreateSvcSessions1763700000000 } from './1763700000000-create-sessions';

/** A column that an entity has, and that the library reads or writes. */
interface WantedColumn {
  /** With its schema, if the data source names one. */
  readonly table: string;
  readonly column: string;
  /** What creates it. */
  readonly migration: string;
}

/** A column that the database does not have. */
export interface MissingColumn extends WantedColumn {
  /** Whether its whole table is missing. */
  readonly isTable: boolean;
}

type Entity = EntityTarget<ObjectLiteral>;

const MIGRATIONS = new Map<Entity, { readonly name: string }>([
  [Session, CreateSvcSessions1763700000000],
  [LockoutCounter, CreateSvcLockouts1763800000000],
  [Passkey, CreateSvcPasskeys1764000000000],
  [PasswordResetToken, CreateSvcPasswordResets1764100000000],
]);

/** The columns of the library's tables. */
export const libraryColumns = (database: Database, entities: readonly Entity[]): WantedColumn[] =>
  entities.flatMap((entity) => {
    const migration = `${MIGRATIONS.get(entity)?.name} of authMigrations`;
    return columnsOf(database, entity).map((column) => wantedColumn(column, migration));
  });

const OF_USERS = ['email', 'passwordHash', 'emailVerifiedAt'];
const OF_SECOND_FACTORS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'];

/** The columns of a user table that the library reads by name, as far as its entity has them. */
const userColumns = (database: Database, entity: Entity, username: string): WantedColumn[] =>
  columnsOf(database, entity)
    .filter((column) => column.isPrimary || [...OF_USERS, ...OF_SECOND_FACTORS, username].includes(column.propertyName))
    .map((column) =>
      wantedColumn(
        column,
        OF_SECOND_FACTORS.includes(column.propertyName)
          ? `addTwoFactorColumns('${column.entityMetadata.tablePath}', timestamp)`
          : 'a migration of your own',
      ),
    );

const wantedColumn = ({ entityMetadata, databaseName }: ColumnMetadata, migration: string): WantedColumn => ({
  table: entityMetadata.tablePath,
  column: databaseName,
  migration,
});

const columnsOf = (database: Database, entity: Entity): ColumnMetadata[] =>
  database.source.getMetadata(entity).columns.filter(({ isVirtualProperty }) => !isVirtualProperty);

/** Returns the columns that the database does not have. */
export async function missingColumns(database: Database, wanted: readonly WantedColumn[]): Promise<MissingColumn[]> {
  const missing = await database.query<{ index: string; isTable: boolean }>(
    `SELECT ordinality - 1 AS index, to_regclass(relation) IS NULL AS "isTable"
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (relation, attribute, ordinality)
      WHERE NOT EXISTS (SELECT 1 FROM pg_attribute
        WHERE attrelid = to_regclass(relation) AND attname = attribute AND NOT attisdropped)
      ORDER BY ordinality`,
    [wanted.map(({ table }) => quotedPath(table)), wanted.map(({ column }) => column)],
  );
  return missing.map(({ index, isTable }) => ({ ...wanted[Number(index)]!, isTable }));
}

/**
 * Checks the tables of the library and of its users when the application starts. Without them, logins, sign-outs and
 * erasures fail later, one by one. A database that does not answer is not judged: its requests are answered 503.
 *
 * @throws AuthConfigError with everything that is missing, and the migrations that create it
 */
export async function refuseMissingSchema(
  database: Database,
  { guards }: AuthConfig,
  entities: readonly Entity[],
): Promise<void> {
  const unknown = entities.filter((entity) => !database.hasEntity(entity));
  if (unknown.length) {
    const names = unknown.map((entity) => (entity as { name: string }).name).join(', ');
    throw new AuthConfigError(`The data source has no entities ${names}. Add ...authEntities to its entities.`);
  }
  const ofUsers = guards.flatMap(({ users, username }) =>
    users?.entity ? userColumns(database, users.entity, username) : [],
  );
  const missing = await missingColumns(database, [...libraryColumns(database, entities), ...ofUsers]).catch((error) => {
    if (!isInconclusive(error)) throw error;
    new Logger('Auth').warn('The database did not answer, so its tables were not checked.');
    return [];
  });
  if (missing.length) throw new AuthConfigError(descriptionOf(missing));
}

function descriptionOf(missing: readonly MissingColumn[]): string {
  const lines = missing.map(({ table, column, migration, isTable }) =>
    isTable ? `the table ${table}: ${migration}` : `the column ${column} of ${table}: ${migration}`,
  );
  return `The database has not all tables and columns. Run the missing migrations:\n${[...new Set(lines)].join('\n')}`;
}
