import { type EntityManager, type FindOptionsWhere, IsNull, type ObjectLiteral, type Repository } from 'typeorm';
import type { NewAccount } from './user-provider';

// SQLSTATE 23505, unique violation.
const UNIQUE = '23505';

interface Refused {
  driverError?: { code?: string; detail?: string };
}

/** The rows of one entity's users, from their creation to their end. */
export class AccountRows<User extends ObjectLiteral> {
  constructor(
    private readonly repository: Repository<User>,
    private readonly username: string,
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
    const row = this.repository.create({ [this.username]: identifier, passwordHash, name } as unknown as User);
    try {
      return await this.repository.save(row);
    } catch (error) {
      if (this.isTaken(error as Refused)) return null;
      throw error;
    }
  }

  /** The transaction that the database will begin next. */
  async mark(): Promise<string> {
    const [row] = await this.repository.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS mark');
    return row.mark;
  }

  /** Whether a row was written by a transaction that began after the mark. Ids of transactions wrap at 32 bits. */
  async isNewerThan(id: string, mark: string): Promise<boolean> {
    const { primaryColumns, tablePath } = this.repository.metadata;
    const quote = (name: string): string => this.repository.manager.connection.driver.escape(name);
    const [row] = await this.repository.query(
      `SELECT (xmin::text::bigint - $2::bigint % 4294967296 + 4294967296) % 4294967296 < 2147483648 AS newer
         FROM ${tablePath.split('.').map(quote).join('.')} WHERE ${quote(primaryColumns[0]!.databaseName)} = $1`,
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

  /** Whether it was the identifier: the value of another unique column is none that could be chosen otherwise. */
  private isTaken({ driverError }: Refused): boolean {
    const { databaseName } = this.repository.metadata.findColumnWithPropertyName(this.username)!;
    const key = /^Key \((.*?)\)=\(/.exec(driverError?.detail ?? '')?.[1] ?? '';
    // An index on an expression, such as lower(email), names the column within it.
    return driverError?.code === UNIQUE && key.split(/\W+/).includes(databaseName);
  }
}
