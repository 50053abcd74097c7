import type { FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { StoredSecondFactor } from './second-factor';

const COLUMNS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

interface Row {
  twoFactorSecret?: string | null;
  twoFactorRecoveryCodes?: string | null;
  twoFactorConfirmedAt?: Date | null;
}

/** The second factors of one entity's users. Reads them past the entity, which hides them. */
export class SecondFactorRows<User extends ObjectLiteral> {
  constructor(private readonly repository: Repository<User>) {}

  /** Whether the entity has the columns. */
  get exist(): boolean {
    return COLUMNS.every((column) => this.repository.metadata.findColumnWithPropertyName(column));
  }

  async find(id: string): Promise<StoredSecondFactor | null> {
    const key = this.repository.metadata.primaryColumns[0]!.propertyName;
    const user: Row | null = await this.repository
      .createQueryBuilder('u')
      .select([`u.${key}`, ...COLUMNS.map((column) => `u.${column}`)])
      .where(this.byId(id))
      .andWhere(`u.${key}::text = :spelled`, { spelled: id })
      .getOne();
    if (!user) return null;
    const { twoFactorSecret = null, twoFactorRecoveryCodes = null, twoFactorConfirmedAt = null } = user;
    return { secret: twoFactorSecret, recoveryCodes: twoFactorRecoveryCodes, confirmedAt: twoFactorConfirmedAt };
  }

  /**
   * Stores `next` where `current` is still there. One statement under the row's lock, so of all changes that
   * started from one state exactly one is made.
   */
  async replace(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean> {
    const { secret, recoveryCodes, confirmedAt } = current;
    const isConfirmedAnew = next.confirmedAt?.getTime() !== confirmedAt?.getTime();
    const { affected } = await this.repository
      .createQueryBuilder()
      .update()
      .set({
        twoFactorSecret: next.secret,
        twoFactorRecoveryCodes: next.recoveryCodes,
        ...(isConfirmedAnew && { twoFactorConfirmedAt: next.confirmedAt }),
      } as never)
      .where(this.byId(id))
      .andWhere(`${this.column(this.repository.metadata.primaryColumns[0]!.propertyName)}::text = :id`, { id })
      .andWhere(`${this.column('twoFactorSecret')} IS NOT DISTINCT FROM :secret`, { secret })
      .andWhere(`${this.column('twoFactorRecoveryCodes')} IS NOT DISTINCT FROM :recoveryCodes`, { recoveryCodes })
      // There or not: the database keeps a date more precisely than a Date does.
      .andWhere(`${this.column('twoFactorConfirmedAt')} IS ${confirmedAt ? 'NOT NULL' : 'NULL'}`)
      .execute();
    return affected === 1;
  }

  /** By the column's own type, for its index. It reads " 7" as 7, so the text is compared besides. */
  private byId(id: string): FindOptionsWhere<User> {
    return { [this.repository.metadata.primaryColumns[0]!.propertyName]: id } as FindOptionsWhere<User>;
  }

  private column(property: string): string {
    const { databaseName } = this.repository.metadata.findColumnWithPropertyName(property)!;
    return this.repository.manager.connection.driver.escape(databaseName);
  }
}
