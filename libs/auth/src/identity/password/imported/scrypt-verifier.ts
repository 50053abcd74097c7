import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type ScryptCost, scryptDigest } from './digests';
import { PasswordVerifier } from '../../../foundation/ports/passwords';
import { usable } from './usable-verifier';

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

class ScryptVerifier extends PasswordVerifier {
  readonly decoy: string;

  constructor({ ln, r, p }: ScryptCost) {
    super();
    const [salt, key] = [randomBytes(16), randomBytes(32)].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
    this.decoy = `$scrypt$ln=${ln},r=${r},p=${p}$${salt}$${key}`;
  }

  recognises(digest: string): boolean {
    return scryptDigest(digest) !== undefined;
  }

  async verify(digest: string, password: string): Promise<boolean> {
    const { cost, salt, key } = scryptDigest(digest)!;
    const [N, r, p] = [2 ** cost.ln, cost.r, cost.p];
    const derived = await derive(password, salt, key.length, { N, r, p, maxmem: 256 * N * r * p });
    return timingSafeEqual(derived, key);
  }
}

/**
 * Accepts scrypt hashes as PHC strings, as passlib writes them: `$scrypt$ln=16,r=8,p=1$salt$hash`.
 *
 * @param cost the cost of most imported hashes. Logins of all other users compute a hash of the same cost
 * @throws AuthConfigError for a cost that is not accepted
 * @publicApi
 */
export const scryptVerifier = ({ ln = 16, r = 8, p = 1 }: Partial<ScryptCost> = {}): PasswordVerifier =>
  usable(
    new ScryptVerifier({ ln, r, p }),
    `scryptVerifier({ ln: ${ln}, r: ${r}, p: ${p} }): use whole numbers from 1, with 128 · 2^ln · r · p up to 128 MiB and ln below 16 · r.`,
  );
