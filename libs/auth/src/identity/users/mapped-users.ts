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
import {
  FACTOR,
  type FieldNames,
  type FieldRole,
  type IdForm,
  type MappedUsersOptions,
  type NamedFields,
  UUID_TEXT,
  hasForm,
  isText,
  namesOf,
  shownOf,
} from './mapped-fields';
import { AFTER_INSERT, BEFORE_INSERT, IMITATION } from './typeorm-accounts';

/** A condition: any value that is not null. */
export const IS_SET = Symbol('IS_SET');

/** A condition: at this time of {@link UserTable.now}, or later. */
export class Since {
  constructor(readonly mark: string) {}
}

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
  idForm(field: string): IdForm;
  /** The value of an id in this form. */
  idValue(id: string, form: IdForm): unknown;
  rows(where: Conditions, fields: readonly string[]): Promise<Row[]>;
  /** @returns the number of changed rows */
  update(where: Conditions, values: Row): Promise<number>;
  insert(values: Row, fields: readonly string[]): Promise<Row>;
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

/** The codes of an error, and of those that it wraps: of node-postgres, of Drizzle or Prisma around it, and of TypeORM. */
function codesOf(error: unknown, depth = 5): string[] {
  if (typeof error !== 'object' || error === null || depth === 0) return [];
  const { code, originalCode, cause, driverError, meta } = error as Record<string, unknown>;
  const inner = [cause, driverError, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError];
  const own = [code, originalCode].filter((text): text is string => typeof text === 'string');
  return [...own, ...inner.flatMap((one) => codesOf(one, depth - 1))];
}

/** A unique index has found another row. The second code is that of Prisma. */
const isDuplicate = (error: unknown): boolean => codesOf(error).some((code) => code === '23505' || code === 'P2002');

/** The SQLSTATE of a value that a column cannot contain; undefined for any other error. */
const unstorable = (error: unknown): string | undefined => codesOf(error).find((code) => /^22...$/.test(code));

/** A text that the type of a column does not have, such as UUIDs, or a number out of its range; with the codes of Prisma for both. */
const isOfOtherType = (error: unknown): boolean =>
  codesOf(error).some((code) => /^(?:22P02|22003|P2007|P2020|P2023|P2033)$/.test(code));

/**
 * Reads and changes the users of a model or table of an ORM, through the statements of its table. It has a part of the port if the fields of
 * the part exist.
 */
export abstract class MappedUsers<User extends object> extends UserProvider<User> {
  private readonly names: FieldNames;
  private readonly shown: readonly string[];
  private idForm: IdForm;

  protected constructor(
    private readonly table: UserTable,
    private readonly options: MappedUsersOptions<Row>,
  ) {
    super();
    this.names = namesOf(table, options.fields ?? {});
    this.shown = shownOf(table, this.names, options.select);
    this.idForm = options.ids ?? table.idForm(this.names.id);
    // A provider knows the state of an email if it has the method.
    if (this.names.emailVerifiedAt) this.isEmailVerified = (user) => this.read(user, 'emailVerifiedAt') !== null;
  }

  async findById(id: string): Promise<User | null> {
    const row = await this.rowOf(id, this.shown);
    return row as User | null;
  }

  async findByIdentifier(identifier: string): Promise<StoredCredentials<User> | null> {
    if (!isText(identifier)) return null;
    const { identifier: field, email } = this.names;
    // The library passes emails in the form in which they are stored.
    const text = field === email ? identifier.trim().toLowerCase() : identifier;
    const [found] = await this.credentials(field, [text]);
    return found ?? null;
  }

  /** An identifier that is not the email is compared to the letter. */
  override comparedForm(identifier: string): string | null {
    return this.names.identifier === this.names.email ? null : identifier;
  }

  override async findByEmails(emails: readonly string[]): Promise<StoredCredentials<User>[]> {
    const texts = emails.filter(isText);
    return texts.length && this.names.email ? this.credentials(this.names.email, texts) : [];
  }

  override async findByEmail(email: string): Promise<User | null> {
    if (!isText(email)) return null;
    const [found] = await this.findByEmails([email.trim().toLowerCase()]);
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
    const { identifier, name, passwordHash } = this.names;
    const values = {
      [identifier]: account.identifier,
      [passwordHash]: account.passwordHash,
      ...(name && { [name]: account.name }),
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
    await manager.query(BEFORE_INSERT);
    try {
      const [row] = await run(insert(values, id));
      await manager.query(AFTER_INSERT);
      return { [id]: Object.values(row!)[0] };
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      await manager.query(`ROLLBACK TO ${BEFORE_INSERT}`);
      if ((await run(isTaken(identifier, values[identifier]))).length) return null;
      throw error;
    }
  }

  override async imitateCreation(_id: string, manager?: EntityManager): Promise<void> {
    if (!manager) return void (await this.table.execute(IMITATION));
    for (const statement of [BEFORE_INSERT, IMITATION, AFTER_INSERT]) await manager.query(statement);
  }

  override async currentMark(): Promise<string> {
    const [row] = await this.table.execute('SELECT now()::text AS mark');
    return row!.mark as string;
  }

  override async wasCreatedSince(id: string, mark: string): Promise<boolean> {
    return (await this.rowOf(id, [this.names.id], { [this.names.createdAt!]: new Since(mark) })) !== null;
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
    if (!hasForm(id, this.idForm) || !isText(to) || (from !== null && !isText(from))) return 'stale';
    try {
      return (await write({ ...this.living(id), [field]: from }, { [field]: to })) === 1 ? 'changed' : 'stale';
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  // In the transaction that deletes all other data of the account: both are deleted, or neither.
  override async delete(id: string, manager: EntityManager): Promise<boolean> {
    if (!hasForm(id, this.idForm)) return false;
    const { sql, params } = this.table.statements.delete(this.byId(id));
    return ((await manager.query(sql, params)) as [unknown, number])[1] === 1;
  }

  override async existingIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { id } = this.names;
    const asked = ids.filter((one) => hasForm(one, this.idForm)).map((one) => this.table.idValue(one, this.idForm));
    if (!asked.length) return new Set();
    try {
      return new Set((await this.table.rows({ [id]: asked }, [id])).map((row) => String(row[id])));
    } catch (error) {
      if (this.idForm !== 'text' || !isOfOtherType(error)) throw error;
      this.idForm = 'uuid';
      return this.existingIds(ids);
    }
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

  private byId(id: string): Conditions {
    return { [this.names.id]: this.table.idValue(id, this.idForm) };
  }

  private living(id?: string): Conditions {
    const { deletedAt } = this.names;
    return { ...(id !== undefined && this.byId(id)), ...(deletedAt && { [deletedAt]: null }) };
  }

  /** The row with an id; null also for a text that is no id, and for another spelling of one. */
  private async rowOf(id: string, fields: readonly string[], more: Conditions = {}): Promise<Row | null> {
    if (!hasForm(id, this.idForm)) return null;
    const rows = await this.orNoId(id, () => this.table.rows({ ...this.living(id), ...more }, fields));
    return rows?.find((row) => String(row[this.names.id]) === id) ?? null;
  }

  private async update(id: string, where: Conditions, values: Row): Promise<number> {
    if (!hasForm(id, this.idForm)) return 0;
    return (await this.orNoId(id, () => this.table.update({ ...this.living(id), ...where }, values))) ?? 0;
  }

  private async credentials(field: string, values: readonly string[]): Promise<StoredCredentials<User>[]> {
    const { passwordHash: hash } = this.names;
    const rows = await this.table.rows({ [field]: values, ...this.living() }, [...this.shown, hash]);
    return rows.map(({ [hash]: passwordHash, ...user }) => ({
      user: user as User,
      passwordHash: (passwordHash as string | null | undefined) ?? null,
    }));
  }

  /** Null if the column cannot contain the id. Prisma does not show that a column contains UUIDs, before this error. */
  private async orNoId<T>(id: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      // Otherwise the id has the form of its column, and the error is that of another value.
      if (this.idForm !== 'text' || UUID_TEXT.test(id) || !isOfOtherType(error)) throw error;
      this.idForm = 'uuid';
      return null;
    }
  }
}
