import { AuthConfigError } from '../../foundation/platform/errors';
import type { NewAccount, UserProvider } from '../../foundation/ports/user-provider';
import { isStorable } from './columns';

/** What a field of the users is used for, and the names of fields that are found without an option. */
const DEFAULTS = {
  id: 'id',
  identifier: undefined,
  email: 'email',
  name: 'name',
  passwordHash: 'passwordHash',
  emailVerifiedAt: 'emailVerifiedAt',
  twoFactorSecret: 'twoFactorSecret',
  twoFactorRecoveryCodes: 'twoFactorRecoveryCodes',
  twoFactorConfirmedAt: 'twoFactorConfirmedAt',
  createdAt: undefined,
  deletedAt: 'deletedAt',
} as const;

/** What a field is used for. */
export type FieldRole = keyof typeof DEFAULTS;
type Optional = Partial<Record<FieldRole, string>>;

/** The fields of a model or table that exist, by their use. */
export type FieldNames = Optional & Record<'id' | 'identifier' | 'passwordHash', string>;

/** The fields of the second factor, of which a table has all or none. */
export const FACTOR = ['twoFactorSecret', 'twoFactorRecoveryCodes', 'twoFactorConfirmedAt'] as const;

const SECRETS = ['passwordHash', ...FACTOR] as const;

/** The fields that contain a time, or null. */
const TIMES = ['emailVerifiedAt', 'twoFactorConfirmedAt', 'createdAt', 'deletedAt'] as const;

/** The fields that the library reads from a user. */
const ALWAYS = ['id', 'identifier', 'email', 'emailVerifiedAt'] as const;

/** The form of the ids. Another text names no user. */
export type IdForm = 'uuid' | 'text' | 'smallint' | 'integer' | 'bigint' | 'numeric';

/**
 * The names of the fields in the model or table of the users. A field that has the name of its member needs no entry; null: the
 * field of that name is not used.
 */
export interface UserFieldNames<Name extends string = string> {
  /** Unique. Default: `id`. */
  readonly id?: Name;
  /** What users sign in with, unique: that of the option `username`. Default: the email. */
  readonly identifier?: Name;
  /** Unique. Default: `email`; null for users without an email. */
  readonly email?: Name | null;
  /** Receives the name of a registration. Default: `name`. */
  readonly name?: Name | null;
  /** Text of at least 255 characters; it takes null for `features.passkeyRegistration`. Default: `passwordHash`. */
  readonly passwordHash?: Name;
  /** Time, nullable: for `features.emailVerification`. Default: `emailVerifiedAt`. */
  readonly emailVerifiedAt?: Name | null;
  /** Text, nullable: for `features.twoFactor`, as the next two. Default: `twoFactorSecret`. */
  readonly twoFactorSecret?: Name | null;
  /** Text, nullable. Default: `twoFactorRecoveryCodes`. */
  readonly twoFactorRecoveryCodes?: Name | null;
  /** Time, nullable. Default: `twoFactorConfirmedAt`. */
  readonly twoFactorConfirmedAt?: Name | null;
  /**
   * Time of the creation by the clock of the database, for `hooks.register`. Default: none, because an ORM can take the clock of
   * the process: a user that another process has created could count as new.
   */
  readonly createdAt?: Name;
  /** Time, nullable. Users with a value do not exist for the library, and keep their identifier. Default: `deletedAt`. */
  readonly deletedAt?: Name | null;
}

/** The options of the users of a model or table. */
export interface MappedUsersOptions<
  Row extends object = Record<string, unknown>,
  Fields extends UserFieldNames<keyof Row & string> = UserFieldNames<keyof Row & string>,
  Select extends readonly (keyof Row & string)[] = readonly (keyof Row & string)[],
  NewUser extends Partial<Row> = Partial<Row>,
> {
  /** The names of the fields, where they differ from the names of the members. */
  readonly fields?: Fields;
  /**
   * The fields that users have in routes and responses, beside the id, the identifier, the email and its verification. The hash
   * and the second factor cannot be among them. Default: all other fields.
   */
  readonly select?: Select;
  /** Further values of a new account, such as a required role. */
  readonly newUser?: (account: NewAccount) => NewUser;
  /** The form of the ids. Default: by the type of the field. */
  readonly ids?: IdForm;
}

type NameOf<Fields, R extends FieldRole> = R extends keyof Fields
  ? Extract<Fields[R], string>
  : Exclude<(typeof DEFAULTS)[R], undefined>;

/** A user without the hash and the second factor, with the selected fields. */
export type MappedUser<Row extends object, Fields, Select extends readonly (keyof Row & string)[]> = {
  [
    Name in keyof Row as Name extends (typeof SECRETS)[number] | NameOf<Fields, (typeof SECRETS)[number]>
      ? never
      : Name extends Select[number] | NameOf<Fields, (typeof ALWAYS)[number]>
        ? Name
        : never
  ]: Row[Name];
};

/** The user that a provider returns, for `@CurrentUser()`. */
export type UserOf<Provider> = Provider extends UserProvider<infer User> ? User : never;

/** A UUID as PostgreSQL prints it. */
const UUID_TEXT = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const NUMERIC = /^-?(?:0|[1-9]\d{0,99})(?:\.\d{1,99})?$/;
const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/;

/** The bits of a value of PostgreSQL. */
const BITS = { smallint: 16, integer: 32, bigint: 64 };

/** Whether a value is a text that UTF-8 can express, without NUL. Prisma 6 throws for a half of a surrogate pair. */
export const isText = (value: unknown): value is string => isStorable(value) && !/\p{Surrogate}/u.test(value);

/** Whether a text has the form of an id. PostgreSQL reads other texts as the same id, and throws for most. */
export function hasForm(id: unknown, form: IdForm): id is string {
  if (!isText(id)) return false;
  if (form === 'text') return true;
  if (form === 'uuid') return UUID_TEXT.test(id);
  if (form === 'numeric') return NUMERIC.test(id);
  return INTEGER.test(id) && BigInt.asIntN(BITS[form], BigInt(id)) === BigInt(id);
}

/** An id of each form, for a statement that finds nothing. */
export const ANY_ID: Readonly<Record<IdForm, string>> = {
  uuid: '00000000-0000-0000-0000-000000000000',
  text: '',
  smallint: '0',
  integer: '0',
  bigint: '0',
  numeric: '0',
};

/** The fields of a model or table, and what it is called in errors. */
export interface NamedFields {
  readonly label: string;
  readonly fields: readonly string[];
  /** Whether the type of a field is one of times: a boolean is never null, and would count as a time. */
  isTime(field: string): boolean;
}

/** @throws AuthConfigError for a field that does not exist, is missing, or is no time where it should be one */
export function namesOf(table: NamedFields, given: UserFieldNames): FieldNames {
  const { label, fields } = table;
  const names: Optional = {};
  for (const role of Object.keys(DEFAULTS) as FieldRole[]) {
    const own = given[role];
    const name = own === undefined ? DEFAULTS[role] : own;
    if (name && fields.includes(name)) names[role] = name;
    else if (own) throw new AuthConfigError(`${label} has no field "${own}". Correct fields.${role}.`);
  }
  names.identifier ??= names.email;
  for (const role of ['id', 'identifier', 'passwordHash'] as const) {
    if (names[role]) continue;
    const what = role === 'identifier' ? 'email' : role;
    throw new AuthConfigError(
      `${label} has no field "${what}". Add it, or name the field that it has: fields: { ${what}: '…' }.`,
    );
  }
  const missing = FACTOR.filter((role) => !names[role]);
  if (missing.length && missing.length < FACTOR.length)
    throw new AuthConfigError(`${label} has a part of the second factor only. Add ${missing.join(' and ')}.`);
  const wrong = TIMES.find((role) => names[role] !== undefined && !table.isTime(names[role]));
  if (wrong)
    throw new AuthConfigError(
      `${label} has "${names[wrong]}", which is no time. Correct fields.${wrong}, or the type of the column.`,
    );
  return names as FieldNames;
}

/** @throws AuthConfigError for a field that does not exist, and for a secret */
export function shownOf(
  { label, fields }: NamedFields,
  names: FieldNames,
  select?: readonly string[],
): readonly string[] {
  // A field of that name is a secret, too, if it is switched off or replaced: it can contain the hashes of former software.
  const secrets: readonly string[] = [...SECRETS, ...SECRETS.flatMap((role) => names[role] ?? [])];
  const wrong = select?.find((name) => !fields.includes(name) || secrets.includes(name));
  if (wrong !== undefined)
    throw new AuthConfigError(
      `select of ${label} has "${wrong}", which ${secrets.includes(wrong) ? 'no route may show' : 'does not exist'}. Remove it.`,
    );
  const chosen = select ?? fields.filter((name) => !secrets.includes(name));
  return [...new Set([...ALWAYS.flatMap((role) => names[role] ?? []), ...chosen])];
}

/** The codes of an error, and of those that it wraps: of node-postgres, of Drizzle or Prisma around it, and of TypeORM. */
function codesOf(error: unknown, depth = 5): string[] {
  if (typeof error !== 'object' || error === null || depth === 0) return [];
  const { code, originalCode, cause, driverError, meta } = error as Record<string, unknown>;
  const inner = [cause, driverError, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError];
  const own = [code, originalCode].filter((text): text is string => typeof text === 'string');
  return [...own, ...inner.flatMap((one) => codesOf(one, depth - 1))];
}

/** A unique index has found another row. The second code is that of Prisma. */
export const isDuplicate = (error: unknown): boolean =>
  codesOf(error).some((code) => code === '23505' || code === 'P2002');

/** The SQLSTATE of a value that a column cannot contain; undefined for any other error. */
export const unstorable = (error: unknown): string | undefined => codesOf(error).find((code) => /^22...$/.test(code));

/**
 * A text that the type of a column does not have, or a number out of its range (with the code of Prisma 6). It is that of the
 * submitted value in a look-up only, and says nothing about another value: P2023 of Prisma is that of a stored one.
 */
const isOfOtherType = (error: unknown): boolean =>
  codesOf(error).some((code) => code === '22P02' || code === '22003' || code === 'P2020');

/** Null if a column cannot contain the submitted value: no row has it. */
export async function orNone<T>(look: Promise<T>): Promise<T | null> {
  try {
    return await look;
  } catch (error) {
    if (isOfOtherType(error)) return null;
    throw error;
  }
}
