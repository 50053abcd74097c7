import { createRequire } from 'node:module';
import type { HashingOptions } from '../../foundation/config/auth-options';
import { newSecret } from '../../foundation/platform/crypto';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { HashQueue } from './hash-queue';
import { PasswordHasher } from './password-hasher';

/** Parameters of one argon2id hash. `memoryCost` is in KiB. */
export interface Argon2Parameters {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** What both argon2 packages can do; their hashes are interchangeable. */
export interface Argon2Library {
  readonly name: 'argon2' | '@node-rs/argon2';
  hash(password: string, parameters: Argon2Parameters): Promise<string>;
  verify(digest: string, password: string): Promise<boolean>;
}

type Load = (name: string) => unknown;

interface NodeRs {
  hash(password: string, options: object): Promise<string>;
  verify(digest: string, password: string): Promise<boolean>;
}

const ARGON2ID = 2;

/** `@node-rs/argon2` where the host installed it, as it is about 2.5 times as fast; else `argon2`. */
export function argon2Library(load: Load = createRequire(__filename)): Argon2Library {
  return fromNodeRs(load) ?? fromArgon2(load);
}

function fromNodeRs(load: Load): Argon2Library | undefined {
  const library = optional<NodeRs>(load, '@node-rs/argon2');
  return (
    library && {
      name: '@node-rs/argon2',
      hash: (password, parameters) => library.hash(password, { algorithm: ARGON2ID, ...parameters }),
      verify: (digest, password) => library.verify(digest, password),
    }
  );
}

function fromArgon2(load: Load): Argon2Library {
  const library = optional<typeof import('argon2')>(load, 'argon2');
  if (!library) throw new AuthConfigError('No argon2 library could be loaded. Run: npm install argon2');
  return {
    name: 'argon2',
    hash: (password, parameters) => library.hash(password, { type: library.argon2id, ...parameters }),
    verify: (digest, password) => library.verify(digest, password),
  };
}

function optional<T>(load: Load, name: string): T | undefined {
  try {
    return load(name) as T;
  } catch {
    return undefined;
  }
}

/** Cost parameters written in an argon2 digest: KiB of memory, passes, lanes. */
export interface DigestCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

const PHC = /^\$argon2id\$v=19\$([a-z]=\d{1,10}(?:,[a-z]=\d{1,10})*)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,172}$/;

/**
 * The cost a PHC string asks for, or undefined where it is no argon2id digest (RFC 9106 §3.1).
 * Libraries write `m`, `t` and `p` in different orders.
 */
export function digestCost(digest: string): DigestCost | undefined {
  const written = PHC.exec(digest)?.[1];
  if (!written) return undefined;
  const { m, t, p } = Object.fromEntries(written.split(',').map((pair) => pair.split('=')));
  const cost = { memoryCost: Number(m), timeCost: Number(t), parallelism: Number(p) };
  return Object.values(cost).every((value) => value >= 1) ? cost : undefined;
}

/**
 * Whether verifying a digest of this cost is affordable. A stored digest is data: one that asks for
 * gigabytes would stop the process, so anything far beyond what this server would write is no match.
 */
export const isAffordable = ({ memoryCost, timeCost, parallelism }: DigestCost): boolean =>
  memoryCost <= 524_288 && timeCost <= 16 && parallelism <= 16 && memoryCost * timeCost <= 1_048_576;

/** Argon2id (RFC 9106) with bounded concurrency. */
export class Argon2Hasher extends PasswordHasher {
  /** Digest of a password nobody knows, at the configured cost: what a login without a user is checked against. */
  private readonly decoy: Promise<string>;

  constructor(
    private readonly options: Required<Pick<HashingOptions, 'memoryCost' | 'timeCost' | 'parallelism'>>,
    private readonly queue: HashQueue,
    private readonly library: Argon2Library = argon2Library(),
  ) {
    super();
    this.decoy = this.hash(newSecret());
    // A hasher that cannot hash says so to whoever awaits it, and not as an unhandled rejection.
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

  /** A digest that only the library finds unusable costs what every other does. */
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
