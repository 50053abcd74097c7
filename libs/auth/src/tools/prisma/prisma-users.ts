/**
 * Users in a model of Prisma.
 *
 * ```ts
 * import { PrismaUsers } from '@svc/auth/prisma';
 * ```
 *
 * @module @svc/auth/prisma
 */

import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { quoted } from '../../foundation/platform/database';
import { AuthConfigError } from '../../foundation/platform/errors';
import type {
  FieldNames,
  IdForm,
  MappedUser,
  MappedUsersOptions,
  UserFieldNames,
} from '../../identity/users/mapped-fields';
import {
  type Conditions,
  IS_SET,
  MappedUsers,
  type Statement,
  type UserTable,
} from '../../identity/users/mapped-users';

/** A model in the generated client of Prisma 6 or 7. Its symbol has the types of the model. */
interface PrismaModel {
  findUnique(args: never): unknown;
  updateMany(args: never): unknown;
}

/** The members of a client that are models, such as `user` of `prisma.user`. */
export type ModelsOf<Client> = {
  [Name in keyof Client]: Client[Name] extends PrismaModel ? Name : never;
}[keyof Client] &
  string;

type RowOf<Model> = Model extends { [K: symbol]: { types: { payload: { scalars: infer Scalars extends object } } } }
  ? Scalars
  : Record<string, unknown>;

/** The options of {@link PrismaUsers}. */
export interface PrismaUsersOptions<
  Client extends object = object,
  Model extends ModelsOf<Client> = ModelsOf<Client>,
  Fields extends UserFieldNames<keyof RowOf<Client[Model]> & string> = UserFieldNames<
    keyof RowOf<Client[Model]> & string
  >,
  Select extends readonly (keyof RowOf<Client[Model]> & string)[] = readonly (keyof RowOf<Client[Model]> & string)[],
  NewUser extends Partial<RowOf<Client[Model]>> = Partial<RowOf<Client[Model]>>,
> extends MappedUsersOptions<RowOf<Client[Model]>, Fields, Select, NewUser> {
  /** The model, as the client names it: `user` of `prisma.user`. Default: `user`. */
  readonly model?: Model;
  /**
   * A new id, for ids that are texts. Default: that of the model; and `randomUUID()` for an account that is registered with a
   * passkey, because Prisma does not write its statement.
   */
  readonly newId?: () => string;
  /** The field with `@updatedAt`, which has no default in the database. Default: `updatedAt`, if the model has it. */
  readonly updatedAt?: keyof RowOf<Client[Model]> & string;
}

/**
 * The users of a guard in a model of Prisma on PostgreSQL. It has a part of the port if the model has its fields; see
 * {@link UserFieldNames}. Accounts are deleted, and emails changed, on the connection and in the transaction of the library.
 *
 * @example
 * export const usersOf = ({ prisma }: Database) => new PrismaUsers(prisma);
 * export type User = UserOf<ReturnType<typeof usersOf>>;
 *
 * AuthModule.forRoot({ users: { provider: { useFactory: usersOf, inject: [Database] } }, … })
 * @publicApi
 */
export class PrismaUsers<
  Client extends object,
  const Model extends ModelsOf<Client> = 'user' & ModelsOf<Client>,
  const Fields extends UserFieldNames<keyof RowOf<Client[Model]> & string> = object,
  const Select extends readonly (keyof RowOf<Client[Model]> & string)[] = readonly (keyof RowOf<Client[Model]> &
    string)[],
  const NewUser extends Partial<RowOf<Client[Model]>> = Partial<RowOf<Client[Model]>>,
> extends MappedUsers<MappedUser<RowOf<Client[Model]>, Fields, Select>> {
  /**
   * @param client the generated client, also one with extensions
   * @throws AuthConfigError if the client has no such model, or the model no field for the id, the identifier or the hash
   */
  constructor(client: Client, options: PrismaUsersOptions<Client, Model, Fields, Select, NewUser> = {}) {
    const rows = new PrismaRows(client as unknown as PrismaClient, options as PlainOptions);
    super(rows, options as unknown as MappedUsersOptions);
  }
}

type Row = Record<string, unknown>;

interface PlainOptions {
  readonly model?: string;
  readonly fields?: UserFieldNames;
  readonly newId?: () => string;
  readonly updatedAt?: string;
}

interface Delegate {
  readonly $name: string;
  readonly fields: Readonly<Record<string, { readonly typeName: string }>>;
  findUnique(args: object): Promise<Row | null>;
  findFirst(args: object): Promise<Row | null>;
  findMany(args: object): Promise<Row[]>;
  updateMany(args: object): Promise<{ count: number }>;
  create(args: object): Promise<Row>;
}

/** The names of the database, which Prisma gives in no public member. */
interface DataModel {
  readonly models: Readonly<Record<string, DataModelOf | undefined>>;
}

interface DataModelOf {
  readonly dbName?: string | null;
  readonly schema?: string | null;
  readonly fields: readonly { readonly name: string; readonly dbName?: string | null }[];
}

interface PrismaClient {
  readonly [model: string]: unknown;
  readonly _runtimeDataModel?: DataModel;
  $queryRawUnsafe(sql: string, ...params: unknown[]): Promise<Row[]>;
}

/** The types of PostgreSQL with ids. A text is one if it is compared to the letter. */
const FORMS: Readonly<Record<string, IdForm>> = {
  uuid: 'uuid',
  smallint: 'smallint',
  integer: 'integer',
  bigint: 'bigint',
  text: 'text',
  'character varying': 'text',
  character: 'text',
};

/** What the database knows of a column, and the client does not. */
interface ColumnFacts {
  readonly name: string;
  /** Without its length and precision. */
  readonly type: string;
  /** With its length and precision. */
  readonly full: string;
  /** Compares texts to the letter. */
  readonly exact: boolean;
  /** Has a unique index; it may ignore case, or be on the rows that are not deleted. */
  readonly unique: boolean;
  /** The same for each column: whether the times that the database writes without a zone are those of UTC, as Prisma's are. */
  readonly utc: boolean;
}

/** The columns of the table $1. The column $2 is that of the time of deletion. A view has no indexes. */
const COLUMNS = `SELECT a.attname::text AS name, format_type(t.oid, NULL) AS type, format_type(a.atttypid, a.atttypmod) AS full,
    t.typtype = 'e' OR t.oid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
      AND coalesce((SELECT collisdeterministic FROM pg_collation WHERE oid = a.attcollation), true) AS exact,
    c.relkind NOT IN ('r', 'p') OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indnkeyatts = 1
      AND (i.indkey[0] = a.attnum OR pg_get_expr(i.indexprs, c.oid) IN
        (format('lower(%I)', a.attname), format('lower((%I)::text)', a.attname)))
      AND (i.indpred IS NULL OR pg_get_expr(i.indpred, c.oid) = '(' || quote_ident($2::text) || ' IS NULL)')) AS unique,
    lower(current_setting('TimeZone')) IN ('utc', 'etc/utc', 'gmt', 'etc/gmt') AS utc
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type d ON d.oid = a.atttypid JOIN pg_type t ON t.oid = coalesce(nullif(d.typbasetype, 0), d.oid)
  WHERE c.oid = ($1::text)::regclass`;

/** The errors of a value that Prisma or the database cannot read. */
const OF_A_VALUE = new Set<unknown>(['P2007', 'P2020', 'P2023', 'P2033']);

/** A condition as Prisma has it. `equals` takes no null for a field that is never null. */
function holds(value: unknown): unknown {
  if (value === IS_SET) return { not: null };
  if (Array.isArray(value)) return { in: value };
  return value;
}

/** Prisma reads and writes on its connections. The statements for a connection of the library are plain SQL. */
class PrismaRows implements UserTable {
  readonly name: string;
  readonly label: string;
  readonly fields: readonly string[];
  private readonly id: string;
  private readonly model: Delegate;
  private readonly path: string;
  /** The names of the columns of the fields. */
  private readonly names: ReadonlyMap<string, string>;
  private facts: ReadonlyMap<string, ColumnFacts> | undefined;
  private form: Promise<IdForm> | undefined;
  private readonly updatedAt: string | undefined;
  private readonly clock = new Clock();

  constructor(
    private readonly client: PrismaClient,
    private readonly options: PlainOptions,
  ) {
    const { model = 'user', updatedAt = 'updatedAt', fields: { id = 'id' } = {} } = options;
    this.id = id;
    this.model = client[model] as Delegate;
    if (!this.model?.findUnique) throw new AuthConfigError(`The client of Prisma has no model "${model}". Set model.`);
    const { $name: name, fields } = this.model;
    this.name = name;
    this.label = `The model ${name}`;
    this.fields = Object.keys(fields);
    const data = client._runtimeDataModel?.models[name];
    if (!data)
      throw new AuthConfigError(
        'This version of Prisma does not give the names of its tables. Use Prisma 6.19 or 7, or a UserProvider of your own.',
      );
    this.path = [data.schema, data.dbName ?? name].flatMap((part) => (part ? quoted(part) : [])).join('.');
    this.names = new Map(data.fields.map((field) => [field.name, field.dbName ?? field.name]));
    this.updatedAt = this.fields.includes(updatedAt) ? updatedAt : undefined;
  }

  formOf(names: FieldNames): Promise<IdForm> {
    return (this.form ??= this.readForm(names).catch((error: unknown) => {
      this.form = undefined;
      throw error;
    }));
  }

  /** The client shows neither the types nor the indexes of columns. An error of the database would not show them, either. */
  private async readForm(names: FieldNames): Promise<IdForm> {
    const { id, identifier, email, createdAt, deletedAt } = names;
    this.requireType(id, ['String', 'Int', 'BigInt']);
    for (const field of [identifier, email]) if (field) this.requireType(field, ['String']);
    const gone = deletedAt === undefined ? null : this.names.get(deletedAt);
    const rows = (await this.client.$queryRawUnsafe(COLUMNS, this.path, gone)) as unknown as ColumnFacts[];
    this.facts = new Map(rows.map((row) => [row.name, row]));
    const refused = (what: string): AuthConfigError => new AuthConfigError(`${this.label} has ${what}`);
    for (const field of [id, identifier, email])
      if (field && !this.factsOf(field).unique)
        throw refused(`${field}, which several users can have. Give it @unique, and the table the index.`);
    if (createdAt && !this.isZoned(createdAt) && !this.factsOf(createdAt).utc)
      throw refused(`${createdAt} without a time zone, and its connections are not in UTC. Give it @db.Timestamptz.`);
    const { type, exact } = this.factsOf(id);
    const form = FORMS[type];
    if (!form || (form === 'text' && !exact))
      throw refused(
        `an id of the type ${type}, which reads several texts as one id. Use uuid, text or a whole number.`,
      );
    return form === 'bigint' && this.typeOf(id) === 'Int' ? 'integer' : form;
  }

  private isZoned(field: string): boolean {
    return this.factsOf(field).type === 'timestamp with time zone';
  }

  private requireType(field: string, types: readonly string[]): void {
    const type = this.typeOf(field);
    if (types.includes(type)) return;
    const choice = types.join(', ').replace(/, (?=\w+$)/, ' or ');
    throw new AuthConfigError(`${this.label} has "${field}" of the type ${type}. Use ${choice}.`);
  }

  private typeOf(field: string): string {
    return this.model.fields[field]!.typeName;
  }

  private factsOf(field: string): ColumnFacts {
    const facts = this.facts?.get(this.names.get(field)!);
    if (facts) return facts;
    throw new AuthConfigError(`${this.label} has ${field}, but ${this.path} has no such column. Run the migrations.`);
  }

  isTime(field: string): boolean {
    return this.typeOf(field) === 'DateTime';
  }

  /** False before the first statement, which the start sends. */
  isExact(field: string): boolean {
    return this.facts?.get(this.names.get(field)!)?.exact ?? false;
  }

  /** The start refuses another field. */
  isUnique(): boolean {
    return true;
  }

  idValue(id: string): unknown {
    const type = this.typeOf(this.id);
    if (type === 'Int') return Number(id);
    return type === 'BigInt' ? BigInt(id) : id;
  }

  async rows(where: Conditions, fields: readonly string[]): Promise<Row[]> {
    const args = { where: conditions(where), select: selected(fields) };
    // Prisma joins the look-ups of one moment. It refuses one by a field that is not unique.
    const isOfList = Object.values(where).some((value) => Array.isArray(value));
    if (isOfList) return this.model.findMany(args);
    const row = await this.model.findUnique(args).catch((error: unknown) => {
      // It can be the value of another look-up of this moment. This statement is not joined.
      if (OF_A_VALUE.has((error as { code?: unknown }).code)) return this.model.findFirst(args);
      throw error;
    });
    return row ? [row] : [];
  }

  async isSince(where: Conditions, field: string, mark: string): Promise<boolean> {
    const params: unknown[] = [];
    const others = Object.entries(where).map(([name, value]) => {
      if (value === null) return `${this.column(name)} IS NULL`;
      const { type } = this.factsOf(name);
      return `${this.column(name)} = ($${params.push(String(value))}::text)::${FORMS[type] === 'text' ? 'text' : type}`;
    });
    const time = `($${params.push(mark)}::text)::timestamptz${this.isZoned(field) ? '' : ` AT TIME ZONE 'UTC'`}`;
    // The mark is rounded to the precision of the column.
    const since = `${this.column(field)} >= (${time})::${this.factsOf(field).full}`;
    const sql = `SELECT 1 AS one FROM ${this.path} WHERE ${[...others, since].join(' AND ')}`;
    return (await this.client.$queryRawUnsafe(sql, ...params)).length > 0;
  }

  async update(where: Conditions, data: Row): Promise<number> {
    try {
      return (await this.model.updateMany({ where: conditions(where), data })).count;
    } catch (error) {
      const isRefused = (error as Error).name === 'PrismaClientValidationError';
      // A field that takes no null is null in no row.
      if (isRefused && Object.values(where).includes(null)) return 0;
      throw error;
    }
  }

  insert(values: Row, shown: readonly string[]): Promise<Row> {
    const { newId } = this.options;
    return this.model.create({ data: { ...(newId && { [this.id]: newId() }), ...values }, select: selected(shown) });
  }

  async isTaken(field: string, value: unknown): Promise<boolean> {
    const { sql, params } = this.statements.isTaken(field, value);
    return (await this.client.$queryRawUnsafe(sql, ...params)).length > 0;
  }

  execute(text: string): Promise<Row[]> {
    return this.client.$queryRawUnsafe(text);
  }

  readonly statements = {
    insert: (values: Row, id: string): Statement => {
      const { newId = randomUUID } = this.options;
      const isText = this.typeOf(id) === 'String';
      const row = this.touched(isText ? { [id]: newId(), ...values } : values);
      const names = Object.keys(row).map((name) => this.column(name));
      const places = names.map((_, i) => `$${i + 1}`);
      const sql = `INSERT INTO ${this.path} (${names.join()}) VALUES (${places.join()}) RETURNING ${this.column(id)}`;
      return { sql, params: Object.values(row).map(bound) };
    },
    isTaken: (field: string, value: unknown): Statement => ({
      sql: `SELECT 1 AS one FROM ${this.path} WHERE lower(${this.column(field)}::text) = lower($1) LIMIT 1`,
      params: [value],
    }),
    update: (where: Conditions, values: Row): Statement => {
      const row = Object.entries(this.touched(values));
      const params = row.map(([, value]) => bound(value));
      const set = row.map(([name], i) => `${this.column(name)} = $${i + 1}`).join();
      return { sql: `UPDATE ${this.path} SET ${set} WHERE ${this.all(where, params)}`, params };
    },
    delete: (where: Conditions): Statement => {
      const params: unknown[] = [];
      return { sql: `DELETE FROM ${this.path} WHERE ${this.all(where, params)}`, params };
    },
  };

  /** @param params receives the values */
  private all(where: Conditions, params: unknown[]): string {
    const parts = Object.entries(where).map(([field, value]) =>
      value === null ? `${this.column(field)} IS NULL` : `${this.column(field)} = $${params.push(value)}`,
    );
    return parts.join(' AND ');
  }

  private touched(values: Row): Row {
    return this.updatedAt === undefined ? values : { [this.updatedAt]: new Date(this.clock.now()), ...values };
  }

  private column(field: string): string {
    return quoted(this.names.get(field)!);
  }
}

const selected = (fields: readonly string[]): object => Object.fromEntries(fields.map((field) => [field, true]));

const conditions = (where: Conditions): object =>
  Object.fromEntries(Object.entries(where).map(([field, value]) => [field, holds(value)]));

/** Prisma stores times in UTC, also in columns without a time zone, for which node-postgres would write the local time. */
const bound = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

export type { IdForm, MappedUsersOptions, UserFieldNames, UserOf } from '../../identity/users/mapped-fields';
