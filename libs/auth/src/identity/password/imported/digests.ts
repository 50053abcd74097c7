/** A parsed digest of scrypt or PBKDF2. */
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

// Each login computes one hash of every imported kind, so the maximum cost of one hash is below a second of one core.

/** Maximum of 128 · N · r · p (bytes if p is 1): the highest cost that OWASP recommends. */
const SCRYPT_WORK = 134_217_728;

/** Maximum rounds of HMAC: above Django's 1,200,000 and the 1,300,000 that OWASP recommends for SHA-1. */
const PBKDF2_ROUNDS = 1_500_000;

const BCRYPT_LEAST = 4;

/** Output length of each hash in bytes: the usual length of a stored key. */
export const PBKDF2_BLOCK: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha512: 64 };

// 53 characters of salt and hash in bcrypt's own base64.
const BCRYPT = /^(bcrypt\$|bcrypt_sha256\$|\$wp(?=\$2y))?(\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53})$/;
const BCRYPT_FORMS: Readonly<Record<string, BcryptForm>> = { bcrypt_sha256$: 'django-sha256', $wp: 'wordpress' };
const SCRYPT =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/.]{2,128})={0,2}\$([A-Za-z0-9+/.]{22,172})={0,2}$/;
const PBKDF2_PHC =
  /^\$pbkdf2-?(sha1|sha256|sha512)?\$(?:i=)?(\d{1,8})(?:,l=\d{1,3})?\$([A-Za-z0-9+/.]{2,128})={0,2}\$([A-Za-z0-9+/.]{22,172})={0,2}$/;
const PBKDF2_DJANGO = /^pbkdf2_(sha1|sha256)\$(\d{1,8})\$([^$]{1,128})\$([A-Za-z0-9+/]{22,172}={0,2})$/;

const FIREBASE = /^\$firebase-scrypt\$([A-Za-z0-9+/_-]{2,128})={0,2}\$([A-Za-z0-9+/_-]{22,344})={0,2}$/;
// Version 1, and the number of the hash: below 16 in 32 bits.
const PBKDF2_ASP_NET = /^AQAAAA[A-Za-z0-9+/]{30,330}={0,2}$/;

/** ASP.NET Core's numbers of the hashes. */
const ASP_NET_HASHES = ['sha1', 'sha256', 'sha512'];

/** What is hashed with bcrypt: the password itself, or its digest, which has less than 72 bytes. */
export type BcryptForm = 'plain' | 'django-sha256' | 'wordpress';

/** A parsed digest of bcrypt. */
export interface BcryptDigest {
  readonly form: BcryptForm;
  /** `$2b$…`, without the prefix of its form. */
  readonly digest: string;
  /** log2 of the rounds. */
  readonly cost: number;
}

/**
 * Parses a digest of bcrypt: `$2b$…`; Django's `bcrypt$$2b$…` and `bcrypt_sha256$$2b$…`; WordPress' `$wp$2y$…` (since 6.8). Undefined
 * for any other text, and for a cost above the maximum. Each step of the cost doubles the work.
 */
export function bcryptDigest(text: string, most: number): BcryptDigest | undefined {
  const [, prefix = '', digest, written] = BCRYPT.exec(text) ?? [];
  const cost = Number(written);
  if (digest === undefined || !(cost >= BCRYPT_LEAST && cost <= most)) return undefined;
  return { form: BCRYPT_FORMS[prefix] ?? 'plain', digest, cost };
}

/** Parses a PHC string of scrypt (RFC 7914). Undefined for any other text, and for a cost above the maximum. */
export function scryptDigest(digest: string): ImportedDigest<ScryptCost> | undefined {
  const [, ln, r, p, salt, key] = SCRYPT.exec(digest) ?? [];
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (!salt || !key || !isScryptCost(cost)) return undefined;
  return { cost, salt: fromBase64(salt), key: fromBase64(key) };
}

// RFC 7914 §2: N is less than 2^(16 · r). Libraries throw for a larger N.
export const isScryptCost = ({ ln, r, p }: ScryptCost): boolean =>
  [ln, r, p].every((value) => Number.isInteger(value) && value >= 1) &&
  ln < 16 * r &&
  128 * 2 ** ln * r * p <= SCRYPT_WORK;

/** Parses `$firebase-scrypt$salt$hash`. Undefined for any other text. The cost is part of the configuration. */
export function firebaseDigest(digest: string): Omit<ImportedDigest<never>, 'cost'> | undefined {
  const [, salt, key] = FIREBASE.exec(digest) ?? [];
  return salt && key ? { salt: fromBase64(salt), key: fromBase64(key) } : undefined;
}

/**
 * Parses PBKDF2 (RFC 8018) in the format of PHC, Django or ASP.NET Core Identity (version 3). Undefined for any other
 * text, and for a cost above the maximum.
 */
export function pbkdf2Digest(digest: string): ImportedDigest<Pbkdf2Cost> | undefined {
  const parsed = pbkdf2Text(digest) ?? pbkdf2Bytes(digest);
  if (!parsed) return undefined;
  // Each block of the key takes all rounds (RFC 8018 §5.2).
  const { hash, iterations } = parsed.cost;
  const rounds = iterations * Math.ceil(parsed.key.length / PBKDF2_BLOCK[hash]!);
  return rounds >= 1 && rounds <= PBKDF2_ROUNDS ? parsed : undefined;
}

function pbkdf2Text(digest: string): ImportedDigest<Pbkdf2Cost> | undefined {
  const django = PBKDF2_DJANGO.exec(digest);
  const [, hash = 'sha1', iterations, salt, key] = django ?? PBKDF2_PHC.exec(digest) ?? [];
  const cost = { hash, iterations: Number(iterations) };
  if (!salt || !key) return undefined;
  // Django uses the text of the salt without decoding it.
  return { cost, salt: django ? new TextEncoder().encode(salt) : fromBase64(salt), key: fromBase64(key) };
}

/** ASP.NET Core Identity, version 3: the version, three numbers of 32 bits (hash, iterations, length of the salt), salt, key. */
function pbkdf2Bytes(digest: string): ImportedDigest<Pbkdf2Cost> | undefined {
  if (!PBKDF2_ASP_NET.test(digest)) return undefined;
  const bytes = Buffer.from(digest, 'base64');
  const [prf, iterations, saltLength] = [1, 5, 9].map((offset) => bytes.readUInt32BE(offset));
  const hash = ASP_NET_HASHES[prf!];
  const [salt, key] = [bytes.subarray(13, 13 + saltLength!), bytes.subarray(13 + saltLength!)];
  return hash && salt.length > 0 && key.length >= 16
    ? { cost: { hash, iterations: iterations! }, salt, key }
    : undefined;
}

/** Decodes base64 or base64url, with or without padding; passlib writes `.` instead of `+`. */
const fromBase64 = (text: string): Uint8Array => Buffer.from(text.replaceAll('.', '+'), 'base64');

/** A parsed digest of phpass. */
export interface PhpassDigest {
  readonly rounds: number;
  readonly salt: string;
  /** The hash in the base64 of phpass. */
  readonly key: string;
}

/** Maximum rounds of MD5, which run on the event loop: four times those of WordPress. */
const PHPASS_ROUNDS = 32_768;

const PHPASS_ALPHABET = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PHPASS = /^\$[PH]\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})$/;

/** Parses a portable hash of phpass: `$P$`, or `$H$` of phpBB. Undefined for any other text, and for a cost above the maximum. */
export function phpassDigest(digest: string): PhpassDigest | undefined {
  const [, cost, salt, key] = PHPASS.exec(digest) ?? [];
  if (cost === undefined || salt === undefined || key === undefined) return undefined;
  const rounds = 2 ** PHPASS_ALPHABET.indexOf(cost);
  // phpass refuses less than 2^7.
  return rounds >= 128 && rounds <= PHPASS_ROUNDS ? { rounds, salt, key } : undefined;
}

/** The character of a cost in a hash of phpass. */
export const phpassCost = (log2: number): string => PHPASS_ALPHABET[log2] ?? '';

/** The base64 of phpass: three bytes are four characters, the lowest bits first. */
export function phpassBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const group = bytes.subarray(i, i + 3);
    const value = group.reduce((sum, byte, at) => sum + byte * 256 ** at, 0);
    for (let at = 0; at <= group.length; at++) text += PHPASS_ALPHABET[Math.floor(value / 64 ** at) % 64];
  }
  return text;
}
