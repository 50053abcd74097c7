import { crc32 } from 'node:zlib';
import { isKeyPrefix, newAccessKey, parseAccessKey } from './access-key.format';

const BODY = `shop_${'0123456789abcdef'.repeat(2)}_${'00ff'.repeat(16)}`;
const withChecksum = (body: string): string => body + crc32(body).toString(16).padStart(8, '0');

describe('the text of an access key', () => {
  it('is read back to the id and the secret that it was made of', () => {
    const { text, id, secret } = newAccessKey('shop');
    expect(parseAccessKey(text, 'shop')).toEqual({ id, secret });
  });

  it('has its checksum over all that stands before', () =>
    expect(parseAccessKey(withChecksum(BODY), 'shop')).toEqual({
      id: '01234567-89ab-cdef-0123-456789abcdef',
      secret: '00ff'.repeat(16),
    }));

  it('keeps the zeros at the start of a checksum', () => {
    const bodies = Array.from({ length: 64 }, (_, i) => BODY.slice(0, -2) + i.toString(16).padStart(2, '0'));
    const withZero = bodies.filter((body) => withChecksum(body).at(-8) === '0');
    expect(withZero).not.toEqual([]);
    for (const body of withZero) expect(parseAccessKey(withChecksum(body), 'shop')).not.toBeNull();
  });

  it('is refused with any one character changed', () => {
    const text = withChecksum(BODY);
    for (let i = 0; i < text.length; i++) {
      const other = text[i] === '1' ? '2' : '1';
      expect(parseAccessKey(text.slice(0, i) + other + text.slice(i + 1), 'shop')).toBeNull();
    }
  });

  it.each([
    ['empty', ''],
    ['an access token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.AAAA'],
    ['of the prefix of another host', withChecksum(BODY.replace('shop', 'bank'))],
    ['in capitals', withChecksum(BODY.toUpperCase())],
    ['with an id in capitals', withChecksum(BODY.replace('abcdef_', 'ABCDEF_'))],
    ['with more after it', `${withChecksum(BODY)}0`],
    ['with a line break after it', `${withChecksum(BODY)}\n`],
    ['with a space before it', ` ${withChecksum(BODY)}`],
    ['without a secret', withChecksum(BODY.slice(0, 37))],
  ])('is refused: %s', (_, text) => expect(parseAccessKey(text, 'shop')).toBeNull());

  it.each(['ab', 'shop', 'a1', `a${'0'.repeat(15)}`])('can begin with the prefix %s', (prefix) =>
    expect(isKeyPrefix(prefix)).toBe(true),
  );

  it.each(['', 'a', '1a', 'Shop', 'my_shop', 'my-shop', `a${'0'.repeat(16)}`])(
    'cannot begin with the prefix "%s"',
    (prefix) => expect(isKeyPrefix(prefix)).toBe(false),
  );
});
