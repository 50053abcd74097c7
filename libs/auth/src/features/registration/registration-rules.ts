/** Rules for one field of `POST /register`. By default: a required text of at most 255 characters, trimmed. */
export interface RegistrationField {
  /**
   * Whether the field may be missing; its value is then null. Not allowed for the password and the identifier.
   *
   * @default false
   */
  optional?: boolean;

  /**
   * Type of the value: a text, a number, a boolean, an object with {@link fields}, or a list (`array`) of {@link items}.
   * The password and the identifier must be strings.
   *
   * @default 'string'
   */
  type?: 'string' | 'number' | 'boolean' | 'object' | 'array';

  /**
   * The fields of an object by name. Fields that are not declared are dropped. Errors are reported with the path of the
   * field: `address.city`.
   *
   * @default {}
   */
  fields?: RegistrationRules;

  /**
   * The rules of every item of a list. Errors are reported with the index of the item: `phones.0`, `phones.0.number`.
   *
   * @default {}, a text
   */
  items?: RegistrationField;

  /**
   * Maximum number of items of a list.
   *
   * @default 100
   */
  maxItems?: number;

  /**
   * Maximum length of a text in characters. At most 255 for the password.
   *
   * @default 255
   */
  maxLength?: number;

  /** Requires an email address. */
  email?: boolean;

  /**
   * Any other rule of the host; a result of false refuses the field. For an object or a list, it is called if all parts
   * of the value are valid.
   *
   * @param value the value of this field
   * @param fields all fields of the form
   */
  check?: (value: unknown, fields: Readonly<Record<string, unknown>>) => boolean | Promise<boolean>;
}

/**
 * The fields of `POST /register` by name. `password` must always match `password_confirmation` and the password rules,
 * the identifier is always unique, and `email` is converted to lower case.
 */
export type RegistrationRules = Readonly<Record<string, RegistrationField>>;
