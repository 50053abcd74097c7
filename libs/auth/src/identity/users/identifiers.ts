import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { sha256 } from '../../foundation/platform/crypto';

/** Maximum length of a counter key in bytes. The columns are wider, because keys get prefixes. */
const MAX_BYTES = 190;

/**
 * An identifier without differences that do not distinguish accounts: trimmed and in lower case. The mapping is the default
 * lower-casing of Unicode, for every locale (RFC 8264 §5.2.3): a Kelvin sign becomes k, and a dotless i does not become i.
 * It is not case folding: ß is not ss, and a capital sigma at the end of a word becomes ς, which is not σ.
 */
export const foldedIdentifier = (identifier: string): string => identifier.trim().toLowerCase();

/** Characters for which an address has more than one spelling besides those of case: outside ASCII, and in an A-label. */
const INTERNATIONAL = /[^\0-\x7f]|xn--/i;

/**
 * A host name whose characters are visible. Others in ASCII have a meaning for {@link domainToASCII}, which reads the host of a URL,
 * and it removes invisible ones: the address with them is refused instead.
 */
const HOST_NAME = /^(?:[a-z\d._-]|[^\0-\x7f\p{Default_Ignorable_Code_Point}])+$/u;

/**
 * The one form of an email address, by which addresses are compared and in which registration stores them: trimmed; the domain as
 * its A-label (UTS 46, non-transitional), so that `ada@müller.example` and `ada@xn--mller-kva.example` are one address; the local
 * part in NFC and lower case. Mail libraries and services send to an A-label as it is. A domain that has no A-label stays in lower
 * case, and so does a text that is no address.
 */
export function canonicalEmail(address: string): string {
  const folded = foldedIdentifier(address);
  if (!INTERNATIONAL.test(folded)) return folded;
  const { local, domain } = partsOf(composed(address));
  return local + aLabelOf(domain);
}

/** In NFC and in lower case. The lower case of a text in NFC may have another NFC. */
const composed = (text: string): string => foldedIdentifier(text.normalize('NFC')).normalize('NFC');

/** The local part with its at sign, and the domain; empty for a text without an at sign. */
function partsOf(address: string): { local: string; domain: string } {
  const end = address.lastIndexOf('@') + 1 || address.length;
  return { local: address.slice(0, end), domain: address.slice(end) };
}

function aLabelOf(domain: string): string {
  const converted = INTERNATIONAL.test(domain) && HOST_NAME.test(domain) ? domainToASCII(domain) : '';
  const hasSameDots = converted.split('.').length === domain.split('.').length;
  // A character that becomes a dot, and digits that are read as an IP address, would make it another domain.
  return converted && hasSameDots && !isIP(converted) ? converted : domain;
}

/** The U-label of a canonical domain; the domain itself if that is no spelling of it. */
function uLabelOf(domain: string): string {
  const converted = HOST_NAME.test(domain) ? domainToUnicode(domain) : '';
  return aLabelOf(composed(converted)) === domain ? converted : domain;
}

/** Whether the domain of a canonical address can be written in ASCII, as mail servers need it. */
export const hasAsciiDomain = (canonical: string): boolean => !/[^\0-\x7f]/.test(partsOf(canonical).domain);

/**
 * The texts under which an address may be stored, at most eight, in one order: as it was given; in its canonical form; and as other
 * software stores it: in lower case only, the domain as its U-label, in NFC and NFD, the local part with its capitals. They depend on
 * the text alone. An address in lower-case ASCII has one.
 */
export function emailSpellings(address: string): string[] {
  const given = address.trim();
  const canonical = canonicalEmail(given);
  if (given === canonical && !INTERNATIONAL.test(given)) return [given];
  const [own, { local, domain }] = [partsOf(given), partsOf(canonical)];
  const shown = uLabelOf(domain);
  const decomposed = local.normalize('NFD');
  return [
    ...new Set([
      given,
      canonical,
      foldedIdentifier(given),
      local + shown,
      decomposed + shown.normalize('NFD'),
      decomposed + domain,
      own.local + domain,
      own.local + shown,
    ]),
  ];
}

/**
 * The account that a submitted address names, among the rows with one of its {@link emailSpellings}. The one that is stored to the
 * letter, or else the only one. Of several others, none can be preferred: null.
 */
export function accountAmong<Row>(
  rows: readonly Row[],
  address: string,
  emailOf: (row: Row) => string | null,
): Row | null {
  const given = address.trim();
  return rows.find((row) => emailOf(row) === given) ?? (rows.length === 1 ? rows[0]! : null);
}

/** A value as registration stores it: an email in its canonical form, any other value unchanged. */
export const keptAs = (property: string, value: string): string =>
  property === 'email' ? canonicalEmail(value) : value;

/** A value as two of them are compared if the case of the identifier does not matter: see {@link canonicalEmail}. */
export const comparedAs = (property: string, value: string): string => foldedIdentifier(keptAs(property, value));

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
