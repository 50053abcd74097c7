import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { type Database, quoted } from '../../foundation/platform/database';
import { once } from '../../foundation/platform/sweep';
import type { StoredSecondFactor } from '../../foundation/ports/user-provider';
import { type SecondFactorTable, idColumnOf } from '../../identity/users/columns';

/** The properties of the columns. */
export const COLUMNS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

/**
 * Reads and replaces the second factors of one entity's users. Queries go to the primary and bypass the entity, whose
 * columns are not selected by default, with its listeners and the query cache.
 */
export class SecondFactorRows implements SecondFactorTable {
  private readonly names = once(() => {
    const [id, secret, recoveryCodes, confirmedAt] = [this.key, ...COLUMNS].map((property) => this.column(property));
    return { id: id!, secret: secret!, recoveryCodes: recoveryCodes!, confirmedAt: confirmedAt! };
  });

  constructor(
    private readonly database: Database,
    private readonly metadata: EntityMetadata,
  ) {}

  /** Whether the entity has the columns, and an id without a transformer. */
  get exist(): boolean {
    const hasAll = COLUMNS.every((column) => this.metadata.findColumnWithPropertyName(column));
    return hasAll && !idColumnOf(this.metadata).transformer;
  }

  async find(id: string): Promise<StoredSecondFactor | null> {
    const { secret, recoveryCodes, confirmedAt, ...names } = this.names();
    const { deleteDateColumn } = this.metadata;
    const live = deleteDateColumn ? ` AND ${this.column(deleteDateColumn.propertyName)} IS NULL` : '';
    // The comparison by the column's type uses its index. It reads " 7" as 7, so the text is compared as well.
    const [found] = await this.database.query<StoredSecondFactor>(
      `SELECT ${secret}::text AS secret, ${recoveryCodes}::text AS "recoveryCodes", ${confirmedAt} AS "confirmedAt"
         FROM ${this.database.table(this.metadata.target)} WHERE ${names.id} = $1 AND ${names.id}::text = $2${live}`,
      [id, id],
    );
    return found ?? null;
  }

  /**
   * Stores `next` if the row still contains `current`. One statement under the row's lock: of concurrent changes from
   * the same state exactly one succeeds. After the timeout the transaction rolls back.
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
    const hasNewConfirmation = next.confirmedAt?.getTime() !== confirmedAt?.getTime();
    const values: ObjectLiteral = {
      twoFactorSecret: next.secret,
      twoFactorRecoveryCodes: next.recoveryCodes,
      ...(hasNewConfirmation && { twoFactorConfirmedAt: next.confirmedAt }),
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
        // Compares only whether a date is set: the database stores it with a higher precision than a Date.
        .andWhere(`${names.confirmedAt} IS ${confirmedAt ? 'NOT NULL' : 'NULL'}`)
    );
  }

  private get key(): string {
    return idColumnOf(this.metadata).propertyName;
  }

  private column(property: string): string {
    return quoted(this.metadata.findColumnWithPropertyName(property)!.databaseName);
  }
}
