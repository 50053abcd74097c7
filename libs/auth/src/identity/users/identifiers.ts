import { sha256 } from '../../foundation/platform/crypto';

/** Maximum length of a counter key in bytes. The columns are wider, because keys get prefixes. */
const MAX_BYTES = 190;

/**
 * An identifier without differences that do not distinguish accounts: trimmed and in lower case. The mapping is the default
 * lower-casing of Unicode, for every locale (RFC 8264 §5.2.3): a Kelvin sign becomes k, and a dotless i does not become i.
 * It is not case folding: ß is not ss, and a capital sigma at the end of a word becomes ς, which is not σ.
 */
export const foldedIdentifier = (identifier: string): string => identifier.trim().toLowerCase();

/** A value as registration stores it: an email is trimmed and in lower case, any other value stays unchanged. */
export const keptAs = (property: string, value: string): string =>
  property === 'email' ? foldedIdentifier(value) : value;

/**
 * Limits a counter key to {@link MAX_BYTES}. A longer key is hashed, because truncated keys could be equal. A key with
 * a NUL is hashed too, because PostgreSQL cannot store a NUL in a text.
 */
export const bounded = (key: string): string =>
  Buffer.byteLength(key) > MAX_BYTES || key.includes('\0') ? hashed(key) : key;

const hashed = (text: string): string => `sha256:${sha256(text)}`;

/**
 * The text of an id that code of the host passes. An absent id would name no row, and a call that ends sessions or removes a
 * factor would succeed without an effect.
 *
 * @param id a text that is not empty, a whole number, or a bigint
 * @param name of the parameter, for the message
 * @throws TypeError for any other value
 */
export function idText(id: unknown, name: string): string {
  const isId = typeof id === 'string' ? id !== '' : typeof id === 'bigint' || Number.isSafeInteger(id);
  if (isId) return String(id);
  const given = id === '' ? 'an empty text' : id === null ? 'null' : typeof id;
  throw new TypeError(`${name} is ${given}. Pass an id: a text, or a whole number.`);
}
