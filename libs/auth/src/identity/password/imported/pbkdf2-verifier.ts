import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { PBKDF2_BLOCK, type Pbkdf2Cost, pbkdf2Digest } from './digests';
import { PasswordVerifier } from '../../../foundation/ports/passwords';
import { usable } from './usable-verifier';

const derive = promisify(pbkdf2);

class Pbkdf2Verifier extends PasswordVerifier {
  readonly decoy: string;

  constructor({ hash, iterations }: Pbkdf2Cost) {
    super();
    // The key has the length of one block: each further block takes all rounds again.
    const [salt, key] = [16, PBKDF2_BLOCK[hash] ?? 0].map((length) =>
      randomBytes(length).toString('base64').replace(/=+$/, ''),
    );
    this.decoy = `$pbkdf2-${hash}$${iterations}$${salt}$${key}`;
  }

  recognises(digest: string): boolean {
    return pbkdf2Digest(digest) !== undefined;
  }

  async verify(digest: string, password: string): Promise<boolean> {
    const { cost, salt, key } = pbkdf2Digest(digest)!;
    return timingSafeEqual(await derive(password, salt, cost.iterations, key.length, cost.hash), key);
  }
}

/**
 * Accepts PBKDF2 hashes: Django's `pbkdf2_sha256$870000$salt$hash`, and PHC strings as passlib writes them,
 * `$pbkdf2-sha256$29000$salt$hash`.
 *
 * @param cost the cost of most imported hashes. Logins of all other users compute a hash of the same cost. `hash` is
 * `sha1`, `sha256` or `sha512`
 * @throws AuthConfigError for a cost that is not accepted
 * @publicApi
 */
export const pbkdf2Verifier = ({ hash = 'sha256', iterations = 870_000 }: Partial<Pbkdf2Cost> = {}): PasswordVerifier =>
  usable(
    new Pbkdf2Verifier({ hash, iterations }),
    `pbkdf2Verifier({ hash: '${hash}', iterations: ${iterations} }): use sha1, sha256 or sha512, and a whole number from 1 to 1500000.`,
  );
