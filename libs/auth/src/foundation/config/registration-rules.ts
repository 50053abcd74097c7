/** Rules for one field of `POST /register`. By default: a required text of at most 255 characters, trimmed. */
export interface RegistrationField {
  /**
   * Whether the field may be missing; its value is then null. Not allowed for the password and the identifier.
   *
   * @default false
   */
  optional?: boolean;

  /**
   * Type of the value. The password and the identifier must be strings.
   *
   * @default 'string'
   */
  type?: 'string' | 'number' | 'boolean';

  /**
   * Maximum length of a text in characters. At most 255 for the password.
   *
   * @default 255
   */
  maxLength?: number;

  /** Requires an email address. */
  email?: boolean;

  /** Any other rule of the host; a result of false refuses the field. */
  check?: (value: unknown, fields: Readonly<Record<string, unknown>>) => boolean | Promise<boolean>;
}

/**
 * The fields of `POST /register` by name. `password` must always match `password_confirmation` and the password rules,
 * the identifier is always unique, and `email` is converted to lower case.
 */
export type RegistrationRules = Readonly<Record<string, RegistrationField>>;
