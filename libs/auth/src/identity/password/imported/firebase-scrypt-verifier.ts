import { AuthConfigError } from '../../../foundation/platform/errors';
import { createCipheriv, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { PasswordVerifier } from '../../../foundation/ports/passwords';
import { type ScryptCost, firebaseDigest, isScryptCost } from './digests';
import { usable } from './usable-verifier';

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

const KEY_BYTES = 32;

/** The counter of AES-CTR begins at zero. */
const IV = Buffer.alloc(16);

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Decodes base64 and base64url; no bytes for another text. */
const bytesOf = (text: unknown): Buffer => Buffer.from(BASE64.test(String(text)) ? String(text) : '', 'base64');

/** The password hash parameters of a Firebase project. */
interface FirebaseScryptParameters {
  /** `base64_signer_key` */
  signerKey: string;
  /** `base64_salt_separator` */
  saltSeparator?: string;
  /** `rounds`: the block size r of scrypt. */
  rounds?: number;
  /** `mem_cost`: log2 of the cost N of scrypt. */
  memCost?: number;
}

/** The hash of a password is the signer key of the project, encrypted with a key that scrypt derives from the password. */
class FirebaseScryptVerifier extends PasswordVerifier {
  readonly decoy: string;
  private readonly cost: ScryptCost;
  /** Private at run time, so that a configuration that is printed does not contain the key. */
  readonly #signerKey: Buffer;
  readonly #saltSeparator: Buffer;

  constructor({ signerKey, saltSeparator, rounds, memCost }: Required<FirebaseScryptParameters>) {
    super();
    if (typeof saltSeparator !== 'string' || (saltSeparator !== '' && !BASE64.test(saltSeparator))) {
      throw new AuthConfigError(
        'firebaseScryptVerifier: saltSeparator is not base64. Copy base64_salt_separator of the project.',
      );
    }
    this.#signerKey = bytesOf(signerKey);
    this.#saltSeparator = bytesOf(saltSeparator);
    this.cost = { ln: memCost, r: rounds, p: 1 };
    const [salt, key] = [10, this.#signerKey.length].map((length) => randomBytes(length).toString('base64'));
    this.decoy = `$firebase-scrypt$${salt}$${key}`;
  }

  recognises(digest: string): boolean {
    return isScryptCost(this.cost) && firebaseDigest(digest)?.key.length === this.#signerKey.length;
  }

  async verify(digest: string, password: string): Promise<boolean> {
    const { salt, key } = firebaseDigest(digest)!;
    const [N, r, p] = [2 ** this.cost.ln, this.cost.r, this.cost.p];
    const salted = Buffer.concat([salt, this.#saltSeparator]);
    const derived = await derive(password, salted, KEY_BYTES, { N, r, p, maxmem: 256 * N * r * p });
    const cipher = createCipheriv('aes-256-ctr', derived, IV);
    return timingSafeEqual(Buffer.concat([cipher.update(this.#signerKey), cipher.final()]), key);
  }
}

/**
 * Accepts the modified scrypt hashes of Firebase Authentication. Import them as `$firebase-scrypt$salt$hash`: salt and
 * hash of a user as Firebase exports them, in base64 or base64url.
 *
 * @param parameters the password hash parameters of the Firebase project. Default of `saltSeparator`: `Bw==`; of
 * `rounds`: 8; of `memCost`: 14
 * @example hashing: { verifiers: [firebaseScryptVerifier({ signerKey: process.env.FIREBASE_SIGNER_KEY })] }
 * @throws AuthConfigError for parameters that are not accepted
 * @publicApi
 */
export const firebaseScryptVerifier = ({
  signerKey,
  saltSeparator = 'Bw==',
  rounds = 8,
  memCost = 14,
}: FirebaseScryptParameters): PasswordVerifier =>
  usable(
    new FirebaseScryptVerifier({ signerKey, saltSeparator, rounds, memCost }),
    `firebaseScryptVerifier({ rounds: ${rounds}, memCost: ${memCost} }): use the base64 signer key of the project, and whole numbers from 1, with 128 · 2^memCost · rounds up to 128 MiB.`,
  );
