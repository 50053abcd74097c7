import { AuthConfigError } from '../../../foundation/platform/errors';
import { optionalPeer } from '../../../foundation/platform/optional-peer';
import { isAffordableBcrypt } from './digests';
import { PasswordVerifier } from '../../../foundation/ports/passwords';
import { usable } from './usable-verifier';

interface Bcrypt {
  compare(password: string, digest: string): Promise<boolean>;
}

/** Maximum costs. bcryptjs blocks the event loop: about 0.1 s at cost 11, twice as long for each further step. */
const MOST = { bcrypt: 14, bcryptjs: 12 };

class BcryptVerifier extends PasswordVerifier {
  readonly decoy: string;

  constructor(
    private readonly library: Bcrypt,
    private readonly most: number,
    rounds: number,
  ) {
    super();
    this.decoy = `$2b$${String(rounds).padStart(2, '0')}$${'.'.repeat(53)}`;
  }

  recognises(digest: string): boolean {
    return isAffordableBcrypt(digest, this.most);
  }

  verify(digest: string, password: string): Promise<boolean> {
    // PHP's `2y` is the same algorithm as `2b`.
    return this.library.compare(password, digest.replace(/^\$2y/, '$2b'));
  }
}

/**
 * Accepts bcrypt hashes (`$2a$`, `$2b$`, `$2y$`) to cost 14 with the package `bcrypt`, or to cost 12 with `bcryptjs`,
 * which computes on the event loop.
 *
 * bcrypt uses the first 72 bytes of a password only, so until the first login any text after them is accepted. The
 * first login rehashes the password as it was entered, and from then on the whole password is compared.
 *
 * @param options.rounds the cost of most imported hashes. Logins of all other users compute a hash of the same cost
 * @example hashing: { verifiers: [bcryptVerifier({ rounds: 12 })] }
 * @throws AuthConfigError if neither package is installed, or for a cost that is not accepted
 * @publicApi
 */
export function bcryptVerifier(
  { rounds = 10 }: { rounds?: number } = {},
  load = optionalPeer<Bcrypt>,
): PasswordVerifier {
  const native = load('bcrypt');
  const library = native ?? load('bcryptjs');
  if (!library) throw new AuthConfigError('bcryptVerifier() needs bcrypt or bcryptjs. Run: npm install bcryptjs');
  const most = native ? MOST.bcrypt : MOST.bcryptjs;
  const cure = native ? '' : `, or to ${MOST.bcrypt} with the package bcrypt`;
  return usable(
    new BcryptVerifier(library, most, rounds),
    `bcryptVerifier({ rounds: ${rounds} }): use a whole number from 4 to ${most}${cure}.`,
  );
}
