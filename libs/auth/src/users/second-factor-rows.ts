import type { FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { StoredSecondFactor } from './second-factor';

const COLUMNS = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

type Row = { [column in (typeof COLUMNS)[number]]?: StoredSecondFactor[keyof StoredSecondFactor] };

/** The second factors of one entity's users. Reads them past the entity, which hides them. */
export class SecondFactorRows<User extends ObjectLiteral> {
  constructor(private readonly repository: Repository<User>) {}

  /** Whether the entity has the columns. */
  get exist(): boolean {
    return COLUMNS.every((column) => this.repository.metadata.findColumnWithPropertyName(column));
  }

  async find(where: FindOptionsWhere<User>): Promise<{ id: unknown; factor: StoredSecondFactor } | null> {
    const primary = this.repository.metadata.primaryColumns[0]!;
    const user = await this.repository
      .createQueryBuilder('u')
      .select([`u.${primary.propertyName}`, ...COLUMNS.map((column) => `u.${column}`)])
      .where(where)
      .getOne();
    if (!user) return null;
    const { twoFactorSecret, twoFactorRecoveryCodes, twoFactorConfirmedAt } = user as Row;
    const factor = {
      secret: (twoFactorSecret as string) ?? null,
      recoveryCodes: (twoFactorRecoveryCodes as string) ?? null,
      confirmedAt: (twoFactorConfirmedAt as Date) ?? null,
    };
    return { id: primary.getEntityValue(user), factor };
  }

  /**
   * Stores `next` where `current` is still there. One statement under the row's lock, so of all changes that
   * started from one state exactly one is made.
   */
  async replace(
    where: FindOptionsWhere<User>,
    current: StoredSecondFactor,
    next: StoredSecondFactor,
  ): Promise<boolean> {
    const column = (property: (typeof COLUMNS)[number]): string => {
      const { databaseName } = this.repository.metadata.findColumnWithPropertyName(property)!;
      return this.repository.manager.connection.driver.escape(databaseName);
    };
    // The date counts as there or not: the database keeps it more precisely than a Date does.
    const unchanged =
      `${column('twoFactorSecret')} IS NOT DISTINCT FROM :secret` +
      ` AND ${column('twoFactorRecoveryCodes')} IS NOT DISTINCT FROM :codes` +
      ` AND ${column('twoFactorConfirmedAt')} IS ${current.confirmedAt ? 'NOT ' : ''}NULL`;
    const values = {
      twoFactorSecret: next.secret,
      twoFactorRecoveryCodes: next.recoveryCodes,
      ...(next.confirmedAt?.getTime() !== current.confirmedAt?.getTime() && { twoFactorConfirmedAt: next.confirmedAt }),
    };
    const { affected } = await this.repository
      .createQueryBuilder()
      .update()
      .set(values as never)
      .where(where)
      .andWhere(unchanged, { secret: current.secret, codes: current.recoveryCodes })
      .execute();
    return affected === 1;
  }
}
