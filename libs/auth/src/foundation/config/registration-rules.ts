/** What one field of `POST /register` has to be. Text, trimmed, of at most 255 characters, unless it says otherwise. */
export interface RegistrationField {
  /**
   * Whether it may be left out; then it is null. Never the password nor the identifier.
   *
   * @default false
   */
  optional?: boolean;

  /**
   * What it is of. Password and identifier are texts.
   *
   * @default 'string'
   */
  type?: 'string' | 'number' | 'boolean';

  /**
   * Longest text in characters. A password has 255 at most.
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
 * the password rules, the identifier is always unique, and `email` is put in lower case.
 */
export type RegistrationRules = Readonly<Record<string, RegistrationField>>;
