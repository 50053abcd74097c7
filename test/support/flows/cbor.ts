/** The subset of CBOR that authenticators write (RFC 8949 §3). */
export type Cbor = number | string | Uint8Array | Map<Cbor, Cbor>;

/** @param longer the bytes of each length that is shorter; by default each has its shortest form */
export function cbor(value: Cbor, longer: 0 | 1 | 2 | 4 | 8 = 0): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value), longer), Buffer.from(value)]);
  if (value instanceof Map) {
    const members = [...value].flatMap(([key, one]) => [cbor(key, longer), cbor(one, longer)]);
    return Buffer.concat([head(5, value.size, longer), ...members]);
  }
  return Buffer.concat([head(2, value.length, longer), value]);
}

const SIZES = [1, 2, 4, 8];

function head(major: number, length: number, longer = 0): Buffer {
  const size = Math.max(longer, length < 24 ? 0 : length < 256 ? 1 : 2);
  if (size === 0) return Buffer.from([(major << 5) | length]);
  const digits = length.toString(16).padStart(2 * size, '0');
  return Buffer.concat([Buffer.from([(major << 5) | (24 + SIZES.indexOf(size))]), Buffer.from(digits, 'hex')]);
}
