import { createRequire } from 'node:module';
import { newSecret } from '../../foundation/platform/crypto';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { HashQueue } from './hash-queue';
import { PasswordHasher } from './password-hasher';

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

type Load = (name: string) => unknown;

type Hashing = Pick<Argon2Library, 'verify'> & { hash(password: string, options: object): Promise<string> };

const ARGON2ID = 2;

/** Loads `@node-rs/argon2` if the host installed it, because it is about 2.5 times as fast; else `argon2`. */
export function argon2Library(load: Load = createRequire(__filename)): Argon2Library {
  const optional = (name: string): Hashing | undefined => {
    try {
      return load(name) as Hashing;
    } catch {
      return undefined;
    }
  };
  const native = optional('@node-rs/argon2');
  const library = native ?? optional('argon2');
  if (!library) throw new AuthConfigError('No argon2 library could be loaded. Run: npm install argon2');
  const algorithm = native ? { algorithm: ARGON2ID } : { type: ARGON2ID };
  return {
    name: native ? '@node-rs/argon2' : 'argon2',
    hash: (password, parameters) => library.hash(password, { ...algorithm, ...parameters }),
    verify: (digest, password) => library.verify(digest, password),
  };
}

const PHC = /^\$argon2id\$v=19\$([a-z]=\d{1,10}(?:,[a-z]=\d{1,10})*)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,172}$/;

/**
 * The cost in a PHC string, or undefined if it is not an argon2id digest (RFC 9106 §3.1).
 * The order of `m`, `t` and `p` differs between libraries.
 */
export function digestCost(digest: string): Argon2Parameters | undefined {
  const written = PHC.exec(digest)?.[1];
  if (!written) return undefined;
  const { m, t, p } = Object.fromEntries(written.split(',').map((pair) => pair.split('=')));
  const cost = { memoryCost: Number(m), timeCost: Number(t), parallelism: Number(p) };
  return Object.values(cost).every((value) => value >= 1) ? cost : undefined;
}

/**
 * Whether a digest of this cost may be verified. A stored digest is untrusted data: a memory cost of gigabytes would
 * crash the process, so a digest far above the costs that this library writes is not a match.
 */
export const isAffordable = ({ memoryCost, timeCost, parallelism }: Argon2Parameters): boolean =>
  memoryCost <= 524_288 && timeCost <= 16 && parallelism <= 16 && memoryCost * timeCost <= 1_048_576;

/** Hashes and verifies passwords with argon2id (RFC 9106), with bounded concurrency. */
export class Argon2Hasher extends PasswordHasher {
  /** Digest of a random password at the configured cost. A login without a user is checked against it. */
  private readonly decoy: Promise<string>;

  constructor(
    private readonly options: Readonly<Argon2Parameters>,
    private readonly queue: HashQueue,
    private readonly library: Argon2Library = argon2Library(),
  ) {
    super();
    this.decoy = this.hash(newSecret());
    // A failure is reported when the decoy is awaited, not as an unhandled rejection.
    this.decoy.catch(() => undefined);
  }

  hash(password: string): Promise<string> {
    const { memoryCost, timeCost, parallelism } = this.options;
    return this.queue.run(() => this.library.hash(password, { memoryCost, timeCost, parallelism }));
  }

  async verify(digest: string | null, password: string): Promise<boolean> {
    const cost = digest === null ? undefined : digestCost(digest);
    const usable = cost !== undefined && isAffordable(cost);
    const checked = usable ? digest! : await this.decoy;
    const matches = await this.queue.run(() => this.verified(checked, password));
    return usable && matches;
  }

  /** Verifies the decoy if the library cannot parse the digest, so that every check takes the same time. */
  private async verified(digest: string, password: string): Promise<boolean> {
    try {
      return await this.library.verify(digest, password);
    } catch {
      await this.library.verify(await this.decoy, password);
      return false;
    }
  }

  needsRehash(digest: string): boolean {
    const cost = digestCost(digest);
    const { memoryCost, timeCost, parallelism } = this.options;
    return cost?.memoryCost !== memoryCost || cost.timeCost !== timeCost || cost.parallelism !== parallelism;
  }
}
