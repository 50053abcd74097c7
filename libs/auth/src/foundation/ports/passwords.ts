/**
 * Accepts the password hashes of another system, so that its accounts can sign in. At their first login the hash
 * is replaced by argon2id.
 *
 * @publicApi
 */
export abstract class PasswordVerifier {
  /**
   * A digest of a password that nobody knows, at the cost that the imported ones have. Every login that this
   * verifier has nothing to do with is checked against it, or the time would tell whose hash is of which kind. The
   * module does not start with one that {@link recognises} refuses.
   */
  abstract readonly decoy: string;

  /** Whether a digest is of this kind, and cheap enough to be verified: stored digests are data. */
  abstract recognises(digest: string): boolean;

  /** Whether `password` gives a digest that this verifier recognises. */
  abstract verify(digest: string, password: string): Promise<boolean>;
}

/**
 * Knows passwords that came out in data breaches.
 *
 * @publicApi
 */
export abstract class BreachedPasswords {
  /**
   * Whether this password was in a breach. A throw says that it could not be found out.
   *
   * @param signal ends what the caller no longer waits for
   */
  abstract has(password: string, signal: AbortSignal): Promise<boolean>;
}
