import { createPublicKey } from 'node:crypto';

/** Members of a COSE key (RFC 9052 §7, RFC 9053 §7, RFC 8230 §4). */
const [KTY, ALG, CRV_OR_N, X_OR_E, Y] = [1, 3, -1, -2, -3] as const;

/** Fewer bits than these are not taken from an RSA key; more are verified by nobody. */
const [RSA_BITS, MOST_RSA_BITS] = [2048, 16_384] as const;

/** The exponent of every authenticator's RSA keys: 65537. Under 1, for one, whoever likes can sign. */
const RSA_EXPONENT = Buffer.from([1, 0, 1]);

type CoseKey = { get(member: number): unknown };

/** Whether a key is one of ES256. */
export const isEcdsaKey = (key: CoseKey): boolean => key.get(ALG) === -7;

/**
 * Whether a key is what its algorithm says: under ES256 a point of P-256, under RS256 an RSA key of at least 2048
 * bits with the exponent 65537. Nobody vouches for a new key, so a damaged one would show only when its owner cannot sign in.
 */
export function isSound(key: CoseKey): boolean {
  const [kty, alg] = [key.get(KTY), key.get(ALG)];
  if (alg === -7 && kty === 2 && key.get(CRV_OR_N) === 1) {
    return bitsOf({ kty: 'EC', crv: 'P-256', x: text(key.get(X_OR_E)), y: text(key.get(Y)) }) !== null;
  }
  return alg === -257 && kty === 3 && isRsa(bytesOf(key.get(CRV_OR_N)), bytesOf(key.get(X_OR_E)));
}

/** Numbers have one spelling, without leading zeros (RFC 8230 §4); a product of two large primes is odd. */
function isRsa(n: Buffer, e: Buffer): boolean {
  if (!e.equals(RSA_EXPONENT) || !n[0] || n.at(-1)! % 2 === 0) return false;
  const bits = bitsOf({ kty: 'RSA', n: text(n), e: text(e) }) ?? 0;
  return bits >= RSA_BITS && bits <= MOST_RSA_BITS;
}

/** The RSA modulus in bits, 0 for a key without one, null for what is no key: OpenSSL checks that a point is on its curve. */
function bitsOf(jwk: object): number | null {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' }).asymmetricKeyDetails?.modulusLength ?? 0;
  } catch {
    return null;
  }
}

/** None for what is no byte string, such as a text of the same bytes. */
const bytesOf = (value: unknown): Buffer => Buffer.from(ArrayBuffer.isView(value) ? (value as Uint8Array) : []);

const text = (value: unknown): string => bytesOf(value).toString('base64url');

const [SEQUENCE, INTEGER, LONGEST] = [0x30, 0x02, 33] as const;

/**
 * Whether bytes are an ECDSA signature over P-256 in its one encoding: DER, a sequence of two positive integers
 * (RFC 3279 §2.2.3, X.690 §10). Lenient readers take many spellings for one signature.
 */
export function isEcdsaSignature(bytes: Uint8Array): boolean {
  const length = bytes[1] ?? 0;
  if (bytes[0] !== SEQUENCE || length !== bytes.length - 2) return false;
  const s = integerAt(bytes, 2);
  return s !== null && integerAt(bytes, s) === bytes.length;
}

/** Where the integer that starts at `start` ends; null for what is none, or not in its shortest form. */
function integerAt(bytes: Uint8Array, start: number): number | null {
  const [tag, length = 0, first = 0x80, second = 0] = bytes.subarray(start, start + 4);
  const end = start + 2 + length;
  const padded = first === 0 && length > 1;
  if (tag !== INTEGER || length < 1 || length > LONGEST || end > bytes.length) return null;
  return first >= 0x80 || (padded && second < 0x80) ? null : end;
}
