import {
  type EntityManager,
  type EntityMetadata,
  type FindOptionsWhere,
  IsNull,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { type Database, quoted, quotedPath } from '../../foundation/platform/database';
import type { NewAccount } from '../../foundation/ports/user-provider';

// SQLSTATE 23505, unique violation.
const isDuplicate = (error: unknown): boolean =>
  (error as { driverError?: { code?: string } }).driverError?.code === '23505';

/** The rows of one entity's users, from their creation to their end. */
export class AccountRows<User extends ObjectLiteral> {
  constructor(
    private readonly repository: Repository<User>,
    private readonly username: string,
    private readonly database: Database,
  ) {}

  has(property: string): boolean {
    return this.repository.metadata.findColumnWithPropertyName(property) !== undefined;
  }

  /** The property that holds the email; the identifier where there is no such column. */
  get email(): string {
    return this.has('email') ? 'email' : this.username;
  }

  /** The new row, or null where the identifier is taken. The unique index decides. */
  async create({ identifier, passwordHash, name }: NewAccount): Promise<User | null> {
    const values = { [this.username]: identifier, passwordHash, name } as unknown as User;
    try {
      // Where the answer is 503, the row must not come later: whoever tries again would find it taken.
      return await this.database.transaction((_, manager) =>
        manager.save(this.repository.create(values), { transaction: false }),
      );
    } catch (error) {
      // The value of another unique column is none that could be chosen otherwise.
      if (isDuplicate(error) && (await this.isTaken(identifier))) return null;
      throw error;
    }
  }

  /** Whether rows tell when they were created, by the database's clock and whatever the time zone of a connection. */
  get areDated(): boolean {
    const { createDateColumn, connection } = this.repository.metadata;
    return !!createDateColumn && connection.driver.normalizeType(createDateColumn) === 'timestamp with time zone';
  }

  /** The database's time. */
  async currentMark(): Promise<string> {
    const [row] = await this.repository.query(
      `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS mark`,
    );
    return row.mark;
  }

  /** Whether a row was created since the mark. Its date stays what it was through every update. */
  async wasCreatedSince(id: string, mark: string): Promise<boolean> {
    const { createDateColumn, primaryColumns, tablePath } = this.repository.metadata;
    const { databaseName, precision } = createDateColumn!;
    const [row] = await this.repository.query(
      // Rounded as the column rounds.
      `SELECT ${quoted(databaseName)} >= $2::timestamptz(${precision ?? 6}) AS newer
         FROM ${quotedPath(tablePath)} WHERE ${quoted(primaryColumns[0]!.databaseName)} = $1`,
      [id, mark],
    );
    return row?.newer === true;
  }

  async markVerified(where: FindOptionsWhere<User>, email: string, at: Date): Promise<boolean> {
    const unverified = { ...where, [this.email]: email, emailVerifiedAt: IsNull() };
    const { affected } = await this.repository.update(unverified, { emailVerifiedAt: at } as never);
    return affected === 1;
  }

  /** Deletes the row itself, also of an entity with a delete date. */
  async delete(where: FindOptionsWhere<User>, manager: EntityManager): Promise<boolean> {
    const { affected } = await manager.delete(this.repository.target, where);
    return affected === 1;
  }

  /** Whether a row has the identifier, be it one that is marked as deleted. */
  private isTaken(identifier: string): Promise<boolean> {
    const column = quoted(this.repository.metadata.findColumnWithPropertyName(this.username)!.databaseName);
    return this.database.transaction(async (_, manager) => {
      const rows = () => manager.createQueryBuilder(this.repository.target, 'u').withDeleted();
      if (
        await rows()
          .setFindOptions({ where: { [this.username]: identifier } as never })
          .getExists()
      )
        return true;
      // An index on an expression, such as lower(email), takes other spellings for the same.
      return rows().where(`lower(u.${column}::text) = lower(:identifier)`, { identifier }).getExists();
    });
  }
}

/** Whether an entity says that no two of its rows share a value of this column, those marked as deleted aside. */
export function isUnique(
  { primaryColumns, uniques, indices, deleteDateColumn }: EntityMetadata,
  property: string,
): boolean {
  const alone = (columns: ColumnMetadata[]): boolean => columns.length === 1 && columns[0]!.propertyName === property;
  const live = new RegExp(`^\\(?"?${deleteDateColumn?.databaseName}"? IS NULL\\)?$`, 'i');
  return (
    alone(primaryColumns) ||
    uniques.some(({ columns }) => alone(columns)) ||
    indices.some(({ isUnique: unique, columns, where }) => unique && alone(columns) && (!where || live.test(where)))
  );
}
