import { Signatures, isEqual } from './crypto';

const [ONE, TWO] = ['one key text of at least 32 bytes, 1', 'one key text of at least 32 bytes, 2'];

describe('a signature', () => {
  const signatures = new Signatures([ONE], 'test');

  it('is valid for its text only', () => {
    const signature = signatures.sign('text');
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(signatures.verify('text', signature)).toBe(true);
    for (const text of ['', 'texT', 'text ', 'tex']) expect(signatures.verify(text, signature)).toBe(false);
    for (const other of ['', 'x', signature.slice(1), `${signature}0`, signature.toUpperCase()]) {
      expect(signatures.verify('text', other)).toBe(false);
    }
  });

  it('is valid for one key and one purpose', () => {
    const signature = signatures.sign('text');
    expect(new Signatures([TWO], 'test').verify('text', signature)).toBe(false);
    expect(new Signatures([ONE], 'other').verify('text', signature)).toBe(false);
  });

  it('of a former key is still valid, and new signatures use the current key', () => {
    const rotated = new Signatures([TWO, ONE], 'test');
    expect(rotated.verify('text', signatures.sign('text'))).toBe(true);
    expect(rotated.sign('text')).toBe(new Signatures([TWO], 'test').sign('text'));
  });
});

describe('isEqual', () => {
  it('compares texts of any length', () => {
    expect([isEqual('a', 'a'), isEqual('', ''), isEqual('a', 'b'), isEqual('a', 'aa'), isEqual('é', 'e')]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
