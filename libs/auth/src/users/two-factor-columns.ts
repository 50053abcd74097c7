import { Column } from 'typeorm';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor<T = object> = abstract new (...args: any[]) => T;

/**
 * Adds the columns of the second factor to a user entity. No ordinary query selects them, so they are on no
 * object that is serialized. {@link addTwoFactorColumns} is their migration.
 *
 * @example
 * \@Entity('users')
 * export class User extends withTwoFactorColumns(withAuthColumns()) {}
 * @publicApi
 */
export function withTwoFactorColumns<Base extends Constructor>(base: Base) {
  abstract class TwoFactorColumns extends base {
    /** Encrypted, and bound to the user: of no use in another row. */
    @Column({ name: 'two_factor_secret', type: 'text', nullable: true, select: false })
    twoFactorSecret?: string | null;

    /** JSON array of PHC strings. */
    @Column({ name: 'two_factor_recovery_codes', type: 'text', nullable: true, select: false })
    twoFactorRecoveryCodes?: string | null;

    @Column({ name: 'two_factor_confirmed_at', type: 'timestamptz', nullable: true, select: false })
    twoFactorConfirmedAt?: Date | null;
  }
  return TwoFactorColumns;
}
