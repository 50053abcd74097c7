/**
 * Users in a table of Drizzle.
 *
 * ```ts
 * import { DrizzleUsers } from '@svc/auth/drizzle';
 * ```
 *
 * @module @svc/auth/drizzle
 */

import {
  type Column,
  type SQL,
  and,
  eq,
  getTableColumns,
  getTableName,
  inArray,
  is,
  isNotNull,
  isNull,
  sql,
} from 'drizzle-orm';
import {
  PgColumn,
  type PgDatabase,
  PgDialect,
  type PgQueryResultHKT,
  type PgTable,
  getTableConfig,
} from 'drizzle-orm/pg-core';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { IdForm, MappedUser, MappedUsersOptions, UserFieldNames } from '../../identity/users/mapped-fields';
import {
  type Conditions,
  IS_SET,
  MappedUsers,
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
   * @throws AuthConfigError if the table has no column for the id, the identifier or the hash, or one that does not fit
   */
  constructor(
    database: DrizzleDatabase,
    table: Table,
    options: MappedUsersOptions<RowOf<Table>, Fields, Select, NewUser> = {},
  ) {
    const { id = 'id', createdAt } = (options.fields ?? {}) as UserFieldNames;
    const rows = new DrizzleRows(database as unknown as AnyDatabase, table as unknown as PgTable, id);
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
  smallint: 'smallint',
  smallserial: 'smallint',
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
  return eq(column, value);
}

/** The types of texts that PostgreSQL compares to the letter. */
const EXACT = /^(?:text|varchar|char|bpchar)\b/;

const isExact = (column: Column): boolean => EXACT.test(column.getSQLType()) || (column.enumValues?.length ?? 0) > 0;

const dialect = new PgDialect();

/** The SQL of an expression in an index, without the names of tables, quotation marks and brackets. */
const plainSql = (expression: SQL): string =>
  dialect
    .sqlToQuery(expression)
    .sql.replaceAll(/"[^"]+"\."/g, '"')
    .replaceAll(/["()]/g, '')
    .toLowerCase();

/** Drizzle writes each statement, also those for a connection of the library. */
class DrizzleRows implements UserTable {
  readonly name: string;
  readonly label: string;
  readonly fields: readonly string[];
  private readonly columns: Record<string, Column>;

  constructor(
    private readonly database: AnyDatabase,
    private readonly table: PgTable,
    private readonly id: string,
  ) {
    this.columns = getTableColumns(table) as Record<string, Column>;
    this.fields = Object.keys(this.columns);
    this.name = getTableName(table);
    this.label = `The table ${this.name}`;
  }

  async formOf(): Promise<IdForm> {
    const column = this.columns[this.id]!;
    const type = column.getSQLType();
    if (FORMS[type]) return FORMS[type];
    // A number of another type, such as numeric with the mode number, is a whole one as an id.
    if (/^(?:number|bigint)/.test(column.dataType)) return 'bigint';
    return /^numeric\b/.test(type) ? 'numeric' : 'text';
  }

  isTime(field: string): boolean {
    return /^(?:timestamp|date\b)/.test(this.columns[field]!.getSQLType());
  }

  isExact(field: string): boolean {
    return isExact(this.columns[field]!);
  }

  /** A unique index counts, too, if it ignores case, or is on the rows that are not deleted. */
  isUnique(field: string, deletedAt?: string): boolean {
    const column = this.columns[field]!;
    const { primaryKeys, uniqueConstraints, indexes } = getTableConfig(this.table);
    const isOnly = ([first, ...others]: readonly unknown[]): boolean =>
      !others.length && (first as { name?: unknown }).name === column.name;
    const isFolded = ([first, ...others]: readonly unknown[]): boolean =>
      !others.length &&
      !is(first, PgColumn) &&
      (first as SQL).queryChunks !== undefined &&
      plainSql(first as SQL) === `lower${column.name}`.toLowerCase();
    const living = deletedAt && `${this.columns[deletedAt]!.name} is null`.toLowerCase();
    return (
      column.primary ||
      column.isUnique ||
      [...primaryKeys, ...uniqueConstraints].some(({ columns }) => isOnly(columns)) ||
      indexes.some(
        ({ config: { unique, columns, where } }) =>
          unique && (isOnly(columns) || isFolded(columns)) && (!where || plainSql(where) === living),
      )
    );
  }

  /** Drizzle would read one of several users with the id, and change all. */
  requireUnique(field: string): void {
    if (this.isUnique(field)) return;
    throw new AuthConfigError(
      `${this.label} has ${field}, which several users can have. Declare it .primaryKey() or .unique().`,
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

  async isSince(where: Conditions, field: string, mark: string): Promise<boolean> {
    const column = this.columns[field]!;
    // The mark is rounded to the precision of the column.
    const isSince = sql`${column} >= ${mark}::${sql.raw(column.getSQLType())}`;
    return (await this.selecting([field], and(this.all(where), isSince))).length > 0;
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
    return and(
      ...Object.entries(where).map(([field, value]) => holds(this.columns[field]!, value)),
      this.spelled(where),
    );
  }

  /** A column such as citext or numeric reads several texts as one id. Only that of the row itself names it. */
  private spelled({ [this.id]: id }: Conditions) {
    const column = this.columns[this.id]!;
    const isOneText = isExact(column) || FORMS[column.getSQLType()] !== undefined;
    const isRead = /^(?:string|custom)/.test(column.dataType);
    return typeof id === 'string' && isRead && !isOneText ? sql`${column}::text = ${id}` : undefined;
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
