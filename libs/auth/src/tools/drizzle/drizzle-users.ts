/**
 * Users in a table of Drizzle.
 *
 * ```ts
 * import { DrizzleUsers } from '@svc/auth/drizzle';
 * ```
 *
 * @module @svc/auth/drizzle
 */

import { type Column, and, eq, getTableColumns, getTableName, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { type PgDatabase, type PgQueryResultHKT, type PgTable, getTableConfig } from 'drizzle-orm/pg-core';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { IdForm, MappedUser, MappedUsersOptions, UserFieldNames } from '../../identity/users/mapped-fields';
import {
  type Conditions,
  IS_SET,
  MappedUsers,
  Since,
  type Statement,
  type UserTable,
} from '../../identity/users/mapped-users';

/** A database of Drizzle on PostgreSQL: `drizzle(pool)`, or a transaction. */
export interface DrizzleDatabase {
  select(...args: never[]): unknown;
  insert(...args: never[]): unknown;
  update(...args: never[]): unknown;
  delete(...args: never[]): unknown;
  execute(...args: never[]): unknown;
}

/** A table of Drizzle: `pgTable('users', { … })`. */
export interface DrizzleTable {
  readonly $inferSelect: object;
}

type RowOf<Table extends DrizzleTable> = Table['$inferSelect'];

/**
 * The users of a guard in a table of Drizzle on PostgreSQL. It has a part of the port if the table has its columns; see
 * {@link UserFieldNames}. Accounts are deleted, and emails changed, on the connection and in the transaction of the library.
 *
 * @example
 * export const usersOf = ({ drizzle }: Database) => new DrizzleUsers(drizzle, users);
 * export type User = UserOf<ReturnType<typeof usersOf>>;
 *
 * AuthModule.forRoot({ users: { provider: { useFactory: usersOf, inject: [Database] } }, … })
 * @publicApi
 */
export class DrizzleUsers<
  Table extends DrizzleTable,
  const Fields extends UserFieldNames<keyof RowOf<Table> & string> = object,
  const Select extends readonly (keyof RowOf<Table> & string)[] = readonly (keyof RowOf<Table> & string)[],
  const NewUser extends Partial<RowOf<Table>> = Partial<RowOf<Table>>,
> extends MappedUsers<MappedUser<RowOf<Table>, Fields, Select>> {
  /**
   * @param database the database, with any driver of PostgreSQL
   * @param table the table of the users
   * @throws AuthConfigError if the table has no column for the id, the identifier or the hash
   */
  constructor(
    database: DrizzleDatabase,
    table: Table,
    options: MappedUsersOptions<RowOf<Table>, Fields, Select, NewUser> = {},
  ) {
    const { id = 'id', createdAt } = (options.fields ?? {}) as UserFieldNames;
    const rows = new DrizzleRows(database as unknown as AnyDatabase, table as unknown as PgTable);
    super(rows, options as unknown as MappedUsersOptions);
    rows.requireUnique(id);
    if (createdAt) rows.requireZone(createdAt);
  }
}

type AnyDatabase = PgDatabase<PgQueryResultHKT>;
type Row = Record<string, unknown>;

/** The types of columns with ids that are no text. */
const FORMS: Readonly<Record<string, IdForm>> = {
  uuid: 'uuid',
  smallint: 'integer',
  smallserial: 'integer',
  integer: 'integer',
  serial: 'integer',
  bigint: 'bigint',
  bigserial: 'bigint',
};

/** SQL compares NULL with nothing: `= NULL` is never true. */
function holds(column: Column, value: unknown) {
  if (value === null) return isNull(column);
  if (value === IS_SET) return isNotNull(column);
  if (Array.isArray(value)) return inArray(column, value);
  // The mark is rounded to the precision of the column.
  if (value instanceof Since) return sql`${column} >= ${value.mark}::${sql.raw(column.getSQLType())}`;
  return eq(column, value);
}

/** Drizzle writes each statement, also those for a connection of the library. */
class DrizzleRows implements UserTable {
  readonly label: string;
  readonly fields: readonly string[];
  private readonly columns: Record<string, Column>;

  constructor(
    private readonly database: AnyDatabase,
    private readonly table: PgTable,
  ) {
    this.columns = getTableColumns(table) as Record<string, Column>;
    this.fields = Object.keys(this.columns);
    this.label = `The table ${getTableName(table)}`;
  }

  idForm(field: string): IdForm {
    return FORMS[this.columns[field]!.getSQLType()] ?? 'text';
  }

  /** A part of a primary key can name several users: Drizzle would read one of them, and change all. */
  requireUnique(field: string): void {
    const column = this.columns[field]!;
    const { primaryKeys, uniqueConstraints, indexes } = getTableConfig(this.table);
    const isOnly = (columns: readonly unknown[]): boolean =>
      columns.length === 1 && (columns[0] as { name?: unknown }).name === column.name;
    const isUnique =
      column.isUnique ||
      uniqueConstraints.some(({ columns }) => isOnly(columns)) ||
      indexes.some(({ config }) => config.unique && isOnly(config.columns));
    const isPart = primaryKeys.some(
      ({ columns }) => columns.length > 1 && columns.some(({ name }) => name === column.name),
    );
    if (isPart && !isUnique)
      throw new AuthConfigError(
        `${this.label} has ${field} in a primary key of several columns. Declare it .unique().`,
      );
  }

  /** Without a time zone, the time would depend on the zone of the connection. */
  requireZone(field: string): void {
    if (this.columns[field]!.getSQLType().includes('with time zone')) return;
    throw new AuthConfigError(`${this.label} has ${field} without a time zone. Set withTimezone: true.`);
  }

  /** PostgreSQL reads the text of a number. */
  idValue(id: string): unknown {
    return id;
  }

  rows(where: Conditions, fields: readonly string[]): Promise<Row[]> {
    return this.selecting(fields, this.all(where)) as unknown as Promise<Row[]>;
  }

  async update(where: Conditions, values: Row): Promise<number> {
    // Each driver counts in another member of its result.
    return (await this.updating(where, values).returning({ one: sql`1` })).length;
  }

  async insert(values: Row, fields: readonly string[]): Promise<Row> {
    const [row] = await this.inserting(values).returning(this.chosen(fields));
    return row as Row;
  }

  async isTaken(field: string, value: unknown): Promise<boolean> {
    return (await this.having(field, value)).length > 0;
  }

  async execute(text: string): Promise<Row[]> {
    const result = (await this.database.execute(sql.raw(text))) as unknown as Row[] | { rows: Row[] };
    return Array.isArray(result) ? result : result.rows;
  }

  readonly statements = {
    insert: (values: Row, id: string): Statement =>
      this.inserting(values)
        .returning(this.chosen([id]))
        .toSQL(),
    isTaken: (field: string, value: unknown): Statement => this.having(field, value).toSQL(),
    update: (where: Conditions, values: Row): Statement => this.updating(where, values).toSQL(),
    delete: (where: Conditions): Statement => this.database.delete(this.table).where(this.all(where)).toSQL(),
  };

  private selecting(fields: readonly string[], where: ReturnType<typeof and>) {
    return this.database.select(this.chosen(fields)).from(this.table).where(where);
  }

  private inserting(values: Row) {
    return this.database.insert(this.table).values(this.stored(values) as never);
  }

  private updating(where: Conditions, values: Row) {
    return this.database
      .update(this.table)
      .set(this.stored(values) as never)
      .where(this.all(where));
  }

  private having(field: string, value: unknown) {
    return this.selecting([field], sql`lower(${this.columns[field]!}::text) = lower(${value})`).limit(1);
  }

  private all(where: Conditions) {
    return and(...Object.entries(where).map(([field, value]) => holds(this.columns[field]!, value)));
  }

  private chosen(fields: readonly string[]) {
    return Object.fromEntries(fields.map((field) => [field, this.columns[field]!])) as never as Record<string, never>;
  }

  /** A column of a time can be read and written as a text: `timestamp({ mode: 'string' })`. */
  private stored(values: Row): Row {
    const of = (field: string, value: unknown): unknown =>
      value instanceof Date && this.columns[field]?.dataType.startsWith('string') ? value.toISOString() : value;
    return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, of(field, value)]));
  }
}

export type { IdForm, MappedUsersOptions, UserFieldNames, UserOf } from '../../identity/users/mapped-fields';
