import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { identity, pg } from '../../kit';

/** The properties of the columns. */
export const COLUMNS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

/**
 * Reads and replaces the second factors of one entity's users. Queries go to the primary and bypass the entity, whose
 * columns are not selected by default, with its listeners and the query cache.
 */
export class SecondFactorRows implements identity.SecondFactorTable {
  private readonly names = pg.once(() => [this.key, ...COLUMNS].map((property) => this.column(property)));

  constructor(
    private readonly database: pg.Database,
    private readonly metadata: EntityMetadata,
  ) {}

  /** Whether the entity has the columns, and an id without a transformer. */
  get exist(): boolean {
    const hasAll = COLUMNS.every((column) => this.metadata.findColumnWithPropertyName(column));
    return hasAll && !identity.idColumnOf(this.metadata).transformer;
  }

  async find(id: string): Promise<identity.StoredSecondFactor | null> {
    const [name, secret, recoveryCodes, confirmedAt] = this.names();
    const { deleteDateColumn } = this.metadata;
    const live = deleteDateColumn ? ` AND ${this.column(deleteDateColumn.propertyName)} IS NULL` : '';
    // The comparison by the column's type uses its index. It reads " 7" as 7, so the text is compared as well.
    const [found] = await this.database.query<identity.StoredSecondFactor>(
      `SELECT ${secret}::text AS secret, ${recoveryCodes}::text AS "recoveryCodes", ${confirmedAt} AS "confirmedAt"
         FROM ${this.database.table(this.metadata.target)} WHERE ${name} = $1 AND ${name}::text = $2${live}`,
      [id, id],
    );
    return found ?? null;
  }

  /**
   * Stores `next` if the row still contains `current`. One statement under the row's lock: of concurrent changes from
   * the same state exactly one succeeds. After the timeout the transaction rolls back.
   */
  replace(id: string, current: identity.StoredSecondFactor, next: identity.StoredSecondFactor): Promise<boolean> {
    return this.database.transaction(async (_, manager) => {
      const { affected } = await this.update(manager, id, current, next).execute();
      return affected === 1;
    });
  }

  private update(
    manager: EntityManager,
    id: string,
    current: identity.StoredSecondFactor,
    next: identity.StoredSecondFactor,
  ) {
    const { secret, recoveryCodes, confirmedAt } = current;
    const [idName, secretName, codesName, dateName] = this.names();
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
        .andWhere(`${idName}::text = :id`, { id })
        .andWhere(`${secretName}::text IS NOT DISTINCT FROM :secret`, { secret })
        .andWhere(`${codesName}::text IS NOT DISTINCT FROM :recoveryCodes`, { recoveryCodes })
        // Compares only whether a date is set: the database stores it with a higher precision than a Date.
        .andWhere(`${dateName} IS ${confirmedAt ? 'NOT NULL' : 'NULL'}`)
    );
  }

  private get key(): string {
    return identity.idColumnOf(this.metadata).propertyName;
  }

  private column(property: string): string {
    return pg.quoted(this.metadata.findColumnWithPropertyName(property)!.databaseName);
  }
}
