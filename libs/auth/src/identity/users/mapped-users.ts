import type { EntityManager } from 'typeorm';
import {
  type EmailReplacement,
  type NewAccount,
  type OptionalPorts,
  type ReplacementResult,
  type Replacing,
  type StoredCredentials,
  type StoredSecondFactor,
  UserProvider,
} from '../../foundation/ports/user-provider';
import { foldedIdentifier } from './identifiers';
import {
  ANY_ID,
  FACTOR,
  type FieldNames,
  type FieldRole,
  type IdForm,
  type MappedUsersOptions,
  type NamedFields,
  hasForm,
  isDuplicate,
  isText,
  namesOf,
  orNone,
  shownOf,
  unstorable,
} from './mapped-fields';
import { IMITATION, imitateIn, insertIn, markIn } from './typeorm-accounts';

/** A condition: any value that is not null. */
export const IS_SET = Symbol('IS_SET');

/** Conditions on fields, which are all true: null is no value, and a list contains the value. */
export type Conditions = Readonly<Record<string, unknown>>;
type Row = Record<string, unknown>;

/** A statement with the names and values of the database. */
export interface Statement {
  readonly sql: string;
  readonly params: unknown[];
}

/** The rows of users in an ORM. Each write is one statement. */
export interface UserTable extends NamedFields {
  readonly name: string;
  /**
   * The form of the ids. Is awaited before each statement, and can ask the database.
   *
   * @throws AuthConfigError for columns that do not fit
   */
  formOf(names: FieldNames): Promise<IdForm>;
  /** Whether a column is known to compare texts to the letter. */
  isExact(field: string): boolean;
  /** Whether two users cannot have one value. */
  isUnique(field: string, deletedAt?: string): boolean;
  /** The value of an id in this form. */
  idValue(id: string, form: IdForm): unknown;
  rows(where: Conditions, fields: readonly string[]): Promise<Row[]>;
  /** @returns the number of changed rows */
  update(where: Conditions, values: Row): Promise<number>;
  insert(values: Row, fields: readonly string[]): Promise<Row>;
  /** Whether the row has this time in a field, or a later one. */
  isSince(where: Conditions, field: string, mark: string): Promise<boolean>;
  /** Whether a row has the value, regardless of case. */
  isTaken(field: string, value: unknown): Promise<boolean>;
  execute(sql: string): Promise<Row[]>;
  /** The same for a connection of the library. */
  readonly statements: {
    insert(values: Row, id: string): Statement;
    isTaken(field: string, value: unknown): Statement;
    update(where: Conditions, values: Row): Statement;
    delete(where: Conditions): Statement;
  };
}

/** A time as an ORM reads it. */
const isTime = (value: unknown): boolean => value instanceof Date || typeof value === 'string';

/**
 * Reads and changes the users of a model or table of an ORM, through the statements of its table. It has a part of the port if the fields of
 * the part exist.
 */
export abstract class MappedUsers<User extends object> extends UserProvider<User> {
  private readonly names: FieldNames;
  private readonly shown: readonly string[];

  protected constructor(
    private readonly table: UserTable,
    private readonly options: MappedUsersOptions<Row>,
  ) {
    super();
    this.names = namesOf(table, options.fields ?? {});
    this.shown = shownOf(table, this.names, options.select);
    // A provider knows the state of an email if it has the method.
    if (this.names.emailVerifiedAt) this.isEmailVerified = (user) => isTime(this.read(user, 'emailVerifiedAt'));
  }

  async findById(id: string): Promise<User | null> {
    const row = await this.rowOf(id, this.shown);
    return row as User | null;
  }

  async findByIdentifier(identifier: string): Promise<StoredCredentials<User> | null> {
    if (!isText(identifier)) return null;
    const { identifier: field, email } = this.names;
    // The library passes emails in the form in which they are stored.
    const text = field === email ? foldedIdentifier(identifier) : identifier;
    const [found] = await this.credentials(field, [text]);
    return found ?? null;
  }

  /** An identifier that is not the email is compared to the letter, if its column is known to do so. */
  override comparedForm(identifier: string): string | null {
    const { identifier: field, email } = this.names;
    if (field === email) return null;
    return this.table.isExact(field) ? identifier : foldedIdentifier(identifier);
  }

  override async findByEmails(emails: readonly string[]): Promise<StoredCredentials<User>[]> {
    const texts = emails.filter(isText);
    return texts.length && this.names.email ? this.credentials(this.names.email, texts) : [];
  }

  override async findByEmail(email: string): Promise<User | null> {
    if (!isText(email)) return null;
    const [found] = await this.findByEmails([foldedIdentifier(email)]);
    return found?.user ?? null;
  }

  async passwordHashOf(id: string): Promise<string | null> {
    const row = await this.rowOf(id, [this.names.id, this.names.passwordHash]);
    return (row?.[this.names.passwordHash] as string | null | undefined) ?? null;
  }

  async savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean> {
    const field = this.names.passwordHash;
    const current = replacing === undefined ? {} : { [field]: replacing };
    return (await this.update(id, current, { [field]: passwordHash })) === 1;
  }

  override async secondFactorOf(id: string): Promise<StoredSecondFactor | null> {
    const [secret, recoveryCodes, confirmedAt] = this.factor;
    const row = await this.rowOf(id, [this.names.id, ...this.factor]);
    if (!row) return null;
    const at = row[confirmedAt!] as Date | string | null;
    return {
      secret: row[secret!] as string | null,
      recoveryCodes: row[recoveryCodes!] as string | null,
      confirmedAt: at === null ? null : new Date(at),
    };
  }

  override async replaceSecondFactor(
    id: string,
    current: StoredSecondFactor,
    next: StoredSecondFactor,
  ): Promise<boolean> {
    const stored = (state: StoredSecondFactor, confirmedAt: unknown): Row =>
      Object.fromEntries(this.factor.map((field, i) => [field, [state.secret, state.recoveryCodes, confirmedAt][i]]));
    // Whether it is set, and not the date: a database can store more digits than a Date has.
    const where = stored(current, current.confirmedAt ? IS_SET : null);
    return (await this.update(id, where, stored(next, next.confirmedAt))) === 1;
  }

  override async markEmailVerified(id: string, email: string, at: Date): Promise<boolean> {
    const { email: field, emailVerifiedAt } = this.names;
    if (!isText(email)) return false;
    return (await this.update(id, { [field!]: email, [emailVerifiedAt!]: null }, { [emailVerifiedAt!]: at })) === 1;
  }

  /** A unique index decides. */
  override async create(account: NewAccount, manager?: EntityManager): Promise<User | null> {
    const { identifier, name, passwordHash, email, emailVerifiedAt } = this.names;
    const { emailVerifiedAt: verifiedAt } = account;
    const values = {
      [identifier]: account.identifier,
      [passwordHash]: account.passwordHash,
      ...(name && { [name]: account.name }),
      ...(verifiedAt && email === identifier && emailVerifiedAt && { [emailVerifiedAt]: verifiedAt }),
      ...this.options.newUser?.(account),
    };
    try {
      if (manager) return (await this.createIn(manager, values)) as User | null;
      return (await this.table.insert(values, this.shown)) as User;
    } catch (error) {
      // A conflict on another column than the identifier is an error.
      if (!manager && isDuplicate(error) && (await this.table.isTaken(identifier, account.identifier))) return null;
      const code = unstorable(error);
      // An ORM has the code in a wrapped error: with it the registration names the fields.
      if (code) throw Object.assign(new Error((error as Error).message, { cause: error }), { code });
      throw error;
    }
  }

  /** In the transaction of the library, which another connection would wait for. The error of a taken identifier must not end it. */
  private async createIn(manager: EntityManager, values: Row): Promise<Row | null> {
    const { id, identifier } = this.names;
    const { insert, isTaken } = this.table.statements;
    const run = ({ sql, params }: Statement): Promise<Row[]> => manager.query(sql, params);
    return insertIn(
      manager,
      async () => ({ [id]: Object.values((await run(insert(values, id)))[0]!)[0] }),
      async () => (await run(isTaken(identifier, values[identifier]))).length > 0,
    );
  }

  override async imitateCreation(_id: string, manager?: EntityManager): Promise<void> {
    await (manager ? imitateIn(manager) : this.table.execute(IMITATION));
  }

  // In whole milliseconds: the host may have dated the user with a Date, which has no microseconds.
  override async currentMark(): Promise<string> {
    const [row] = await this.table.execute(markIn('MS'));
    return row!.mark as string;
  }

  override async wasCreatedSince(id: string, mark: string): Promise<boolean> {
    const where = await this.byId(id);
    const since = where && orNone(this.table.isSince({ ...where, ...this.living }, this.names.createdAt!, mark));
    return (await since) ?? false;
  }

  // In the transaction that also records the change. The unique index decides between two users.
  override async changeEmail(
    id: string,
    { from, to, verifiedAt }: EmailReplacement,
    manager: EntityManager,
  ): Promise<ReplacementResult> {
    const { emailVerifiedAt } = this.names;
    const more = emailVerifiedAt ? { [emailVerifiedAt]: verifiedAt } : {};
    return this.replace(id, this.names.email!, { from, to }, async (where, values) => {
      const { sql, params } = this.table.statements.update(where, { ...values, ...more });
      return ((await manager.query(sql, params)) as [unknown, number])[1];
    });
  }

  override async changeIdentifier(id: string, change: Replacing): Promise<ReplacementResult> {
    return this.replace(id, this.names.identifier, change, (where, values) => this.table.update(where, values));
  }

  private async replace(
    id: string,
    field: string,
    { from, to }: Replacing,
    write: UserTable['update'],
  ): Promise<ReplacementResult> {
    const where = await this.byId(id);
    if (!where || !isText(to) || (from !== null && !isText(from))) return 'stale';
    try {
      return (await write({ ...where, ...this.living, [field]: from }, { [field]: to })) === 1 ? 'changed' : 'stale';
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  // In the transaction that deletes all other data of the account: both are deleted, or neither.
  override async delete(id: string, manager: EntityManager): Promise<boolean> {
    const where = await this.byId(id);
    if (!where) return false;
    const { sql, params } = this.table.statements.delete(where);
    return ((await manager.query(sql, params)) as [unknown, number])[1] === 1;
  }

  /** Null, "unknown", if the database cannot read one of the ids: no user may count as missing. */
  override async existingIds(ids: readonly string[]): Promise<ReadonlySet<string> | null> {
    const { id } = this.names;
    const form = await this.form();
    const asked = ids.filter((one) => hasForm(one, form)).map((one) => this.table.idValue(one, form));
    if (!asked.length) return new Set();
    const rows = await orNone(this.table.rows({ [id]: asked }, [id]));
    return rows && new Set(rows.map((row) => String(row[id])));
  }

  /** By the fields of the table: the methods are always present. */
  override offers(method: keyof OptionalPorts): boolean {
    const { names } = this;
    const isDated = names.createdAt !== undefined;
    const storesFactors = this.factor.length === FACTOR.length;
    const offered: Record<keyof OptionalPorts, boolean> = {
      findByEmails: names.email !== undefined,
      create: true,
      currentMark: isDated,
      wasCreatedSince: isDated,
      markEmailVerified: names.email !== undefined && names.emailVerifiedAt !== undefined,
      changeEmail: names.email !== undefined,
      changeIdentifier: names.identifier !== names.email,
      delete: true,
      secondFactorOf: storesFactors,
      replaceSecondFactor: storesFactors,
    };
    return offered[method];
  }

  /** The name of a column if several users can have its value, as far as the declaration shows it. */
  sharedColumn(kind: 'identifier' | 'email'): string | null {
    const field = this.names[kind];
    if (field === undefined || this.table.isUnique(field, this.names.deletedAt)) return null;
    return `${this.table.name}.${field}`;
  }

  idOf(user: User): string {
    return String(this.read(user, 'id'));
  }

  override publicIdOf(user: User): string | number {
    const id = this.read(user, 'id');
    return Number.isSafeInteger(id) ? (id as number) : this.idOf(user);
  }

  override identifierOf(user: User): string | null {
    return this.read(user, 'identifier') as string | null;
  }

  override emailOf(user: User): string | null {
    return this.read(user, 'email') as string | null;
  }

  private read(user: User, role: FieldRole): unknown {
    const name = this.names[role];
    return (name === undefined ? undefined : (user as Row)[name]) ?? null;
  }

  private get factor(): string[] {
    return FACTOR.flatMap((role) => this.names[role] ?? []);
  }

  /** After a failure, the database is asked again. */
  private async form(): Promise<IdForm> {
    const form = await this.table.formOf(this.names);
    return this.options.ids ?? form;
  }

  /** The condition of an id; null for a text that is no id. */
  private async byId(id: string): Promise<Conditions | null> {
    const form = await this.form();
    return hasForm(id, form) ? { [this.names.id]: this.table.idValue(id, form) } : null;
  }

  private get living(): Conditions {
    const { deletedAt } = this.names;
    return deletedAt ? { [deletedAt]: null } : {};
  }

  /**
   * The row with an id; null also for a text that is no id, and for another spelling of one. The library also asks for an id without a
   * user, and the time must not show it: there is a statement for each text.
   */
  private async rowOf(id: string, fields: readonly string[]): Promise<Row | null> {
    const form = await this.form();
    const where = await this.byId(hasForm(id, form) ? id : ANY_ID[form]);
    const rows = await orNone(this.table.rows({ ...where, ...this.living }, fields));
    return rows?.find((row) => String(row[this.names.id]) === id) ?? null;
  }

  private async update(id: string, more: Conditions, values: Row): Promise<number> {
    const where = await this.byId(id);
    if (!where) return 0;
    const changed = this.table.update({ ...where, ...this.living, ...more }, values);
    // An id in the form of its column is in the type of the column: the error is that of another value.
    return (await ((await this.form()) === 'text' ? orNone(changed) : changed)) ?? 0;
  }

  /** The rows with one of the values, regardless of case if the column ignores it: a number has one spelling, and an accent counts. */
  private async credentials(field: string, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const { passwordHash: hash } = this.names;
    await this.form();
    const rows = await orNone(this.table.rows({ [field]: values, ...this.living }, [...this.shown, hash]));
    const asked = new Set(values.map(foldedIdentifier));
    const spelled = (rows ?? []).filter((row) => asked.has(foldedIdentifier(String(row[field]))));
    return spelled.map(({ [hash]: passwordHash, ...user }) => ({
      user: user as User,
      passwordHash: (passwordHash as string | null | undefined) ?? null,
    }));
  }
}
