import type { PasswordPreparation } from '../../foundation/ports/passwords';

/**
 * Hashes passwords and recovery codes with a slow, salted hash.
 *
 * @publicApi
 */
export abstract class PasswordHasher {
  /**
   * Returns the hash to store: a PHC string, after the names of the changes if the password was prepared
   * (`NFKC:$argon2id$…`).
   *
   * @param preparation how the password is prepared. Default: by `hashing.normalize`
   * @throws HasherBusy if too many hashes are waiting
   */
  abstract hash(password: string, preparation?: readonly PasswordPreparation[]): Promise<string>;

  /**
   * Whether `password` matches `digest`. Every call computes one hash: a null or unusable digest is replaced by a
   * decoy, so that the duration is the same for unknown and known users. @throws HasherBusy
   */
  abstract verify(digest: string | null, password: string): Promise<boolean>;

  /**
   * Whether `digest` is to be replaced when its password is known: it is of another kind, its parameters differ from the
   * configured ones, or it has no preparation although `hashing.normalize` is set.
   */
  abstract needsRehash(digest: string): boolean;
}
