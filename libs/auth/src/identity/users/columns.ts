import { Column, Index } from 'typeorm';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor<T = object> = abstract new (...args: any[]) => T;

const lowerCase = {
  to: (email: unknown) => (typeof email === 'string' ? email.trim().toLowerCase() : email),
  from: (email: unknown) => email,
};

/**
 * Adds the columns that `@svc/auth` reads to a user entity: a unique `email`, stored in lower case so
 * that one address is one account, and `password_hash`, which queries do not select by default.
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

    /** PHC string. Not selected by default, so that it is not serialized. */
    @Column({ name: 'password_hash', type: 'text', nullable: true, select: false })
    passwordHash?: string | null;
  }
  return AuthColumns;
}

/**
 * Adds the columns of the second factor to a user entity. Queries do not select them by default, so that they are not
 * serialized. {@link addTwoFactorColumns} is their migration.
 *
 * @example
 * \@Entity('users')
 * export class User extends withTwoFactorColumns(withAuthColumns()) {}
 * @publicApi
 */
export function withTwoFactorColumns<Base extends Constructor>(base: Base) {
  abstract class TwoFactorColumns extends base {
    /** Encrypted and bound to the user: it cannot be decrypted in the row of another user. */
    @Column({ name: 'two_factor_secret', type: 'text', nullable: true, select: false })
    twoFactorSecret?: string | null;

    /** JSON array of the hashes of the unused recovery codes. */
    @Column({ name: 'two_factor_recovery_codes', type: 'text', nullable: true, select: false })
    twoFactorRecoveryCodes?: string | null;

    @Column({ name: 'two_factor_confirmed_at', type: 'timestamptz', nullable: true, select: false })
    twoFactorConfirmedAt?: Date | null;
  }
  return TwoFactorColumns;
}
