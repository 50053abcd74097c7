/** A digest of scrypt or PBKDF2, taken apart. */
export interface ImportedDigest<Cost> {
  readonly cost: Cost;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

export interface ScryptCost {
  /** log2 of N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export interface Pbkdf2Cost {
  readonly hash: string;
  readonly iterations: number;
}

/** Bytes that one scrypt may fill: what is written for logins takes 16 to 128 MiB. */
const SCRYPT_BYTES = 268_435_456;

/** Iterations that one PBKDF2 may take: twice what OWASP asks of SHA-1. */
const PBKDF2_ITERATIONS = 3_000_000;

const BCRYPT_COST = 15;

// 53 characters of salt and hash in bcrypt's own base64.
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const SCRYPT =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/.]{2,128})={0,2}\$([A-Za-z0-9+/.]{22,172})={0,2}$/;
const PBKDF2_PHC =
  /^\$pbkdf2-?(sha1|sha256|sha512)?\$(?:i=)?(\d{1,8})(?:,l=\d{1,3})?\$([A-Za-z0-9+/.]{2,128})={0,2}\$([A-Za-z0-9+/.]{22,172})={0,2}$/;
const PBKDF2_DJANGO = /^pbkdf2_(sha1|sha256)\$(\d{1,8})\$([^$]{1,128})\$([A-Za-z0-9+/]{22,172}={0,2})$/;

/** Whether a digest is bcrypt's, at a cost that can be paid: each step doubles it. */
export function isAffordableBcrypt(digest: string): boolean {
  const cost = Number(BCRYPT.exec(digest)?.[1]);
  return cost >= 4 && cost <= BCRYPT_COST;
}

/** A PHC string of scrypt (RFC 7914); undefined for what is none, or asks for more than can be paid. */
export function scryptDigest(digest: string): ImportedDigest<ScryptCost> | undefined {
  const [, ln, r, p, salt, key] = SCRYPT.exec(digest) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const bytes = 128 * 2 ** cost.ln * cost.r * cost.p;
  if (!salt || !key || !(cost.ln >= 1 && cost.r >= 1 && cost.p >= 1 && bytes <= SCRYPT_BYTES)) return undefined;
  return { cost, salt: fromBase64(salt), key: fromBase64(key) };
}

/** PBKDF2 (RFC 8018) as a PHC string or as Django writes it; undefined for what is none, or asks for too much. */
export function pbkdf2Digest(digest: string): ImportedDigest<Pbkdf2Cost> | undefined {
  const django = PBKDF2_DJANGO.exec(digest);
  const [, hash = 'sha1', iterations, salt, key] = django ?? PBKDF2_PHC.exec(digest) ?? [];
  const cost = { hash, iterations: Number(iterations) };
  if (!salt || !key || !(cost.iterations >= 1 && cost.iterations <= PBKDF2_ITERATIONS)) return undefined;
  // Django hashes its salt as the text it is.
  return { cost, salt: django ? new TextEncoder().encode(salt) : fromBase64(salt), key: fromBase64(key) };
}

/** Base64 with or without padding; passlib writes `.` for `+`. */
const fromBase64 = (text: string): Uint8Array => Buffer.from(text.replaceAll('.', '+'), 'base64');
