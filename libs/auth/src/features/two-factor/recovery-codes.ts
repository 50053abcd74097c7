import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { Realm, identity } from '../../kit';

/** Two groups of ten letters and digits: about 119 bits. */
export const RECOVERY_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

/** A code of another system: 8 to 64 printable ASCII characters. bcrypt compares no more than 72 bytes. */
const IMPORTED_CODE = /^[\x20-\x7e]{8,64}$/;

/** Precedes the hash of a code of another system, because such a code has another format. */
const IMPORTED = 'imported:';

/** Maximum number of codes in a set. Checking a code computes up to one slow hash for each of them. */
export const MOST_CODES = 100;

/** Returns the entries of the remaining codes; none if the column does not contain a list of at most 100 texts. */
export function entriesIn(column: string | null): string[] {
  try {
    const list: unknown = JSON.parse(column ?? '[]');
    const isSet = Array.isArray(list) && list.length <= MOST_CODES && list.every((item) => typeof item === 'string');
    return isSet ? list : [];
  } catch {
    return [];
  }
}

/** Returns the column without one of its entries; null if the column does not contain it. */
export function without(column: string | null, entry: string): string | null {
  const entries = entriesIn(column);
  return entries.includes(entry) ? JSON.stringify(entries.filter((other) => other !== entry)) : null;
}

/** Returns the column of a set of imported codes. Equal hashes are one code. */
export const importedColumn = (hashes: readonly string[]): string =>
  JSON.stringify([...new Set(hashes)].map((hash) => IMPORTED + hash));

/**
 * The hash that a text is compared with for one entry of the column. Null if the text does not have the format of the
 * entry's codes: then no slow hash is computed.
 */
export function comparedHash(entry: string, code: string): string | null {
  const hash = importedHash(entry);
  if (hash === null) return RECOVERY_CODE.test(code) ? entry : null;
  return IMPORTED_CODE.test(code) ? hash : null;
}

/** The hash in the entry of an imported code; null for an entry of the library's own codes. */
const importedHash = (entry: string): string | null =>
  entry.startsWith(IMPORTED) ? entry.slice(IMPORTED.length) : null;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A new set of recovery codes: the codes for the user, which are shown only once, and the value of the column. */
export interface RecoveryCodeSet {
  readonly codes: string[];
  readonly column: string;
}

/** Generates and checks recovery codes, for users without their authenticator. They are hashed like passwords. */
@Injectable()
export class RecoveryCodes {
  constructor(
    private readonly hasher: identity.PasswordHasher,
    private readonly passwords: identity.PasswordCheck,
    private readonly realm: Realm,
  ) {}

  async generate(): Promise<RecoveryCodeSet> {
    const codes = Array.from({ length: this.realm.options.twoFactor.recoveryCodes }, newCode);
    const hashes: string[] = [];
    // One after another, so that a set does not fill the hash queue for logins.
    for (const code of codes) hashes.push(await this.hasher.hash(code));
    return { codes, column: JSON.stringify(hashes) };
  }

  /** Returns the number of codes that can be used: an imported hash needs its verifier in `hashing.verifiers`. */
  count(column: string | null): number {
    const isUsable = (hash: string | null): boolean => hash === null || this.passwords.accepts(hash);
    return entriesIn(column).map(importedHash).filter(isUsable).length;
  }

  /** Returns the entry that matches `code`, or null. Case-sensitive. One slow hash is computed for each entry. */
  async find(column: string | null, code: string): Promise<string | null> {
    for (const entry of entriesIn(column)) {
      const hash = comparedHash(entry, code);
      if (hash !== null && (await this.passwords.matchesOwnKind(hash, code))) return entry;
    }
    return null;
  }
}

const newCode = (): string => `${part()}-${part()}`;

const part = (): string => Array.from({ length: 10 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
