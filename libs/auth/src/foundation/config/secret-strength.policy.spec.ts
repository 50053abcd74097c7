import * as fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { isGuessable } from './secret-strength.policy';

describe('a secret can be guessed', () => {
  it.each([
    ['one repeated character', 's'.repeat(64)],
    ['one repeated character with an ending', `${'a'.repeat(40)}b`],
    ['a repeated word', 'secret'.repeat(8)],
    ['a repeated word with an ending', `${'password'.repeat(5)}!1`],
    ['a repeated phrase', 'change-me-please-change-me-please'],
    ['a few characters', 'abcab'.repeat(3) + 'cbacb'.repeat(4)],
    ['the hex digits, repeated', '0123456789abcdef'.repeat(4)],
    ['the alphabet', 'abcdefghijklmnopqrstuvwxyzabcdefgh'],
    ['ascending numbers', '0123456789'.repeat(4)],
    ['zeros and ones', '01101001100101101001011001101001'.repeat(2)],
  ])('if it has %s', (_, secret) => expect(isGuessable(secret)).toBe(true));

  it('if it repeats any unit of at most 19 characters', () => {
    const unit = fc.string({ minLength: 1, maxLength: 19, unit: 'binary-ascii' });
    fc.assert(
      fc.property(unit, (text) => expect(isGuessable(text.repeat(Math.ceil(64 / text.length)))).toBe(true)),
      { numRuns: 1000 },
    );
  });
});

describe('a secret cannot be guessed', () => {
  it.each([
    ['a generated one', '3f1c0a9be77d42d6a5c8e0b1f2934d6078e5a1bc90d3f4672be8c5a01d9f3e64'],
    ['a phrase', 'correct-horse-battery-staple-and-more'],
    ['a text of the tests', 'test-secret-of-the-default-guard-0123456789'],
  ])('if it is %s', (_, secret) => expect(isGuessable(secret)).toBe(false));

  it('if it is random: 16 bytes or more in hex, 24 or more in base64', () => {
    const random = (bytes: number, encoding: BufferEncoding) => randomBytes(bytes).toString(encoding);
    for (let i = 0; i < 5000; i++) {
      for (const secret of [
        random(16, 'hex'),
        random(32, 'hex'),
        random(64, 'hex'),
        random(24, 'base64'),
        random(32, 'base64'),
        random(32, 'base64url'),
      ]) {
        expect(isGuessable(secret) && secret).toBe(false);
      }
    }
  });
});
