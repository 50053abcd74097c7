import { Column, Index } from 'typeorm';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor<T = object> = abstract new (...args: any[]) => T;

const lowerCase = {
  to: (email: unknown) => (typeof email === 'string' ? email.trim().toLowerCase() : email),
  from: (email: unknown) => email,
};

/**
 * Adds the columns that `@svc/auth` reads to a user entity: a unique `email`, stored in lower case so
 * that one address is one account, and `password_hash`, which no ordinary query selects.
 *
 * @example
 * \@Entity()
 * export class User extends withAuthColumns() {
 *   \@PrimaryGeneratedColumn('uuid')
 *   id!: string;
 * }
 * @publicApi
 */
export function withAuthColumns<Base extends Constructor>(base: Base = Object as unknown as Base) {
  abstract class AuthColumns extends base {
    @Index({ unique: true })
    @Column({ type: 'text', transformer: lowerCase })
    email!: string;

    /** PHC string, never selected by default and so never serialized. */
    @Column({ name: 'password_hash', type: 'text', nullable: true, select: false })
    passwordHash?: string | null;
  }
  return AuthColumns;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any

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
