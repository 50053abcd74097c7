import { Exclude } from 'class-transformer';
import { Column, type EntityMetadata, Index } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Grant, tokenOfUser } from './grant';
import { foldedIdentifier } from './identifiers';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor<T = object> = abstract new (...args: any[]) => T;

const lowerCase = {
  to: (email: unknown) => (typeof email === 'string' ? foldedIdentifier(email) : email),
  from: (email: unknown) => email,
};

/** What JSON shows of an entity without a mixin: the result of the `toJSON` of its base class, if there is one. */
const shownBy = (base: Constructor, entity: object): object => {
  const { toJSON } = base.prototype as { toJSON?(): object };
  return toJSON ? toJSON.call(entity) : entity;
};

/**
 * Adds methods that answer what the token of a user may do. They answer for the object that a guard put on the request.
 * Every other object can do nothing: one that the host read itself, a new one, a copy.
 */
function withTokenMethods<Base extends Constructor>(base: Base) {
  abstract class TokenMethods extends base {
    /** Whether the token for which a guard read this user covers an ability. The same as `tokenCan(user, ability)`. */
    tokenCan(ability: string): boolean {
      return grantOf(this).covers(ability);
    }

    /** The opposite of {@link tokenCan}. */
    tokenCannot(ability: string): boolean {
      return !grantOf(this).covers(ability);
    }

    /** The abilities of the token for which a guard read this user, as the token lists them; otherwise an empty list. */
    tokenAbilities(): readonly string[] {
      return grantOf(this).abilities;
    }
  }
  return TokenMethods;
}

const grantOf = (user: object): Grant => tokenOfUser(user)?.grant ?? Grant.NONE;

/**
 * Adds the columns that `@svc/auth` reads to a user entity: a unique `email`, stored in lower case so
 * that one address is one account, and `password_hash`, which queries do not select by default. Its methods `tokenCan`,
 * `tokenCannot` and `tokenAbilities` answer for the user object that a guard put on the request.
 *
 * A response never contains the hash of an instance, neither with nor without `ClassSerializerInterceptor`. A `toJSON` of
 * your own replaces the one of the mixin: begin it with `super.toJSON()`.
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
  abstract class AuthColumns extends withTokenMethods(base) {
    @Index({ unique: true })
    @Column({ type: 'text', transformer: lowerCase })
    email!: string;

    /** PHC string. */
    @Exclude()
    @Column({ name: 'password_hash', type: 'text', nullable: true, select: false })
    passwordHash?: string | null;

    /** The fields for JSON, without the hash, which an entity has in memory after it was saved. */
    toJSON(): object {
      const { passwordHash: _, ...shown } = shownBy(base, this) as this;
      return shown;
    }
  }
  return AuthColumns;
}

/**
 * Adds the columns of the second factor to a user entity. Queries do not select them by default, and responses do not
 * contain the secret and the recovery codes: see {@link withAuthColumns}, also for the methods.
 * {@link addTwoFactorColumns} is their migration.
 *
 * @example
 * \@Entity('users')
 * export class User extends withTwoFactorColumns(withAuthColumns()) {}
 * @publicApi
 */
export function withTwoFactorColumns<Base extends Constructor>(base: Base) {
  abstract class TwoFactorColumns extends withTokenMethods(base) {
    /** Encrypted and bound to the user: it cannot be decrypted in the row of another user. */
    @Exclude()
    @Column({ name: 'two_factor_secret', type: 'text', nullable: true, select: false })
    twoFactorSecret?: string | null;

    /** JSON array of the hashes of the unused recovery codes. */
    @Exclude()
    @Column({ name: 'two_factor_recovery_codes', type: 'text', nullable: true, select: false })
    twoFactorRecoveryCodes?: string | null;

    @Column({ name: 'two_factor_confirmed_at', type: 'timestamptz', nullable: true, select: false })
    twoFactorConfirmedAt?: Date | null;

    /** The fields for JSON, without the secret and the recovery codes. */
    toJSON(): object {
      const { twoFactorSecret: _secret, twoFactorRecoveryCodes: _codes, ...shown } = shownBy(base, this) as this;
      return shown;
    }
  }
  return TwoFactorColumns;
}

/**
 * Whether a value is a text that PostgreSQL can store: it stores no NUL. TypeORM gets no other value to look a user up by,
 * because a host can let it ignore a condition on undefined or null, as TypeORM 0.3 does by default. Every user would meet it.
 */
export const isStorable = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

/**
 * The column that alone identifies a user. A token names one id: with a part of a composite key, it would name the users
 * of all other parts, too.
 *
 * @throws AuthConfigError if the entity has no such column, or several
 */
export function idColumnOf({ name, primaryColumns }: EntityMetadata): ColumnMetadata {
  const [id, ...more] = primaryColumns;
  if (id && more.length === 0) return id;
  const names = primaryColumns.map(({ propertyName }) => propertyName).join(', ');
  throw new AuthConfigError(
    `${name} has ${primaryColumns.length} primary columns${names && ` (${names})`}; one has to identify a user, because a ` +
      'token contains one id. Keep one @PrimaryColumn() or @PrimaryGeneratedColumn(), whose values are unique, and ' +
      'declare the others with @Column().',
  );
}
