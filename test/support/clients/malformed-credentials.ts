import type { Sent } from '@svc/auth/testing';

// For unit specs beside the sources: the layer check does not let them import `tools/testing`.
export { type Sent, SoftAuthenticator } from '@svc/auth/testing';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const b64 = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');

/** Values that a client can send instead of a string. */
export const INVALID_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e300,
  '',
  'x',
  '=',
  'AA==',
  '+/+/',
  '\0',
  'ü',
  '💥',
  '\ud800',
  'A'.repeat(40_000),
  [],
  ['AAAA'],
  {},
  { length: 1 },
  { toString: 'x' },
  nested(2000),
  '__proto__',
  'constructor',
  ...['null', '7', '"x"', '[]', '{}', '{', '{"type":{}}', '{"__proto__":{"type":"webauthn.get"}}', '\0'].map(b64),
  // CBOR: empty, not a map, indefinite length, endless nesting, a length of 2^64-1, a bignum, a tag.
  ...['', 'f6', 'bfff', 'bf', '81'.repeat(5000), '5bffffffffffffffff', 'c249010000000000000000', 'd9d9f7a0'].map(
    (hex) => b64(Buffer.from(hex, 'hex')),
  ),
  b64(Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746140', 'hex')),
  b64(Buffer.from('a363666d74646e6f6e656761747453746d74606861757468446174616178', 'hex')),
];

const FIELDS = ['id', 'rawId', 'type'] as const;
export const REGISTRATION_FIELDS = ['clientDataJSON', 'attestationObject'] as const;
export const ASSERTION_FIELDS = ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle'] as const;

export type Mutation = (sent: Sent) => unknown;

/** Mutations that each replace one value of a response. Everything else stays valid. */
export const mutationsWith = (value: unknown, members: readonly string[]): Mutation[] => [
  ...FIELDS.map((field): Mutation => (sent) => ({ ...sent, [field]: value })),
  (sent) => ({ ...sent, response: value }),
  (sent) => ({ ...sent, id: value, rawId: value }),
  ...members.map((member): Mutation => (sent) => ({ ...sent, response: { ...sent.response, [member]: value } })),
];

/** Responses that lack one field. */
export const MISSING_FIELDS: readonly Mutation[] = [
  ...[...FIELDS, 'response'].map((field): Mutation => (sent) => ({ ...sent, [field]: undefined })),
  () => ({}),
];

/** A response that inherits its fields from its prototype. */
export const INHERITED_FIELDS: Mutation = () =>
  JSON.parse('{"__proto__":{"id":"x","rawId":"x","type":"public-key"},"constructor":{"prototype":{}}}');

export type Field = 'id' | (typeof REGISTRATION_FIELDS)[number] | (typeof ASSERTION_FIELDS)[number];

export const bytesIn = (sent: Sent, field: Field): Buffer =>
  Buffer.from(String(field === 'id' ? sent.id : sent.response[field]), 'base64url');

/** A response with one flipped bit. */
export function withFlippedBit(sent: Sent, field: Field, bit: number): Sent {
  const bytes = bytesIn(sent, field);
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  const text = bytes.toString('base64url');
  return field === 'id'
    ? { ...sent, id: text, rawId: text }
    : { ...sent, response: { ...sent.response, [field]: text } };
}

/** The positions of all bits of a field. */
export const bitsIn = (sent: Sent, field: Field): number[] => [...Array(bytesIn(sent, field).length * 8).keys()];

/** Whether the server accepts a registration with this bit flipped: no attestation signature covers the bit. */
export function uncheckedBits(sent: Sent, field: Field, modulus?: Buffer): (bit: number) => boolean {
  const bytes = bytesIn(sent, field);
  if (field === 'clientDataJSON') {
    // Under another name the member has no effect, as if the browser had omitted it.
    const start = bytes.indexOf('crossOrigin');
    return (bit) => bit >> 3 >= start && bit >> 3 < start + 'crossOrigin'.length;
  }
  if (field === 'id') return () => false;
  const head = bytes.indexOf('authData') + 'authData'.length;
  // A length of 256 or more has one more byte.
  const start = head + (bytes[head] === 0x59 ? 3 : 2);
  const [flags, count, aaguid] = [start + 32, start + 33, start + 37];
  const ofModulus = modulus ? bytes.indexOf(modulus) : Infinity;
  return (bit) => {
    const byte = bit >> 3;
    // Only the length and the oddness of the modulus can be checked.
    if (modulus && byte >= ofModulus && byte < ofModulus + modulus.length) {
      return bit !== ofModulus * 8 + 7 && bit !== (ofModulus + modulus.length - 1) * 8;
    }
    // User verification, backup state and two reserved flags are not checked. Backup state requires backup eligibility.
    if (byte === flags) return [1, 2, 4, 5].includes(bit & 7);
    return byte >= count && byte < aaguid + 16;
  };
}
