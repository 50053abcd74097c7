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
