import { newSecret } from '../../foundation/platform/crypto';
import { AuthConfigError } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';
import type { PasswordPreparation } from '../../foundation/ports/passwords';
import type { HashQueue } from './hash-queue';
import { PasswordHasher } from './password-hasher';
import type { HashingOptions } from './password.options';

/** Parameters of one argon2id hash: KiB of memory, passes, lanes. */
export interface Argon2Parameters {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The common interface of both argon2 packages. Their hashes are interchangeable. */
export interface Argon2Library {
  readonly name: 'argon2' | '@node-rs/argon2';
  hash(password: string, parameters: Argon2Parameters): Promise<string>;
  verify(digest: string, password: string): Promise<boolean>;
}

type Load = (name: Argon2Library['name']) => unknown;

type Hashing = Pick<Argon2Library, 'verify'> & { hash(password: string, options: object): Promise<string> };

const ARGON2ID = 2;

/** Loads `@node-rs/argon2` if the host installed it, because it is about 2.5 times as fast; else `argon2`. */
export function argon2Library(load: Load = optionalPeer): Argon2Library {
  let failure = '';
  const optional = (name: Argon2Library['name']): Hashing | undefined => {
    try {
      return load(name) as Hashing | undefined;
    } catch (error) {
      failure = ` (${(error as Error).message.split('\n', 1)[0]})`;
      return undefined;
    }
  };
  const native = optional('@node-rs/argon2');
  const library = native ?? optional('argon2');
  if (!library)
    throw new AuthConfigError(
      `No argon2 library could be loaded${failure}. Run: npm install argon2. A bundle cannot contain its compiled code: leave ` +
        'the package external.',
    );
  const algorithm = native ? { algorithm: ARGON2ID } : { type: ARGON2ID };
  return {
    name: native ? '@node-rs/argon2' : 'argon2',
    hash: (password, parameters) => library.hash(password, { ...algorithm, ...parameters }),
    verify: (digest, password) => library.verify(digest, password),
  };
}

const BCRYPT_BYTES = 72;

/**
 * A text for which bcrypt computes the same hash as for `password`. The rest of a character that the limit splits gets its lowest value, so that two
 * passwords have one text exactly if their first 72 bytes are equal.
 */
function comparedByBcrypt(password: string): string {
  const bytes = Buffer.from(password);
  if (bytes.length <= BCRYPT_BYTES) return password;
  const isInCharacter = (at: number): boolean => at < bytes.length && (bytes[at]! & 0xc0) === 0x80;
  let end = BCRYPT_BYTES;
  while (isInCharacter(end)) end++;
  bytes.fill(0x80, BCRYPT_BYTES, end);
  // The second byte of three or four has a higher lowest value after these two.
  const lowest = { 0xe0: 0xa0, 0xf0: 0x90 }[bytes[BCRYPT_BYTES - 1]!];
  if (lowest !== undefined && end > BCRYPT_BYTES) bytes[BCRYPT_BYTES] = lowest;
  return bytes.toString('utf8', 0, end);
}

/** The changes in the order in which they are made. */
const PREPARATIONS: readonly (readonly [PasswordPreparation, (password: string) => string])[] = [
  ['NFC', (password) => password.normalize('NFC')],
  ['NFKC', (password) => password.normalize('NFKC')],
  // As PHP's `trim`, without NUL, which no password contains.
  ['trim', (password) => password.replaceAll(/^[ \t\n\r\v]+|[ \t\n\r\v]+$/g, '')],
  ['lowercase', (password) => password.toLowerCase()],
  ['72-bytes', comparedByBcrypt],
];

export const PREPARATION_NAMES: readonly string[] = PREPARATIONS.map(([name]) => name);

/**
 * The text that is hashed for a password. Every change is made for every hash, so that the duration of a check does not show how
 * the password of an account is prepared.
 */
export function preparedPassword(password: string, preparation: readonly PasswordPreparation[]): string {
  return PREPARATIONS.reduce((text, [name, change]) => {
    const changed = change(text);
    return preparation.includes(name) ? changed : text;
  }, password);
}

/** How new passwords are prepared by the option `hashing.normalize`. */
export const normalizationOf = ({ normalize = 'none' }: Pick<HashingOptions, 'normalize'>): PasswordPreparation[] =>
  normalize === 'none' ? [] : [normalize];

/** A parsed hash of argon2, as it is stored. */
export interface StoredHash {
  /** How a password is prepared before it is compared. */
  readonly preparation: readonly PasswordPreparation[];
  /** The hash without the names of the preparation. */
  readonly phc: string;
  readonly cost: Argon2Parameters;
  /** Whether the library writes hashes of this form: argon2id, without the prefix of Django. */
  readonly isOwnForm: boolean;
}

/** The names of changes, as in `NFKC,72-bytes:$argon2id$…`; or the prefix of Django, as in `argon2$argon2id$…`. */
const STORED =
  /^(?:([A-Za-z0-9,-]{1,40}):|(argon2))?(\$argon2(id?)\$v=19\$([a-z]=\d{1,10}(?:,[a-z]=\d{1,10})*)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,172})$/;

/**
 * Parses a stored hash: a PHC string of argon2id or argon2i (RFC 9106 §3.1), after the names of its preparation. Undefined for any
 * other text. The order of `m`, `t` and `p` differs between libraries.
 */
export function storedHash(digest: string): StoredHash | undefined {
  const [, names, django, phc, variant, written] = STORED.exec(digest) ?? [];
  if (phc === undefined || written === undefined) return undefined;
  const { m, t, p } = Object.fromEntries(written.split(',').map((pair) => pair.split('=')));
  const cost = { memoryCost: Number(m), timeCost: Number(t), parallelism: Number(p) };
  const preparation = (names?.split(',') ?? []) as PasswordPreparation[];
  if (
    !Object.values(cost).every((value) => value >= 1) ||
    !preparation.every((name) => PREPARATION_NAMES.includes(name))
  )
    return undefined;
  return { preparation, phc, cost, isOwnForm: variant === 'id' && django === undefined };
}

/**
 * Whether a digest of this cost may be verified. A stored digest is untrusted data: a memory cost of gigabytes would
 * crash the process, so a digest far above the costs that this library writes is not a match.
 */
export const isAffordable = ({ memoryCost, timeCost, parallelism }: Argon2Parameters): boolean =>
  memoryCost <= 524_288 && timeCost <= 16 && parallelism <= 16 && memoryCost * timeCost <= 1_048_576;

/** Hashes and verifies passwords with argon2id (RFC 9106), with bounded concurrency. */
export class Argon2Hasher extends PasswordHasher {
  private madeDecoy: Promise<string> | undefined;

  /** How a new password is prepared. */
  private readonly preparation: readonly PasswordPreparation[];

  constructor(
    private readonly options: Readonly<Argon2Parameters & { normalize?: HashingOptions['normalize'] }>,
    private readonly queue: HashQueue,
    private readonly library: Argon2Library = argon2Library(),
  ) {
    super();
    this.preparation = normalizationOf(options);
    // Made before the first login needs it. A failure is reported by the login that needs it.
    this.decoy().catch(() => undefined);
  }

  async hash(password: string, preparation = this.preparation): Promise<string> {
    const { memoryCost, timeCost, parallelism } = this.options;
    const text = preparedPassword(password, preparation);
    const phc = await this.queue.run(() => this.library.hash(text, { memoryCost, timeCost, parallelism }));
    return preparation.length ? `${preparation.join(',')}:${phc}` : phc;
  }

  async verify(digest: string | null, password: string): Promise<boolean> {
    // The decoy is parsed as well, so that a check without a digest has the same steps.
    const stored = storedHash(digest ?? (await this.decoy()));
    const usable = stored !== undefined && isAffordable(stored.cost);
    const checked = usable ? stored : storedHash(await this.decoy())!;
    const matches = await this.queue.run(() => this.verified(checked, password));
    return digest !== null && usable && matches;
  }

  /** Hash of a random password at the configured cost. A login without a user is checked against it. Tried again after a failure. */
  private decoy(): Promise<string> {
    this.madeDecoy ??= this.hash(newSecret()).catch((error: unknown) => {
      this.madeDecoy = undefined;
      throw error;
    });
    return this.madeDecoy;
  }

  /** Verifies the decoy if the library cannot parse the digest, so that every check takes the same time. */
  private async verified({ phc, preparation }: StoredHash, password: string): Promise<boolean> {
    const text = preparedPassword(password, preparation);
    try {
      return await this.library.verify(phc, text);
    } catch {
      await this.library.verify(storedHash(await this.decoy())!.phc, text);
      return false;
    }
  }

  needsRehash(digest: string): boolean {
    const stored = storedHash(digest);
    if (!stored?.isOwnForm || (stored.preparation.length === 0 && this.preparation.length > 0)) return true;
    const { memoryCost, timeCost, parallelism } = this.options;
    const { cost } = stored;
    return cost.memoryCost !== memoryCost || cost.timeCost !== timeCost || cost.parallelism !== parallelism;
  }
}
