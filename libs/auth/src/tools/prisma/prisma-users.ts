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
import type { IdForm, MappedUser, MappedUsersOptions, UserFieldNames } from '../../identity/users/mapped-fields';
import {
  type Conditions,
  IS_SET,
  MappedUsers,
  Since,
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

const FORMS: Readonly<Record<string, IdForm>> = { Int: 'integer', BigInt: 'bigint' };

/** A condition as Prisma has it. `equals` takes no null for a field that is never null. */
function holds(value: unknown): unknown {
  if (value === IS_SET) return { not: null };
  if (Array.isArray(value)) return { in: value };
  if (value instanceof Since) return { gte: new Date(value.mark) };
  return value;
}

/** Prisma reads and writes on its connections. The statements for a connection of the library are plain SQL. */
class PrismaRows implements UserTable {
  readonly label: string;
  readonly fields: readonly string[];
  private readonly model: Delegate;
  private readonly path: string;
  private readonly columns: ReadonlyMap<string, string>;
  private readonly updatedAt: string | undefined;
  private readonly clock = new Clock();

  constructor(
    private readonly client: PrismaClient,
    private readonly options: PlainOptions,
  ) {
    const { model = 'user', updatedAt = 'updatedAt' } = options;
    this.model = client[model] as Delegate;
    if (!this.model?.findUnique) throw new AuthConfigError(`The client of Prisma has no model "${model}". Set model.`);
    const { $name: name, fields } = this.model;
    this.label = `The model ${name}`;
    this.fields = Object.keys(fields);
    const data = client._runtimeDataModel?.models[name];
    if (!data)
      throw new AuthConfigError(
        'This version of Prisma does not give the names of its tables. Use Prisma 6.19 or 7, or a UserProvider of your own.',
      );
    this.path = [data.schema, data.dbName ?? name].flatMap((part) => (part ? quoted(part) : [])).join('.');
    this.columns = new Map(data.fields.map((field) => [field.name, quoted(field.dbName ?? field.name)]));
    this.updatedAt = this.fields.includes(updatedAt) ? updatedAt : undefined;
  }

  idForm(field: string): IdForm {
    return FORMS[this.model.fields[field]!.typeName] ?? 'text';
  }

  idValue(id: string, form: IdForm): unknown {
    if (form === 'integer') return Number(id);
    return form === 'bigint' ? BigInt(id) : id;
  }

  async rows(where: Conditions, fields: readonly string[]): Promise<Row[]> {
    const select = selected(fields);
    const args = { where: conditions(where), select };
    // Prisma joins the look-ups of one moment. It refuses one by a field that is not unique.
    const isOfList = Object.values(where).some((value) => Array.isArray(value));
    if (isOfList) return this.model.findMany(args);
    const row = await this.model.findUnique(args);
    return row ? [row] : [];
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
    const { newId, fields: { id = 'id' } = {} } = this.options;
    return this.model.create({ data: { ...(newId && { [id]: newId() }), ...values }, select: selected(shown) });
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
      const isText = this.idForm(id) === 'text';
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
    return this.columns.get(field)!;
  }
}

const selected = (fields: readonly string[]): object => Object.fromEntries(fields.map((field) => [field, true]));

const conditions = (where: Conditions): object =>
  Object.fromEntries(Object.entries(where).map(([field, value]) => [field, holds(value)]));

/** Prisma stores times in UTC, also in columns without a time zone, for which node-postgres would write the local time. */
const bound = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

export type { IdForm, MappedUsersOptions, UserFieldNames, UserOf } from '../../identity/users/mapped-fields';
