import { createRequire } from 'node:module';
import { once } from '../../foundation/platform/sweep';
import { sha256 } from '../../foundation/platform/crypto';

// Tables of some megabytes: read when the first identifier needs them, and most never do.
const tables = once(() => createRequire(__filename)('transliteration') as typeof import('transliteration'));

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

/** Longest counter key in bytes. Columns are wider, so that prefixes fit too. */
const MAX_BYTES = 190;

/** An identifier without the differences that name no other account: trimmed, lower case. */
export const foldedIdentifier = (identifier: string): string => identifier.trim().toLowerCase();

/** A value of an account's column as registration keeps it: an email in any case is one, all else counts to the letter. */
export const keptAs = (property: string, value: string): string =>
  property === 'email' ? foldedIdentifier(value) : value;

/**
 * An identifier as rate limits count it: folded, in ASCII. Spellings that look alike become one, so that a
 * Cyrillic letter gains nobody a fresh allowance; never look an account up by it.
 *
 * Empty only where nothing was given. What has no ASCII form is hashed, and so is what is too long.
 */
export function normalizedIdentifier(identifier: string): string {
  const folded = foldedIdentifier(identifier);
  const ascii = isAscii(folded) ? folded : tables().transliterate(folded).trim().toLowerCase();
  return bounded(ascii || (folded && hashed(folded)));
}

/**
 * Bounds a counter key in bytes. Too long ones are hashed: cut off, different keys would become the same.
 * So is a NUL, which PostgreSQL stores in no text.
 */
export const bounded = (key: string): string =>
  Buffer.byteLength(key) > MAX_BYTES || key.includes('\0') ? hashed(key) : key;

const hashed = (text: string): string => `sha256:${sha256(text)}`;
