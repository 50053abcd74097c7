import { createRequire } from 'node:module';
import { AuthConfigError } from '../kernel/auth.exception';

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
