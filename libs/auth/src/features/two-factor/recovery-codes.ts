import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { Realm } from '../../foundation/realm/realm';
import { PasswordHasher } from '../../identity/password/password-hasher';

/** Ten letters and digits, twice: about 119 bits. */
export const RECOVERY_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

/** Codes of one set at most. Each of them is a slow hash to whoever tries one. */
export const MOST_CODES = 100;

/** The stored hashes of the codes that are left; none where the column holds no list of texts, or too long a one. */
export function hashesIn(column: string | null): string[] {
  try {
    const list: unknown = JSON.parse(column ?? '[]');
    const isSet = Array.isArray(list) && list.length <= MOST_CODES && list.every((one) => typeof one === 'string');
    return isSet ? list : [];
  } catch {
    return [];
  }
}

/** The column without one of its hashes; null where it is not there. */
export function without(column: string | null, hash: string): string | null {
  const hashes = hashesIn(column);
  return hashes.includes(hash) ? JSON.stringify(hashes.filter((one) => one !== hash)) : null;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** New recovery codes: the texts for their owner, shown this once, and the column for the store. */
export interface RecoveryCodeSet {
  readonly codes: string[];
  readonly column: string;
}

/** Codes for whoever lost the authenticator: salted and slowly hashed, as passwords are. */
@Injectable()
export class RecoveryCodes {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly realm: Realm,
  ) {}

  async generate(): Promise<RecoveryCodeSet> {
    const codes = Array.from({ length: this.realm.options.twoFactor.recoveryCodes }, newCode);
    const hashes: string[] = [];
    // One after the other: a set must not fill the queue that logins wait in.
    for (const code of codes) hashes.push(await this.hasher.hash(code));
    return { codes, column: JSON.stringify(hashes) };
  }

  /** The stored hash that `code` gives, or null. Case counts. */
  async find(column: string | null, code: string): Promise<string | null> {
    if (!RECOVERY_CODE.test(code)) return null;
    for (const hash of hashesIn(column)) if (await this.hasher.verify(hash, code)) return hash;
    return null;
  }
}

const newCode = (): string => `${part()}-${part()}`;

const part = (): string => Array.from({ length: 10 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
