import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { type Database, quotedPath } from '../../foundation/platform/database';
import { isInconclusive } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { StoredEntity } from '../../foundation/realm/feature-data';
import { FEATURES } from '../../features';

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

/** The columns of the library's tables. */
export const libraryColumns = (database: Database, tables: readonly StoredEntity[]): WantedColumn[] =>
  tables.flatMap(({ entity, migration }) =>
    columnsOf(database, entity).map((column) => wantedColumn(column, `${migration.name} of authMigrations`)),
  );

const OF_USERS = ['email', 'passwordHash', 'emailVerifiedAt'];

/** The columns of a user table that the library reads by name, as far as its entity has them. */
const userColumns = (database: Database, entity: Entity, username: string): WantedColumn[] =>
  columnsOf(database, entity).flatMap((column) => {
    const own = FEATURES.find(({ userColumns: columns }) => columns?.properties.includes(column.propertyName));
    if (own) return wantedColumn(column, own.userColumns!.migrationOf(column.entityMetadata.tablePath));
    const isRead = column.isPrimary || [...OF_USERS, username].includes(column.propertyName);
    return isRead ? wantedColumn(column, 'a migration of your own') : [];
  });

/** The same of the user tables of all guards. */
export const columnsOfUsers = (database: Database, { guards }: Pick<AuthConfig, 'guards'>): WantedColumn[] =>
  guards.flatMap(({ users, username }) => (users?.entity ? userColumns(database, users.entity, username) : []));

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

const STATEMENT_POOLING =
  'The data source is connected through a connection pooler that pools statements. It allows no transactions, so no user ' +
  'could log in. Set pool_mode = transaction in PgBouncer, or connect to PostgreSQL directly.';

/** Milliseconds between two checks while the database does not answer. */
const REPEAT_MS = 1000;

/**
 * Checks when the application starts whether PostgreSQL runs transactions, and has the tables of the library and of its
 * users. After the `onModuleInit` of the host, which may run migrations. Without them, logins, sign-outs and erasures fail
 * later, one by one.
 *
 * An application without everything does not start. One without an HTTP server starts with a warning, because it may be the
 * one that runs the migrations. A service that only verifies needs none of them. While the database does not answer, the check is repeated.
 */
export class SchemaCheck implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private timer?: NodeJS.Timeout;
  private isClosing = false;

  constructor(
    private readonly database: Database,
    private readonly config: AuthConfig,
    private readonly adapterHost: Pick<HttpAdapterHost, 'httpAdapter'>,
    private readonly tables: readonly StoredEntity[],
    private readonly closeStore: () => Promise<void> = async () => undefined,
  ) {}

  /** @throws AuthConfigError with everything that is missing, and the migrations that create it */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.verifyOnly) return;
    const problem = await this.problem();
    if (problem === 'unknown') {
      this.logger.warn(
        'The database did not answer, so its tables were not checked. The check is repeated until it does.',
      );
      this.repeat();
    } else if (problem) {
      if (this.adapterHost.httpAdapter) {
        // Nest does not shut down an application that does not start, and an open connection keeps the process running.
        await this.closeStore();
        throw new AuthConfigError(problem);
      }
      this.logger.warn(problem);
    }
  }

  onModuleDestroy(): void {
    this.isClosing = true;
    clearTimeout(this.timer);
  }

  private repeat(): void {
    if (this.isClosing) return;
    this.timer = setTimeout(() => void this.checkAgain(), REPEAT_MS).unref();
  }

  private async checkAgain(): Promise<void> {
    const problem = await this.problem();
    if (problem === 'unknown') this.repeat();
    else if (problem && !this.isClosing) this.logger.error(problem);
  }

  /** What is missing, with the cure; null for nothing, `unknown` while the database does not answer. Never rejects. */
  private async problem(): Promise<string | null> {
    const { database, tables } = this;
    const unknown = tables.filter(({ entity }) => !database.hasEntity(entity));
    if (unknown.length) {
      const names = unknown.map(({ entity }) => entity.name).join(', ');
      return `The data source has no entities ${names}. Add ...authEntities to its entities.`;
    }
    try {
      if (!(await database.hasTransactions())) return STATEMENT_POOLING;
      const missing = await missingColumns(database, [
        ...libraryColumns(database, tables),
        ...columnsOfUsers(database, this.config),
      ]);
      return missing.length ? descriptionOf(missing) : null;
    } catch (error) {
      if (isInconclusive(error)) return 'unknown';
      return (
        `The tables could not be checked: ${(error as Error).message}. The role of the application needs USAGE on their ` +
        'schema, and SELECT, INSERT, UPDATE and DELETE on the tables of the library.'
      );
    }
  }
}

function descriptionOf(missing: readonly MissingColumn[]): string {
  const lines = missing.map(({ table, column, migration, isTable }) =>
    isTable ? `the table ${table}: ${migration}` : `the column ${column} of ${table}: ${migration}`,
  );
  return [
    'The database has not all tables and columns. Run the missing migrations (with the option pool: svc:migrate or ' +
      'migrateAuth(pool)):',
    ...new Set(lines),
    'A migration that is recorded as run, but lacks one of these columns, was changed before the first release, or ran with ' +
      'another schema, entityPrefix or search_path: create the database again, or correct the connection or the column.',
  ].join('\n');
}
