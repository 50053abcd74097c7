import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { type Database, quoted } from '../../foundation/platform/database';
import { once } from '../../foundation/platform/sweep';
import type { StoredSecondFactor } from '../../foundation/ports/user-provider';

const COLUMNS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

/**
 * The second factors of one entity's users. Read past the entity, which hides them: neither its listeners nor
 * a query cache nor a replica come between a login and what is stored.
 */
export class SecondFactorRows {
  private readonly names = once(() => {
    const [id, secret, recoveryCodes, confirmedAt] = [this.key, ...COLUMNS].map((property) => this.column(property));
    return { id: id!, secret: secret!, recoveryCodes: recoveryCodes!, confirmedAt: confirmedAt! };
  });

  constructor(
    private readonly database: Database,
    private readonly metadata: EntityMetadata,
  ) {}

  /** Whether the entity has the columns, and the id that its table has. */
  get exist(): boolean {
    const hasAll = COLUMNS.every((column) => this.metadata.findColumnWithPropertyName(column));
    return hasAll && !this.metadata.primaryColumns[0]!.transformer;
  }

  async find(id: string): Promise<StoredSecondFactor | null> {
    const { secret, recoveryCodes, confirmedAt, ...names } = this.names();
    const { deleteDateColumn } = this.metadata;
    const live = deleteDateColumn ? ` AND ${this.column(deleteDateColumn.propertyName)} IS NULL` : '';
    // By the column's own type, for its index. It reads " 7" as 7, so the text is compared besides.
    const [found] = await this.database.query<StoredSecondFactor>(
      `SELECT ${secret}::text AS secret, ${recoveryCodes}::text AS "recoveryCodes", ${confirmedAt} AS "confirmedAt"
         FROM ${this.database.table(this.metadata.target)} WHERE ${names.id} = $1 AND ${names.id}::text = $2${live}`,
      [id, id],
    );
    return found ?? null;
  }

  /**
   * Stores `next` where `current` is still there. One statement under the row's lock, so of all changes that
   * started from one state exactly one is made; and none that the caller no longer waits for.
   */
  replace(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean> {
    return this.database.transaction(async (_, manager) => {
      const { affected } = await this.update(manager, id, current, next).execute();
      return affected === 1;
    });
  }

  private update(manager: EntityManager, id: string, current: StoredSecondFactor, next: StoredSecondFactor) {
    const { secret, recoveryCodes, confirmedAt } = current;
    const names = this.names();
    const isConfirmedAnew = next.confirmedAt?.getTime() !== confirmedAt?.getTime();
    const values: ObjectLiteral = {
      twoFactorSecret: next.secret,
      twoFactorRecoveryCodes: next.recoveryCodes,
      ...(isConfirmedAnew && { twoFactorConfirmedAt: next.confirmedAt }),
    };
    return (
      manager
        .createQueryBuilder()
        .update(this.metadata.target)
        .set(values)
        // The host's subscribers are not run under the lock.
        .callListeners(false)
        .where({ [this.key]: id })
        .andWhere(`${names.id}::text = :id`, { id })
        .andWhere(`${names.secret}::text IS NOT DISTINCT FROM :secret`, { secret })
        .andWhere(`${names.recoveryCodes}::text IS NOT DISTINCT FROM :recoveryCodes`, { recoveryCodes })
        // There or not: the database keeps a date more precisely than a Date does.
        .andWhere(`${names.confirmedAt} IS ${confirmedAt ? 'NOT NULL' : 'NULL'}`)
    );
  }

  private get key(): string {
    return this.metadata.primaryColumns[0]!.propertyName;
  }

  private column(property: string): string {
    return quoted(this.metadata.findColumnWithPropertyName(property)!.databaseName);
  }
}
