/**
 * Slow, salted hashing of passwords and recovery codes.
 *
 * @publicApi
 */
export abstract class PasswordHasher {
  /** A PHC string of `password`. @throws HasherBusy when too many hashes wait already */
  abstract hash(password: string): Promise<string>;

  /**
   * Whether `password` gives `digest`. Costs one hash whatever the answer: a null or unusable digest is
   * checked against a decoy, so that an unknown user takes as long as a known one. @throws HasherBusy
   */
  abstract verify(digest: string | null, password: string): Promise<boolean>;

  /** Whether `digest` was made with other parameters than the configured ones. */
  abstract needsRehash(digest: string): boolean;
}
