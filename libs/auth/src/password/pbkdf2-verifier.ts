import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Pbkdf2Cost, pbkdf2Digest } from './imported-digest.policy';
import { PasswordVerifier } from './password-verifier';

const derive = promisify(pbkdf2);

class Pbkdf2Verifier extends PasswordVerifier {
  readonly decoy: string;

  constructor({ hash, iterations }: Pbkdf2Cost) {
    super();
    const [salt, key] = [randomBytes(16), randomBytes(32)].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
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
 * @param cost what most of the imported hashes have: logins of everybody else are given it
 * @publicApi
 */
export const pbkdf2Verifier = ({ hash = 'sha256', iterations = 870_000 }: Partial<Pbkdf2Cost> = {}): PasswordVerifier =>
  new Pbkdf2Verifier({ hash, iterations });
