import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { PasswordHasher } from '../password/password-hasher';
import { Realm } from '../realm/realm';
import { RECOVERY_CODE, hashesIn } from './recovery-code.policy';

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
