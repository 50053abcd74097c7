import { Exclude } from 'class-transformer';
import type { EntityMetadata, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Database } from '../../foundation/platform/database';
import { Column, Index, Raw } from '../../foundation/platform/entity';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { StoredSecondFactor } from '../../foundation/ports/user-provider';
import { Grant, tokenOfUser } from './grant';
import { canonicalEmail } from './identifiers';

// Not exported: the type of a host's entity would name it, and the host cannot import it.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Constructor<T = object> = abstract new (...args: any[]) => T;

const canonical = {
  to: (email: unknown) => (typeof email === 'string' ? canonicalEmail(email) : email),
  from: (email: unknown) => email,
};

/** What JSON shows of an entity without a mixin: the result of the `toJSON` of its base class, if there is one. */
export const shownBy = (base: Constructor, entity: object): object => {
  const { toJSON } = base.prototype as { toJSON?(): object };
  return toJSON ? toJSON.call(entity) : entity;
};

/**
 * Adds methods that answer what the token of a user may do. They answer for the object that a guard put on the request.
 * Every other object can do nothing: one that the host read itself, a new one, a copy.
 */
export function withTokenMethods<Base extends Constructor>(base: Base) {
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
 * Adds the columns that `@svc/auth` reads to a user entity: a unique `email`, stored in one form (lower case, the domain as its
 * A-label) so that one address is one account, and `password_hash`, which queries do not select by default. Its methods `tokenCan`,
 * `tokenCannot` and `tokenAbilities` answer for the user object that a guard put on the request.
 *
 * A column of `base` replaces that of the same property: `@Column({ name: 'password', nullable: true, select: false }) passwordHash`
 * keeps the column of an existing table. A column of the class that extends the result does not.
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
    @Column({ type: 'text', transformer: canonical })
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
 * A condition on the text that is stored in a column. TypeORM converts a value of a condition by the transformer of the column: that
 * of {@link withAuthColumns} would not find the emails that other software has stored in another spelling.
 */
export function storedAs(
  { transformer, propertyName }: ColumnMetadata,
  texts: readonly string[],
): FindOptionsWhere<ObjectLiteral>[] {
  if (transformer !== canonical) return texts.map((text) => ({ [propertyName]: text }));
  const values = Object.fromEntries(texts.map((text, at) => [`svc_stored_${at}`, text]));
  const isOneOf = (column: string): string =>
    Object.keys(values)
      .map((name) => `${column} = :${name}`)
      .join(' OR ');
  return [{ [propertyName]: Raw((column) => `(${isOneOf(column)})`, values) }];
}

/** Types whose values are texts. */
export const TEXT_TYPES: ReadonlySet<unknown> = new Set([String, 'text', 'varchar', 'character varying', 'citext']);

/** Whether the database compares a value with a given one as it is: not with an encrypted one, for example. */
export const comparesAsStored = ({ transformer }: ColumnMetadata): boolean =>
  transformer === undefined || transformer === canonical;

/** Whether the database has the text of a value. */
export const storesText = (column: ColumnMetadata): boolean => TEXT_TYPES.has(column.type) && comparesAsStored(column);

/** The second factors in the table of an entity's users. */
export interface SecondFactorTable {
  /** Whether the entity has their columns. */
  readonly exist: boolean;
  find(id: string): Promise<StoredSecondFactor | null>;
  replace(id: string, current: StoredSecondFactor, next: StoredSecondFactor): Promise<boolean>;
}

export type SecondFactorTableType = new (database: Database, users: EntityMetadata) => SecondFactorTable;

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The columns in which it stores a second factor beside each user. */
    readonly userColumns?: {
      /** The properties of the entity. */
      readonly properties: readonly string[];
      /** How a host states the migration that adds them to a table. */
      readonly migrationOf: (table: string) => string;
      readonly table: SecondFactorTableType;
    };
  }
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
