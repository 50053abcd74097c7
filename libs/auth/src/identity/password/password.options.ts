import { availableParallelism } from 'node:os';
import {
  type Duration,
  type OptionTree,
  type TableOf,
  type WithDefaults,
  count,
  list,
  milliseconds,
  text,
  value,
} from '../../foundation/config/option-table';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { BreachedPasswords, PasswordVerifier } from '../../foundation/ports/passwords';
import { foldedPassword } from './password.policy';

/** Argon2id parameters and the bound on concurrent hashing (RFC 9106, OWASP Password Storage). */
export interface HashingOptions {
  /**
   * Memory in KiB per hash, 8 to 4194304 (4 GiB).
   *
   * @default 19456
   * @env SVC_ARGON2_MEMORY
   */
  memoryCost?: number;

  /**
   * Number of passes over the memory (`t` in RFC 9106 §3.1), 1 to 1000.
   *
   * @default 2
   * @env SVC_ARGON2_TIME
   */
  timeCost?: number;

  /**
   * Number of lanes (`p` in RFC 9106 §3.1), 1 to 255.
   *
   * @default 1
   * @env SVC_ARGON2_PARALLELISM
   */
  parallelism?: number;

  /**
   * Number of hashes computed concurrently, 1 to 1024. A value above the number of cores only adds latency. Each hash uses one
   * libuv thread, and one thread always stays free: for more than 3, start the process with a larger
   * `UV_THREADPOOL_SIZE`.
   *
   * @default one less than the cores, at least 1 and at most 3
   * @env SVC_HASH_CONCURRENCY
   */
  concurrency?: number;

  /**
   * Number of hashes that may wait, 0 to 1000000. When the queue is full, the response is 503 with `Retry-After`, so that a login
   * flood is bounded. Clients with the highest recent use are refused first, so that a new client is admitted.
   *
   * @default 256
   * @env SVC_HASH_QUEUE
   */
  maxQueue?: number;

  /**
   * Milliseconds that a hash may wait, 1 to 60000; after that the response is 503 with `Retry-After`.
   *
   * @default 2500
   * @env SVC_HASH_WAIT
   */
  maxWaitMs?: Duration;

  /**
   * The normalization form of Unicode (UAX 15) in which a new password is checked and hashed, so that a device that
   * writes ü as one character and a device that writes it as two enter the same password: `NFKC`, which NIST SP 800-63B
   * §3.1.1.2 recommends; `NFC`, as the profile OpaqueString of RFC 8265 §4.2.2; or `none`. Stored hashes keep their
   * meaning: each login that verifies the password as it was entered replaces the hash by one of the normalized password.
   *
   * @default 'none'
   */
  normalize?: 'none' | 'NFC' | 'NFKC';

  /**
   * Verifiers for hashes of another system: `bcryptVerifier()`, `phpassVerifier()`, `scryptVerifier()`,
   * `pbkdf2Verifier()`, `firebaseScryptVerifier()`, or the host's own. A successful login replaces such a hash by argon2id. Each verifier adds one hash of its kind to the cost of
   * every login, so that response times do not reveal which account has which kind of hash. Remove a verifier when no
   * row has such a hash any more.
   *
   * @default []
   */
  verifiers?: PasswordVerifier[];
}

/** A check of new passwords against passwords known from data breaches. */
export interface BreachOptions {
  /** The check to use: `new PwnedPasswords()`, or the host's own. */
  check: BreachedPasswords;

  /**
   * Milliseconds to wait for an answer, 1 to 60000.
   *
   * @default 1000
   */
  timeoutMs?: Duration;

  /**
   * What happens when there is no answer: `accept` accepts the password, `refuse` answers 503.
   *
   * @default 'accept'
   */
  onOutage?: 'accept' | 'refuse';
}

/**
 * Rules for new passwords (NIST SP 800-63B §3.1.1.2). Always refused: more than 255 characters, a NUL character, the
 * most common passwords, the account's own identifier or email, and `appName`.
 */
export interface PasswordOptions {
  /**
   * Minimum number of characters, 8 to 255. Characters are counted as Unicode code points: an emoji is one.
   *
   * @default 8
   * @env SVC_PASSWORD_MIN_LENGTH
   */
  minLength?: number;

  /**
   * Additional passwords to refuse, such as the product's name. Compared without regard to upper and lower case.
   *
   * @default []
   */
  blockList?: string[];

  /** Also refuses passwords known from data breaches. */
  breached?: BreachOptions;
}

declare module '../../foundation/config/auth-config' {
  interface GuardConfig {
    readonly passwords: {
      readonly minLength: number;
      /** Each in the form of `foldedPassword`. */
      readonly blockList: ReadonlySet<string>;
      readonly breached: WithDefaults<BreachOptions> | undefined;
    };
  }

  interface AuthConfig {
    readonly hashing: WithDefaults<HashingOptions>;
  }
}

declare module '../../foundation/config/public-config' {
  interface PublicGuardConfig {
    readonly passwords: Shown<Pick<GuardConfig['passwords'], 'minLength'>>;
  }
}

export const PASSWORD_OPTIONS = {
  passwords: {
    // 8 is the minimum of NIST SP 800-63B §3.1.1.2, 255 is the maximum length of a field.
    minLength: count(8, 255, { default: 8, env: 'PASSWORD_MIN_LENGTH', public: true }),
    blockList: list({ resolve: (words = []) => new Set(words.map(foldedPassword)) }),
    breached: {
      check: value({ required: true }),
      timeoutMs: milliseconds(1, 60_000, { default: 1000 }),
      onOutage: text({ default: 'accept' }),
    } satisfies TableOf<BreachOptions>,
  } satisfies TableOf<Omit<PasswordOptions, 'breached'>> & OptionTree,
} satisfies OptionTree;

/** The defaults are a configuration of the OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, one lane. */
export const HASHING = {
  // RFC 9106 §3.1 requires 8 KiB.
  memoryCost: count(8, 4_194_304, { default: 19_456, env: 'ARGON2_MEMORY' }),
  timeCost: count(1, 1000, { default: 2, env: 'ARGON2_TIME' }),
  parallelism: count(1, 255, { default: 1, env: 'ARGON2_PARALLELISM' }),
  // libuv has 1024 threads at most. One core stays free for requests without a password, and one of libuv's four threads for
  // files and DNS look-ups.
  concurrency: count(1, 1024, {
    default: Math.max(1, Math.min(3, availableParallelism() - 1)),
    env: 'HASH_CONCURRENCY',
  }),
  maxQueue: count(0, 1_000_000, { default: 256, env: 'HASH_QUEUE' }),
  maxWaitMs: milliseconds(1, 60_000, { default: 2500, env: 'HASH_WAIT' }),
  // The default verifies each password exactly as received (OWASP ASVS 6.2.8), and hashes stay PHC strings for other programs.
  normalize: text({ default: 'none' }),
  verifiers: value({ resolve: (verifiers = []) => [...verifiers] }),
} satisfies TableOf<HashingOptions>;
