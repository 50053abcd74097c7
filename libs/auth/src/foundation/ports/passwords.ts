/**
 * A change of a password before it is hashed: several spellings become one password.
 *
 * - `NFC`, `NFKC`: a normalization form of Unicode (UAX 15)
 * - `trim`: without spaces, tabs and line breaks at both ends
 * - `lowercase`: in lower case
 * - `72-bytes`: the first 72 bytes of UTF-8, as bcrypt compares
 */
export type PasswordPreparation = 'NFC' | 'NFKC' | 'trim' | 'lowercase' | '72-bytes';

/**
 * Verifies the password hashes of another system, so that imported accounts can sign in. The first login replaces the
 * hash by argon2id.
 *
 * @publicApi
 */
export abstract class PasswordVerifier {
  /**
   * The digest of an unknown random password, with the same cost as the imported digests. Every login whose digest is
   * of another kind is also checked against it. Otherwise the response time would reveal which accounts have a digest
   * of this kind. The module does not start when {@link recognises} returns false for the decoy.
   */
  abstract readonly decoy: string;

  /** Whether a digest is of this kind and within a cost limit. Stored digests are untrusted data. */
  abstract recognises(digest: string): boolean;

  /**
   * How the former system prepares a password before it hashes it, for a digest that this verifier recognises. The library
   * passes the prepared password to {@link verify}. The first login hashes the prepared password, and stores the names of
   * the changes with the argon2id hash, so that every spelling that the former system accepts is accepted until the user
   * sets another password. They are made in the order in which {@link PasswordPreparation} lists them. Without this method,
   * the password is verified and hashed as it was entered.
   */
  preparation?(digest: string): readonly PasswordPreparation[];

  /** Whether `password` matches a digest that this verifier recognises. */
  abstract verify(digest: string, password: string): Promise<boolean>;
}

/**
 * Checks passwords against lists of breached passwords.
 *
 * @publicApi
 */
export abstract class BreachedPasswords {
  /**
   * Whether this password was part of a breach. An implementation throws when it has no result.
   *
   * @param signal aborts the check when the caller no longer waits for it
   */
  abstract has(password: string, signal: AbortSignal): Promise<boolean>;
}
