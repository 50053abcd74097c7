/**
 * Hashes passwords and recovery codes with a slow, salted hash.
 *
 * @publicApi
 */
export abstract class PasswordHasher {
  /** Returns a PHC string of `password`. @throws HasherBusy if too many hashes are waiting */
  abstract hash(password: string): Promise<string>;

  /**
   * Whether `password` matches `digest`. Every call computes one hash: a null or unusable digest is replaced by a
   * decoy, so that the duration is the same for unknown and known users. @throws HasherBusy
   */
  abstract verify(digest: string | null, password: string): Promise<boolean>;

  /** Whether the parameters of `digest` differ from the configured ones. */
  abstract needsRehash(digest: string): boolean;
}
