import type { EntityManager, EntityMetadata, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { idColumnOf, isStorable, storedAs } from './columns';
import { isDuplicate } from './mapped-fields';
import { KEY, hydrate, isPlain, ownColumns } from './user-rows';
import { outerTransaction } from '../../foundation/platform/deadline';
import { type Database, quoted, quotedPath } from '../../foundation/platform/database';
import type { Client } from '../../foundation/platform/pg-connection';
import { IsNull } from '../../foundation/platform/entity';
import type { NewAccount, ReplacementResult, Replacing } from '../../foundation/ports/user-provider';

/**
 * The savepoint of an insert that is part of a transaction. Without it, a duplicate ends the whole transaction. It is not released:
 * the commit does that, without a round trip of its own.
 */
const SAVEPOINT = 'SAVEPOINT svc_create';

/**
 * Runs an insert as a part of a transaction. Resolves to null after a duplicate, and the transaction can continue. The savepoint is
 * sent with the insert, and before it: `connect` of a connection that is open resolves to its client.
 *
 * @param isTaken whether the duplicate is that of the identifier; another one is an error
 */
export async function insertIn<T>(
  { queryRunner }: EntityManager,
  insert: () => Promise<T>,
  isTaken: () => Promise<boolean>,
): Promise<T | null> {
  const client = (await queryRunner!.connect()) as Client;
  const [saved, inserted] = await Promise.allSettled([client.query(SAVEPOINT), insert()]);
  if (saved.status === 'rejected') throw saved.reason;
  if (inserted.status === 'fulfilled') return inserted.value;
  const error: unknown = inserted.reason;
  if (!isDuplicate(error)) throw error;
  await client.query(`ROLLBACK TO ${SAVEPOINT}`);
  if (await isTaken()) return null;
  throw error;
}

/** Does the work of {@link insertIn} without an insert. */
export const imitateIn = (manager: EntityManager): Promise<unknown> =>
  insertIn(
    manager,
    () => manager.query(IMITATION),
    async () => false,
  );

export const IMITATION = `SELECT 1 FROM pg_logical_emit_message(true, 'svc-auth', ''::text)`;

/** The time of the database in microseconds (US) or whole milliseconds (MS), in every zone and form of dates of the connection. */
export const markIn = (unit: 'US' | 'MS'): string =>
  `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${unit}"Z"') AS mark`;

/** A row of the library that is stored in the statement that creates its user. */
export interface RowBeside {
  /**
   * The statement; it returns a row if it has stored one.
   *
   * @param userId SQL of the id of the user
   * @param first the number of the first parameter
   */
  insert(userId: string, first: number): string;
  readonly values: readonly unknown[];
}

/** The account, or why there is none: the identifier has an account, or the row beside it was not stored. */
export type CreatedBeside<User> = { readonly user: User } | 'taken' | 'refused';

/** SQLSTATE of a division by zero, with which a statement ends that has not stored the row beside the account. */
const DIVISION_BY_ZERO = '22012';

/** Creates, dates, verifies and deletes the rows of one entity's users. */
export class TypeOrmAccounts<User extends ObjectLiteral> {
  constructor(
    private readonly repository: Repository<User>,
    private readonly username: string,
    private readonly database: Database,
  ) {}

  has(property: string): boolean {
    return this.repository.metadata.findColumnWithPropertyName(property) !== undefined;
  }

  /** The property that holds the email: `email`, or the identifier where the entity has no column `email`. */
  get email(): string {
    return this.has('email') ? 'email' : this.username;
  }

  /** Inserts a row and returns it, or null if the identifier is taken. The unique index decides. */
  async create(account: NewAccount): Promise<User | null> {
    const { identifier } = account;
    const values = this.valuesOf(account);
    try {
      // After a 503 the row must not be committed later: a retry of the client would find the identifier taken.
      return await this.database.transaction((_, manager) => this.insert(manager, values), this.callsHost);
    } catch (error) {
      // A conflict on another unique column is an error: the user cannot choose that value.
      const isTaken = () => this.database.transaction((_, manager) => this.isTaken(manager, identifier));
      if (isDuplicate(error) && (await isTaken())) return null;
      throw error;
    }
  }

  /** Inserts a row as {@link create} does, as part of a transaction, which can continue after a taken identifier. */
  createIn(manager: EntityManager, account: NewAccount): Promise<User | null> {
    const isTaken = (): Promise<boolean> => this.isTaken(manager, account.identifier);
    return insertIn(manager, () => this.insert(manager, this.valuesOf(account)), isTaken);
  }

  /**
   * Inserts a row as {@link create} does and a row that names it: both or neither, in one round trip. Null where one statement cannot
   * do it: with code of the host, in a transaction of the host, and for an entity with more than its own columns.
   */
  async createBeside(account: NewAccount, row: RowBeside): Promise<CreatedBeside<User> | null> {
    const { metadata, target, manager } = this.repository;
    const { source } = this.database;
    if (this.callsHost || outerTransaction() || !isPlain(source, metadata)) return null;
    const columns = ownColumns(metadata).filter(({ propertyName }) => propertyName !== 'passwordHash');
    const returned = columns.map(({ databaseName }) => quoted(databaseName)).join(', ');
    const [insert, values] = manager
      .createQueryBuilder()
      .insert()
      .into(target)
      .values(this.repository.create(this.valuesOf(account)) as never)
      .returning(`${returned}, ${quoted(idColumnOf(metadata).databaseName)}::text AS ${KEY}`)
      .getQueryAndParameters();
    const statement = `WITH created AS (${insert}),
      beside AS (${row.insert(`(SELECT ${KEY} FROM created)`, values.length + 1)})
      SELECT *, 1 / (SELECT count(*) FROM beside) AS svc_beside FROM created`;
    try {
      const all = [...values, ...row.values];
      const [created] = await this.database.transaction((sql) => sql<object>(statement, all, null), false, true);
      return { user: hydrate(source, metadata, columns, created as never) as User };
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === DIVISION_BY_ZERO) return 'refused';
      const isTaken = () => this.database.transaction((_, other) => this.isTaken(other, account.identifier));
      if (isDuplicate(error) && (await isTaken())) return 'taken';
      throw error;
    }
  }

  private valuesOf({ identifier, emailVerifiedAt, ...account }: NewAccount): User {
    const verified = emailVerifiedAt && this.email === this.username && { emailVerifiedAt };
    return { [this.username]: identifier, ...account, ...verified } as unknown as User;
  }

  private async insert(manager: EntityManager, values: User): Promise<User> {
    const { target, metadata } = this.repository;
    const user = this.repository.create(values);
    // `save` would update the row that already has the primary key, and so replace the password of another account.
    if (idColumnOf(metadata).propertyName in values) await manager.insert(target, user as never);
    else await manager.save(user, { transaction: false });
    return user;
  }

  /**
   * Waits as the insert of a row does: the message is written to the log of the database, so the commit waits for the disk
   * and for standbys, too. It updates no index and runs no code of the host, such as subscribers. A lock of a row would do
   * the same, but not for a view.
   */
  async imitateInsert(): Promise<void> {
    await this.database.transaction((sql) => sql(IMITATION));
  }

  /** Whether rows store their creation time by the database's clock, independent of the time zone of a connection. */
  get areDated(): boolean {
    const { createDateColumn, connection } = this.repository.metadata;
    return !!createDateColumn && connection.driver.normalizeType(createDateColumn) === 'timestamp with time zone';
  }

  /** The database's time; in a transaction of the host the time of its begin, with which its rows are dated. */
  async currentMark(): Promise<string> {
    const [row] = await this.database.query<{ mark: string }>(markIn('US'));
    return row!.mark;
  }

  /** Whether a row was created at or after the mark. Updates do not change the creation date. */
  async wasCreatedSince(id: string, mark: string): Promise<boolean> {
    const { createDateColumn, tablePath } = this.repository.metadata;
    const { databaseName, precision } = createDateColumn!;
    const [row] = await this.database.query<{ newer: boolean }>(
      // The mark is rounded to the precision of the column.
      `SELECT ${quoted(databaseName)} >= $2::timestamptz(${precision ?? 6}) AS newer
         FROM ${quotedPath(tablePath)} WHERE ${quoted(idColumnOf(this.repository.metadata).databaseName)} = $1`,
      [id, mark],
    );
    return row?.newer === true;
  }

  async markVerified(where: FindOptionsWhere<User>, email: string, at: Date): Promise<boolean> {
    const unverified = { ...where, ...this.having(this.email, email), emailVerifiedAt: IsNull() };
    return this.database.withManager(async (manager) => {
      const { affected } = await manager.update(this.repository.target, unverified, { emailVerifiedAt: at } as never);
      return affected === 1;
    }, this.callsHost);
  }

  /**
   * Replaces the value of a unique column. The unique index decides. After `taken`, the transaction can only be rolled back.
   *
   * @param more further columns to store
   */
  async replace(
    where: FindOptionsWhere<User>,
    property: string,
    { from, to }: Replacing,
    more: object,
    manager: EntityManager,
  ): Promise<ReplacementResult> {
    const current = { ...where, ...(from === null ? { [property]: IsNull() } : this.having(property, from)) };
    try {
      const { affected } = await manager.update(this.repository.target, current, { [property]: to, ...more } as never);
      return affected === 1 ? 'changed' : 'stale';
    } catch (error) {
      // The statement stores no other value that a user has chosen.
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  /** Runs `work` in a transaction of its own, which is rolled back unless the result is `changed`. */
  async inTransaction(work: (manager: EntityManager) => Promise<ReplacementResult>): Promise<ReplacementResult> {
    let result: ReplacementResult | undefined;
    const undo = new Error('rolled back');
    try {
      return await this.database.transaction(async (_, manager) => {
        result = await work(manager);
        if (result !== 'changed') throw undo;
        return result;
      }, this.callsHost);
    } catch (error) {
      if (error === undo && result !== undefined) return result;
      throw error;
    }
  }

  /** Deletes the row permanently, also for an entity with a `@DeleteDateColumn`. */
  async delete(where: FindOptionsWhere<User>, manager: EntityManager): Promise<boolean> {
    const { affected } = await manager.delete(this.repository.target, where);
    return affected === 1;
  }

  /** The condition that a user has this value now. */
  private having(property: string, value: string): FindOptionsWhere<User> {
    const [where] = storedAs(this.repository.metadata.findColumnWithPropertyName(property)!, [value]);
    return where as FindOptionsWhere<User>;
  }

  private get callsHost(): boolean {
    return this.database.callsHost(this.repository.target);
  }

  /** Whether a row has the identifier. Soft-deleted rows count. */
  private async isTaken(manager: EntityManager, identifier: string): Promise<boolean> {
    if (!isStorable(identifier)) return false;
    const column = quoted(this.repository.metadata.findColumnWithPropertyName(this.username)!.databaseName);
    const rows = () => manager.createQueryBuilder(this.repository.target, 'u').withDeleted();
    const isStored = await rows()
      .setFindOptions({ where: { [this.username]: identifier } as never })
      .getExists();
    if (isStored) return true;
    // An index on an expression, such as lower(email), treats other spellings as equal.
    return rows().where(`lower(u.${column}::text) = lower(:identifier)`, { identifier }).getExists();
  }
}

/** Whether an entity declares a column unique, at least among the rows that are not soft-deleted. */
export function isUnique(
  { primaryColumns, uniques, indices, deleteDateColumn }: EntityMetadata,
  property: string,
): boolean {
  const isOnly = (columns: ColumnMetadata[]): boolean => columns.length === 1 && columns[0]!.propertyName === property;
  const deletedAt = deleteDateColumn?.databaseName;
  const live = deletedAt === undefined ? [] : [deletedAt, quoted(deletedAt)].map((name) => `${name} IS NULL`);
  const isLive = (where: string): boolean =>
    live.some((text) => [text, `(${text})`].some((spelling) => spelling.toLowerCase() === where.toLowerCase()));
  return (
    isOnly(primaryColumns) ||
    uniques.some(({ columns }) => isOnly(columns)) ||
    indices.some(({ isUnique: unique, columns, where }) => unique && isOnly(columns) && (!where || isLive(where)))
  );
}
