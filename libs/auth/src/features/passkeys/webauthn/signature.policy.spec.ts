import { generateKeyPairSync, sign } from 'node:crypto';
import { isEcdsaSignature } from './public-key';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('an ECDSA signature', () => {
  it('of OpenSSL is accepted', () => {
    for (let i = 0; i < 500; i++) expect(isEcdsaSignature(sign('sha256', Buffer.from([i]), privateKey))).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['only a tag', '30'],
    ['an empty sequence', '30 00'],
    ['another tag', '31 06 020101 020101'],
    ['a tag with other bits', 'b0 06 020101 020101'],
    ['a length in long form', '30 81 06 020101 020101'],
    ['a length without end', '30 80 020101 020101 0000'],
    ['a length too short', '30 05 020101 020101'],
    ['a signature with additional bytes', '30 06 020101 020101 00'],
    ['a third integer', '30 09 020101 020101 020101'],
    ['one integer', '30 03 020101'],
    ['an empty integer', '30 05 0200 020101'],
    ['a negative integer', '30 06 020180 020101'],
    ['a padded integer', '30 07 02020001 020101'],
    ['an integer that ends outside', '30 06 020101 020201'],
    ['an integer too long', `30 27 0222${'11'.repeat(34)} 020101`],
  ])('is not %s', (_, text) => expect(isEcdsaSignature(hex(text))).toBe(false));

  it('has one encoding: no signature that differs in one bit has the same numbers', () => {
    const numbers = (der: Uint8Array): string => {
      const r = der[3]!;
      const part = (from: number, length: number): string =>
        Buffer.from(der.subarray(from, from + length))
          .toString('hex')
          .replace(/^(00)+/, '');
      return `${part(4, r)} ${part(6 + r, der[5 + r]!)}`;
    };
    const good = sign('sha256', Buffer.from('x'), privateKey);
    const equivalent = Array.from({ length: good.length * 8 }, (_, bit) => {
      const bytes = Buffer.from(good);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      return bytes;
    }).filter((bytes) => isEcdsaSignature(bytes) && numbers(bytes) === numbers(good));
    expect(equivalent).toEqual([]);
  });
});
