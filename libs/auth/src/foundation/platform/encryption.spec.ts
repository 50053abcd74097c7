import * as fc from 'fast-check';
import { Encryption } from './crypto';

const [OLD, NEW] = ['an-old-key-of-forty-bytes-0123456789abcde', 'a-new-key-of-forty-bytes-0123456789abcdef'];

/** Every installation stores data in this form. A new form needs a new version. */
const FROZEN = 'v1.a3445087.RHtXhGWXjUDVC-nKvvion90MESj5jQE5yfE46EfN65Ny';

describe('encryption at rest', () => {
  const encryption = new Encryption([NEW, OLD]);

  it('decrypts a ciphertext in its own context only', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), fc.string(), (plain, context, other) => {
        const encrypted = encryption.encrypt(plain, context);
        expect(encryption.decrypt(encrypted, context)).toEqual(Buffer.from(plain));
        expect(encryption.decrypt(encrypted, `${context}${other}!`)).toBeNull();
      }),
    );
  });

  it('never produces the same ciphertext twice, and does not reveal the plain text', () => {
    const plain = Buffer.from('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
    const texts = Array.from({ length: 100 }, () => encryption.encrypt(plain, 'c'));
    expect(new Set(texts).size).toBe(100);
    for (const text of texts) expect(Buffer.from(text.split('.')[2]!, 'base64url').includes(plain)).toBe(false);
  });

  it('decrypts with a former key, and encrypts with the current key', () => {
    const former = new Encryption([OLD]).encrypt(Buffer.from('x'), 'c');
    expect(encryption.decrypt(former, 'c')?.toString()).toBe('x');
    expect(new Encryption([NEW]).decrypt(encryption.encrypt(Buffer.from('y'), 'c'), 'c')?.toString()).toBe('y');
  });

  it('does not decrypt text of an unknown key', () => {
    expect(new Encryption([OLD]).decrypt(encryption.encrypt(Buffer.from('x'), 'c'), 'c')).toBeNull();
  });

  it('detects every flipped bit', () => {
    const [version, id, body] = encryption.encrypt(Buffer.from('secret'), 'c').split('.') as [string, string, string];
    const bytes = Buffer.from(body, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(encryption.decrypt(`${version}.${id}.${damaged.toString('base64url')}`, 'c')).toBeNull();
    }
  });

  it.each(['', '.', '..', 'v1', 'v1..', 'v2.00000000.AAAA', 'plain text', 'v1.__proto__.AAAA'])(
    'does not decrypt %j',
    (text) => expect(encryption.decrypt(text, 'c')).toBeNull(),
  );

  it('rejects a shortened authentication tag', () => {
    const [version, id, body] = encryption.encrypt(Buffer.alloc(0), 'c').split('.') as [string, string, string];
    const short = Buffer.from(body, 'base64url').subarray(0, -8).toString('base64url');
    expect(encryption.decrypt(`${version}.${id}.${short}`, 'c')).toBeNull();
  });

  it('decrypts a ciphertext of the first release', () => {
    expect(encryption.decrypt(FROZEN, 'context')?.toString()).toBe('plain');
    expect(encryption.decrypt(FROZEN.replace('v1', 'v2'), 'context')).toBeNull();
  });
});
