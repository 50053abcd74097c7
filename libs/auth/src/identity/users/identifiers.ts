import { createRequire } from 'node:module';
import { once } from '../../foundation/platform/sweep';
import { sha256 } from '../../foundation/platform/crypto';

// The tables take some megabytes. Most processes never need them, so they are loaded at the first use.
const tables = once(() => createRequire(__filename)('transliteration') as typeof import('transliteration'));

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

/** Maximum length of a counter key in bytes. The columns are wider, because keys get prefixes. */
const MAX_BYTES = 190;

/** An identifier without differences that do not distinguish accounts: trimmed and in lower case. */
export const foldedIdentifier = (identifier: string): string => identifier.trim().toLowerCase();

/** A value as registration stores it: an email is trimmed and in lower case, any other value stays unchanged. */
export const keptAs = (property: string, value: string): string =>
  property === 'email' ? foldedIdentifier(value) : value;

/**
 * Normalizes an identifier for rate limits: trimmed, lower case, ASCII. Spellings that look alike share one counter,
 * so a Cyrillic letter gives no fresh allowance. Never look up an account by this value.
 *
 * Empty only for an empty identifier. A text without an ASCII form is hashed, and so is a text that is too long.
 */
export function normalizedIdentifier(identifier: string): string {
  const folded = foldedIdentifier(identifier);
  const ascii = isAscii(folded) ? folded : tables().transliterate(folded).trim().toLowerCase();
  return bounded(ascii || (folded && hashed(folded)));
}

/**
 * Limits a counter key to {@link MAX_BYTES}. A longer key is hashed, because truncated keys could be equal. A key with
 * a NUL is hashed too, because PostgreSQL cannot store a NUL in a text.
 */
export const bounded = (key: string): string =>
  Buffer.byteLength(key) > MAX_BYTES || key.includes('\0') ? hashed(key) : key;

const hashed = (text: string): string => `sha256:${sha256(text)}`;
