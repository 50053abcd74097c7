import { AuthConfigError } from '../kernel/auth.exception';
import { optionalPeer } from '../kernel/optional-peer';
import { isAffordableBcrypt } from './imported-digest.policy';
import { PasswordVerifier } from './password-verifier';

interface Bcrypt {
  compare(password: string, digest: string): Promise<boolean>;
}

class BcryptVerifier extends PasswordVerifier {
  readonly decoy: string;

  constructor(
    private readonly library: Bcrypt,
    rounds: number,
  ) {
    super();
    this.decoy = `$2b$${String(rounds).padStart(2, '0')}$${'.'.repeat(53)}`;
  }

  recognises(digest: string): boolean {
    return isAffordableBcrypt(digest);
  }

  verify(digest: string, password: string): Promise<boolean> {
    // PHP's 2y is 2b by another name.
    return this.library.compare(password, digest.replace(/^\$2y/, '$2b'));
  }
}

/**
 * Accepts bcrypt hashes (`$2a$`, `$2b$`, `$2y$`). Needs the package `bcrypt` or `bcryptjs`.
 *
 * bcrypt sees the first 72 bytes of a password, so until the first login any ending after them is right; what was
 * typed then is what is hashed, and counts whole from there on.
 *
 * @param options.rounds the cost that most of the imported hashes have: logins of everybody else are given it
 * @example hashing: { verifiers: [bcryptVerifier({ rounds: 12 })] }
 * @throws AuthConfigError where neither package is installed
 * @publicApi
 */
export function bcryptVerifier(
  { rounds = 10 }: { rounds?: number } = {},
  load = optionalPeer<Bcrypt>,
): PasswordVerifier {
  const library = load('bcrypt') ?? load('bcryptjs');
  if (!library) throw new AuthConfigError('bcryptVerifier() needs bcrypt or bcryptjs. Run: npm install bcryptjs');
  return new BcryptVerifier(library, rounds);
}
