import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { type CodeFormat, Realm, identity, typedCode } from '../../kit';

/** 120 bits in Crockford's base32, which has no two characters that look alike. Its only spelling is hashed. */
const OWN_CODE: CodeFormat = { alphabet: 'base32', length: 24 };

/** A code of an earlier alphabet, in which upper and lower case are different. It is hashed with its hyphen. */
const EARLIER_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

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

/** The spellings of a text that are compared with hashes; null where the text does not have the format of such codes. */
export interface CodeSpellings {
  /** For the library's own codes. */
  readonly own: string | null;
  /** For imported codes. */
  readonly imported: string | null;
}

/**
 * Reads a recovery code. Codes of an earlier alphabet and imported codes have the spelling that was hashed, case included. No
 * text has the format of two alphabets of the library, so one hash is compared with one spelling.
 */
export function spellingsOf(text: string): CodeSpellings {
  const exact = (format: RegExp): string | null => (format.test(text) ? text : null);
  return { own: typedCode(text, OWN_CODE) ?? exact(EARLIER_CODE), imported: exact(IMPORTED_CODE) };
}

/** The hash of an entry of the column, and the spelling that is compared with it. Null for none: then no slow hash is computed. */
export function comparedWith(entry: string, { own, imported }: CodeSpellings): { hash: string; code: string } | null {
  const hash = importedHash(entry);
  const code = hash === null ? own : imported;
  return code === null ? null : { hash: hash ?? entry, code };
}

/** The hash in the entry of an imported code; null for an entry of the library's own codes. */
const importedHash = (entry: string): string | null =>
  entry.startsWith(IMPORTED) ? entry.slice(IMPORTED.length) : null;

/** Crockford's alphabet, without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A code is shown in groups of this length. */
const GROUP = 6;

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
    for (const code of codes) hashes.push(await this.hasher.hash(typedCode(code, OWN_CODE)!));
    return { codes, column: JSON.stringify(hashes) };
  }

  /** Returns the number of codes that can be used: an imported hash needs its verifier in `hashing.verifiers`. */
  count(column: string | null): number {
    const isUsable = (hash: string | null): boolean => hash === null || this.passwords.accepts(hash);
    return entriesIn(column).map(importedHash).filter(isUsable).length;
  }

  /** Returns the entry that matches a text, or null: see {@link spellingsOf}. At most one slow hash is computed for each entry. */
  async find(column: string | null, text: string): Promise<string | null> {
    const spellings = spellingsOf(text);
    for (const entry of entriesIn(column)) {
      const compared = comparedWith(entry, spellings);
      if (compared && (await this.passwords.matchesOwnKind(compared.hash, compared.code))) return entry;
    }
    return null;
  }
}

const newCode = (): string => Array.from({ length: OWN_CODE.length / GROUP }, newGroup).join('-');

const newGroup = (): string => Array.from({ length: GROUP }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
