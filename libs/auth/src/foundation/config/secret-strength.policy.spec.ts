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
    ['a long unit, twice', 'change-this-secret-now!'.repeat(2)],
    ['a long unit and a half', 'your-256-bit-secret-'.repeat(2) + 'your-256'],
    ['a generated unit, twice', '3f1c0a9be77d42d6a5c8e0b1f2934d60'.repeat(2)],
    ['the example of jwt.io', 'a-string-secret-at-least-256-bits-long'],
    ['the example of Supabase', 'Super-secret-JWT-token-with-at-least-32-characters-long '],
  ])('if it has %s', (_, secret) => expect(isGuessable(secret)).toBe(true));

  it('if it repeats a unit of any length, also if the last repetition is not complete', () => {
    const unit = fc.string({ minLength: 1, maxLength: 64, unit: 'binary-ascii' });
    fc.assert(
      fc.property(unit, fc.nat(63), (text, rest) => {
        const times = Math.max(2, Math.ceil(64 / text.length));
        expect(isGuessable(text.repeat(times) + text.slice(0, rest % text.length))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a secret is accepted', () => {
  it.each([
    ['a generated one', '3f1c0a9be77d42d6a5c8e0b1f2934d6078e5a1bc90d3f4672be8c5a01d9f3e64'],
    ['a phrase, which may be known and is not judged', 'correct-horse-battery-staple-and-more'],
    ['a text of the tests', 'test-secret-of-the-default-guard-0123456789'],
  ])('if it is %s', (_, secret) => expect(isGuessable(secret)).toBe(false));

  it('if it is random: 16 bytes or more in hex, 24 or more in base64', () => {
    const random = (bytes: number, encoding: BufferEncoding) => randomBytes(bytes).toString(encoding);
    const secrets = Array.from({ length: 5000 }, () => [
      random(16, 'hex'),
      random(32, 'hex'),
      random(64, 'hex'),
      random(24, 'base64'),
      random(32, 'base64'),
      random(32, 'base64url'),
    ]);
    expect(secrets.flat().filter(isGuessable)).toEqual([]);
  });
});
