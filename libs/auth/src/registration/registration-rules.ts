/** What one field of `POST /register` has to be. Text, trimmed, of at most 255 characters, unless it says otherwise. */
export interface RegistrationField {
  /**
   * Whether it may be left out; then it is null.
   *
   * @default false
   */
  optional?: boolean;

  /**
   * What it is of.
   *
   * @default 'string'
   */
  type?: 'string' | 'number' | 'boolean';

  /**
   * Longest text in characters.
   *
   * @default 255
   */
  maxLength?: number;

  /** Requires an email address. */
  email?: boolean;

  /** Requires anything else; false refuses the field. */
  check?: (value: unknown, fields: Readonly<Record<string, unknown>>) => boolean | Promise<boolean>;
}

/**
 * The fields of `POST /register` by name. `password` is always confirmed by `password_confirmation` and judged by
 * the password rules, and the identifier is always unique.
 */
export type RegistrationRules = Readonly<Record<string, RegistrationField>>;
