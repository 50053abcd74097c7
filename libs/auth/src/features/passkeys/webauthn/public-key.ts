import { createPublicKey } from 'node:crypto';

/** Members of a COSE key (RFC 9052 §7, RFC 9053 §7, RFC 8230 §4). */
const [KTY, ALG, CRV_OR_N, X_OR_E, Y] = [1, 3, -1, -2, -3] as const;

/** Minimum and maximum size of an RSA key in bits. OpenSSL does not verify signatures of larger keys. */
const [MIN_RSA_BITS, MAX_RSA_BITS] = [2048, 16_384] as const;

/** The exponent of all authenticators' RSA keys: 65537. With the exponent 1, anyone could forge a signature. */
const RSA_EXPONENT = Buffer.from([1, 0, 1]);

type CoseKey = { get(member: number): unknown };

/** Number of members of a key: `kty`, `alg` and those of its type. Any other member is optional. */
const [EC_MEMBERS, RSA_MEMBERS] = [5, 4] as const;

/** The parsed key is a map, which the type of the parser does not show. */
const sizeOf = (key: CoseKey): number => (key as ReadonlyMap<number, unknown>).size;

export const algorithmOf = (key: CoseKey): unknown => key.get(ALG);

/** Whether the algorithm of a key is ES256. */
export const isEcdsaKey = (key: CoseKey): boolean => algorithmOf(key) === -7;

/**
 * Whether a key is valid for its algorithm: for ES256 a point on P-256, for RS256 an RSA key of at least 2048 bits with
 * the exponent 65537. A registration without attestation has no signature by the key, so a damaged key would only be
 * found at the first login.
 */
export function isSound(key: CoseKey): boolean {
  const [kty, alg] = [key.get(KTY), key.get(ALG)];
  if (alg === -7 && kty === 2 && key.get(CRV_OR_N) === 1) {
    return bitsOf({ kty: 'EC', crv: 'P-256', x: text(key.get(X_OR_E)), y: text(key.get(Y)) }) !== null;
  }
  if (alg !== -257 || kty !== 3) return false;
  return isRsa(bytesOf(key.get(CRV_OR_N)), bytesOf(key.get(X_OR_E)));
}

/**
 * Whether a sound key has no members beyond those that its type requires (WebAuthn Level 3 §6.5.1.1). Checked at the
 * registration only: a key that was stored before this check existed still signs in.
 */
export const isMinimal = (key: CoseKey): boolean => sizeOf(key) === (isEcdsaKey(key) ? EC_MEMBERS : RSA_MEMBERS);

/** The modulus has no leading zeros (RFC 8230 §4) and is odd, because it is a product of two large primes. */
function isRsa(n: Buffer, e: Buffer): boolean {
  if (!e.equals(RSA_EXPONENT) || !n[0] || n.at(-1)! % 2 === 0) return false;
  const bits = bitsOf({ kty: 'RSA', n: text(n), e: text(e) }) ?? 0;
  return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
}

/** Returns the RSA modulus size, 0 for an EC key, null for an invalid key: OpenSSL checks that a point is on its curve. */
function bitsOf(jwk: object): number | null {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' }).asymmetricKeyDetails?.modulusLength ?? 0;
  } catch {
    return null;
  }
}

/** Returns an empty buffer for a value that is not a byte string, such as a text. */
const bytesOf = (value: unknown): Buffer => Buffer.from(ArrayBuffer.isView(value) ? (value as Uint8Array) : []);

const text = (value: unknown): string => bytesOf(value).toString('base64url');

const [SEQUENCE, INTEGER, LONGEST] = [0x30, 0x02, 33] as const;

/**
 * Whether bytes are an ECDSA signature over P-256 in DER: a sequence of two positive integers (RFC 3279 §2.2.3, X.690
 * §10). Tolerant parsers accept several encodings of one signature; only DER is accepted here.
 */
export function isEcdsaSignature(bytes: Uint8Array): boolean {
  const length = bytes[1] ?? 0;
  if (bytes[0] !== SEQUENCE || length !== bytes.length - 2) return false;
  const s = integerAt(bytes, 2);
  return s !== null && integerAt(bytes, s) === bytes.length;
}

/** Returns the end of the integer that starts at `start`; null if it is not an integer in its shortest form. */
function integerAt(bytes: Uint8Array, start: number): number | null {
  const [tag, length = 0, first = 0x80, second = 0] = bytes.subarray(start, start + 4);
  const end = start + 2 + length;
  const padded = first === 0 && length > 1;
  if (tag !== INTEGER || length < 1 || length > LONGEST || end > bytes.length) return null;
  return first >= 0x80 || (padded && second < 0x80) ? null : end;
}
