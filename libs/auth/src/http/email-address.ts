import { isEmail } from 'class-validator';
import { isLongerThan } from './text-length';

/** Longest email address: 64 characters, an at sign, and a domain of 254 (RFC 5321 §4.5.3.1). */
const EMAIL_MAX = 319;

/** What says in a mail header where an address ends or which part of it counts, and what shows in no font. */
const MISLEADING = /[\p{C}\p{Z}"(),:;<>[\\\]]/u;

/**
 * Whether a text is an email address (RFC 5321 §4.1.2) that every mail program reads alike. Any host name will
 * do: `a@b.c`, `x@localhost`.
 *
 * Quoted local parts are left out, though the RFC has them: mailers have delivered `"eve@evil.test x"@example.com`
 * to eve, which would verify an address of example.com for her.
 */
export function isEmailAddress(value: unknown): value is string {
  if (typeof value !== 'string' || isLongerThan(value, EMAIL_MAX)) return false;
  // As mail programs fold it: a full-width @ is one.
  const folded = value.normalize('NFKC');
  // First, for half a surrogate pair is no text that `isEmail` can measure: it throws.
  if (MISLEADING.test(folded) || folded.split('@').length !== 2) return false;
  return isEmail(value, { require_tld: false });
}
