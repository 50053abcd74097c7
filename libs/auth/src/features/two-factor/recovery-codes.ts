import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';

/** Two groups of ten letters and digits: about 119 bits. */
export const RECOVERY_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

/** Maximum number of codes in a set. Checking a code computes up to one slow hash for each of them. */
export const MOST_CODES = 100;

/** Returns the stored hashes of the remaining codes; none if the column does not contain a list of at most 100 texts. */
export function hashesIn(column: string | null): string[] {
  try {
    const list: unknown = JSON.parse(column ?? '[]');
    const isSet = Array.isArray(list) && list.length <= MOST_CODES && list.every((item) => typeof item === 'string');
    return isSet ? list : [];
  } catch {
    return [];
  }
}

/** Returns the column without one of its hashes; null if the column does not contain it. */
export function without(column: string | null, hash: string): string | null {
  const hashes = hashesIn(column);
  return hashes.includes(hash) ? JSON.stringify(hashes.filter((other) => other !== hash)) : null;
}

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
    private readonly hasher: PasswordHasher,
    private readonly realm: Realm,
  ) {}

  async generate(): Promise<RecoveryCodeSet> {
    const codes = Array.from({ length: this.realm.options.twoFactor.recoveryCodes }, newCode);
    const hashes: string[] = [];
    // One after another, so that a set does not fill the hash queue for logins.
    for (const code of codes) hashes.push(await this.hasher.hash(code));
    return { codes, column: JSON.stringify(hashes) };
  }

  /** Returns the stored hash that matches `code`, or null. Case-sensitive. */
  async find(column: string | null, code: string): Promise<string | null> {
    if (!RECOVERY_CODE.test(code)) return null;
    for (const hash of hashesIn(column)) if (await this.hasher.verify(hash, code)) return hash;
    return null;
  }
}

const newCode = (): string => `${part()}-${part()}`;

const part = (): string => Array.from({ length: 10 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
