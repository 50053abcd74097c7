import { createCipheriv, createHash, createHmac, pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AuthConfigError } from '../../../foundation/platform/errors';
import { optionalPeer } from '../../../foundation/platform/optional-peer';
import type { PasswordPreparation, PasswordVerifier } from '../../../foundation/ports/passwords';
import { PREPARATION_NAMES } from '../argon2-hasher';
import {
  type BcryptForm,
  PBKDF2_BLOCK,
  type Pbkdf2Cost,
  type PhpassDigest,
  type ScryptCost,
  bcryptDigest,
  firebaseDigest,
  isScryptCost,
  pbkdf2Digest,
  phpassBase64,
  phpassCost,
  phpassDigest,
  scryptDigest,
} from './digests';

/**
 * Returns the verifier if it recognises its own decoy. Otherwise it is configured for hashes that it refuses: no such
 * hash would match, and the duration of a login would reveal which accounts have an imported hash.
 *
 * @throws AuthConfigError with the text of `cure`
 */
export function usable(verifier: PasswordVerifier, cure: string): PasswordVerifier {
  const { decoy } = verifier;
  if (!verifier.recognises(decoy)) throw new AuthConfigError(cure);
  const unknown = (verifier.preparation?.(decoy) ?? []).find((name) => !PREPARATION_NAMES.includes(name));
  if (unknown === undefined) return verifier;
  throw new AuthConfigError(
    `A verifier of hashing.verifiers prepares passwords by "${unknown}". Use ${PREPARATION_NAMES.join(', ')}.`,
  );
}

/** How the former system changes a password before it hashes it. */
interface Prepared {
  preparation?: readonly PasswordPreparation[];
}

const random = (length: number): string => randomBytes(length).toString('base64').replace(/=+$/, '');

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

const scryptKey = (password: string, salt: Uint8Array, length: number, { ln, r, p }: ScryptCost): Promise<Buffer> => {
  const N = 2 ** ln;
  return derive(password, salt, length, { N, r, p, maxmem: 256 * N * r * p });
};

/**
 * Accepts scrypt hashes as PHC strings, as passlib writes them: `$scrypt$ln=16,r=8,p=1$salt$hash`.
 *
 * @param cost the cost of most imported hashes, with which logins of all other users compute a hash. `preparation`: how the former
 * system changes a password before it hashes it, see `PasswordVerifier.preparation`
 * @example hashing: { verifiers: [scryptVerifier({ ln: 14, r: 16, preparation: ['NFKC'] })] }
 * @throws AuthConfigError for a cost that is not accepted
 * @publicApi
 */
export const scryptVerifier = ({
  ln = 16,
  r = 8,
  p = 1,
  preparation = [],
}: Partial<ScryptCost> & Prepared = {}): PasswordVerifier =>
  usable(
    {
      decoy: `$scrypt$ln=${ln},r=${r},p=${p}$${random(16)}$${random(32)}`,
      recognises: (digest) => scryptDigest(digest) !== undefined,
      preparation: () => preparation,
      verify: async (digest, password) => {
        const { cost, salt, key } = scryptDigest(digest)!;
        return timingSafeEqual(await scryptKey(password, salt, key.length, cost), key);
      },
    },
    `scryptVerifier({ ln: ${ln}, r: ${r}, p: ${p} }): use whole numbers from 1, with 128 · 2^ln · r · p up to 128 MiB and ln below 16 · r.`,
  );

/**
 * Accepts PBKDF2 hashes: Django's `pbkdf2_sha256$870000$salt$hash`, and PHC strings as passlib writes them,
 * `$pbkdf2-sha256$29000$salt$hash`.
 *
 * @param cost the cost of most imported hashes, with which logins of all other users compute a hash. `hash` is
 * `sha1`, `sha256` or `sha512`. `preparation`: see {@link scryptVerifier}
 * @throws AuthConfigError for a cost that is not accepted
 * @publicApi
 */
export const pbkdf2Verifier = ({
  hash = 'sha256',
  iterations = 870_000,
  preparation = [],
}: Partial<Pbkdf2Cost> & Prepared = {}): PasswordVerifier =>
  usable(
    {
      // The key has the length of one block: each further block takes all rounds again.
      decoy: `$pbkdf2-${hash}$${iterations}$${random(16)}$${random(PBKDF2_BLOCK[hash] ?? 0)}`,
      recognises: (digest) => pbkdf2Digest(digest) !== undefined,
      preparation: () => preparation,
      verify: async (digest, password) => {
        const { cost, salt, key } = pbkdf2Digest(digest)!;
        return timingSafeEqual(await promisify(pbkdf2)(password, salt, cost.iterations, key.length, cost.hash), key);
      },
    },
    `pbkdf2Verifier({ hash: '${hash}', iterations: ${iterations} }): use sha1, sha256 or sha512, and a whole number from 1 to 1500000.`,
  );

const FIREBASE_KEY_BYTES = 32;

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

/**
 * Accepts the modified scrypt hashes of Firebase Authentication. Import them as `$firebase-scrypt$salt$hash`: salt and
 * hash of a user as Firebase exports them, in base64 or base64url. The hash of a password is the signer key of the project,
 * encrypted with a key that scrypt derives from the password.
 *
 * @param parameters the password hash parameters of the Firebase project. Default of `saltSeparator`: `Bw==`; of
 * `rounds`: 8; of `memCost`: 14
 * @example hashing: { verifiers: [firebaseScryptVerifier({ signerKey: process.env.FIREBASE_SIGNER_KEY })] }
 * @throws AuthConfigError for parameters that are not accepted
 * @publicApi
 */
export function firebaseScryptVerifier({
  signerKey,
  saltSeparator = 'Bw==',
  rounds = 8,
  memCost = 14,
}: FirebaseScryptParameters): PasswordVerifier {
  if (typeof saltSeparator !== 'string' || (saltSeparator !== '' && !BASE64.test(saltSeparator))) {
    throw new AuthConfigError(
      'firebaseScryptVerifier: saltSeparator is not base64. Copy base64_salt_separator of the project.',
    );
  }
  // Not properties of the verifier, so that a configuration that is printed does not contain the key.
  const [signer, separator] = [bytesOf(signerKey), bytesOf(saltSeparator)];
  const cost = { ln: memCost, r: rounds, p: 1 };
  return usable(
    {
      decoy: `$firebase-scrypt$${random(10)}$${random(signer.length)}`,
      recognises: (digest) => isScryptCost(cost) && firebaseDigest(digest)?.key.length === signer.length,
      verify: async (digest, password) => {
        const { salt, key } = firebaseDigest(digest)!;
        const derived = await scryptKey(password, Buffer.concat([salt, separator]), FIREBASE_KEY_BYTES, cost);
        const cipher = createCipheriv('aes-256-ctr', derived, IV);
        return timingSafeEqual(Buffer.concat([cipher.update(signer), cipher.final()]), key);
      },
    },
    `firebaseScryptVerifier({ rounds: ${rounds}, memCost: ${memCost} }): use the base64 signer key of the project, and whole numbers from 1, with 128 · 2^memCost · rounds up to 128 MiB.`,
  );
}

interface Bcrypt {
  compare(password: string, digest: string): Promise<boolean>;
}

/** Maximum costs. bcryptjs blocks the event loop: about 0.1 s at cost 11, twice as long for each further step. */
const MOST = { bcrypt: 14, bcryptjs: 12 };

/** What each kind of hash gives to bcrypt. */
const BCRYPT_INPUT: Readonly<Record<BcryptForm, (password: string) => string>> = {
  plain: (password) => password,
  'django-sha256': (password) => createHash('sha256').update(password).digest('hex'),
  wordpress: (password) => createHmac('sha384', 'wp-sha384').update(password).digest('base64'),
};

/** WordPress removes the spaces at both ends before it compares. */
const BCRYPT_PREPARATION: Readonly<Record<BcryptForm, readonly PasswordPreparation[]>> = {
  plain: ['72-bytes'],
  'django-sha256': [],
  wordpress: ['trim'],
};

/**
 * Accepts bcrypt hashes (`$2a$`, `$2b$`, `$2y$`) to cost 14 with the package `bcrypt`, or to cost 12 with `bcryptjs`,
 * which computes on the event loop; also Django's `bcrypt$` and `bcrypt_sha256$`, and `$wp$2y$` of WordPress 6.8.
 *
 * bcrypt uses the first 72 bytes of a password only, so any text after them is accepted, as in the former system, until
 * the user sets another password.
 *
 * @param options.rounds the cost of most imported hashes. Logins of all other users compute a hash of the same cost
 * @param options.preparation as of {@link scryptVerifier}; the cut to 72 bytes is not part of it
 * @example hashing: { verifiers: [bcryptVerifier({ rounds: 12 })] }
 * @throws AuthConfigError if neither package is installed, or for a cost that is not accepted
 * @publicApi
 */
export function bcryptVerifier(
  { rounds = 10, preparation = [] }: { rounds?: number } & Prepared = {},
  load = optionalPeer<Bcrypt>,
): PasswordVerifier {
  const native = load('bcrypt');
  const library = native ?? load('bcryptjs');
  if (!library) throw new AuthConfigError('bcryptVerifier() needs bcrypt or bcryptjs. Run: npm install bcryptjs');
  const most = native ? MOST.bcrypt : MOST.bcryptjs;
  const cure = native ? '' : `, or to ${MOST.bcrypt} with the package bcrypt`;
  return usable(
    {
      decoy: `$2b$${String(rounds).padStart(2, '0')}$${'.'.repeat(53)}`,
      recognises: (text) => bcryptDigest(text, most) !== undefined,
      preparation: (text) => [...preparation, ...BCRYPT_PREPARATION[bcryptDigest(text, most)!.form]],
      verify: (text, password) => {
        const { form, digest } = bcryptDigest(text, most)!;
        // PHP's `2y` is the same algorithm as `2b`.
        return library.compare(BCRYPT_INPUT[form](password), digest.replace(/^\$2y/, '$2b'));
      },
    },
    `bcryptVerifier({ rounds: ${rounds} }): use a whole number from 4 to ${most}${cure}.`,
  );
}

/** Rounds of MD5 after which other work of the event loop runs: about a millisecond. */
const PHPASS_SLICE = 1024;

async function portableHash(password: string, { rounds, salt }: PhpassDigest): Promise<string> {
  const text = Buffer.from(password);
  let key = createHash('md5').update(salt).update(text).digest();
  for (let round = 0; round < rounds; round++) {
    key = createHash('md5').update(key).update(text).digest();
    if (round % PHPASS_SLICE === PHPASS_SLICE - 1) await setImmediate();
  }
  return phpassBase64(key);
}

/**
 * Accepts the portable hashes of phpass, `$P$B…` of WordPress before 6.8 and `$H$9…` of phpBB 3, to a cost of 15. MD5 is
 * computed on the event loop, in slices.
 *
 * @param options.cost log2 of the rounds of most imported hashes. Logins of all other users compute a hash of the same cost
 * @param options.preparation as of {@link scryptVerifier}: `['trim']` for WordPress, which removes spaces at both ends
 * @example hashing: { verifiers: [phpassVerifier({ preparation: ['trim'] }), bcryptVerifier({ rounds: 10 })] }
 * @throws AuthConfigError for a cost that is not accepted
 * @publicApi
 */
export const phpassVerifier = ({ cost = 13, preparation = [] }: { cost?: number } & Prepared = {}): PasswordVerifier =>
  usable(
    {
      decoy: `$P$${phpassCost(cost)}${phpassBase64(randomBytes(6))}${phpassBase64(randomBytes(16))}`,
      recognises: (digest) => phpassDigest(digest) !== undefined,
      preparation: () => preparation,
      verify: async (digest, password) => {
        const parsed = phpassDigest(digest)!;
        return timingSafeEqual(Buffer.from(await portableHash(password, parsed)), Buffer.from(parsed.key));
      },
    },
    `phpassVerifier({ cost: ${cost} }): use a whole number from 7 to 15.`,
  );
