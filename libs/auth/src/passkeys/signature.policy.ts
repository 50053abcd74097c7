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
