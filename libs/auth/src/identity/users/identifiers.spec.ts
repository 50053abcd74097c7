import * as fc from 'fast-check';
import { sha256 } from '../../foundation/platform/crypto';
import { bounded, foldedIdentifier, keptAs } from './identifiers';

const hashed = (text: string): string => `sha256:${sha256(text)}`;

describe('a folded identifier', () => {
  it.each([
    ['is unchanged when it is lower-case ASCII', 'ada@example.com', 'ada@example.com'],
    ['is trimmed', ' \t\r\n\u00a0\u3000\ufeffada@example.com \u2003', 'ada@example.com'],
    ['is in lower case', 'ADA@Example.COM', 'ada@example.com'],
    ['is in lower case in every script', 'ДЯДЯ@ÉXÄMPLE.COM', 'дядя@éxämple.com'],
    ['has a k instead of a Kelvin sign', '\u212aim@example.com', 'kim@example.com'],
    ['has an å instead of an Angstrom sign', '\u212bsa@example.com', 'åsa@example.com'],
    ['keeps a dotless i', 'm\u0131ke@example.com', 'm\u0131ke@example.com'],
    ['keeps the dot of a capital i with a dot', '\u0130da@example.com', 'i\u0307da@example.com'],
    ['has an i with a dot instead of an ASCII I, in every locale', 'MIKE@example.com', 'mike@example.com'],
    ['keeps ß', 'straße@example.com', 'straße@example.com'],
    ['keeps a long s', '\u017fam@example.com', '\u017fam@example.com'],
    ['keeps a Cyrillic letter', '\u0430da@example.com', '\u0430da@example.com'],
    ['keeps invisible characters, because a look-up compares them', 'a\u200bda', 'a\u200bda'],
    ['is empty for an identifier of spaces only', ' \t\n\u00a0\u3000', ''],
  ])('%s', (_, identifier, folded) => expect(foldedIdentifier(identifier)).toBe(folded));

  /** The rule in its simplest form: each character by itself. */
  const letterByLetter = (text: string): string => [...text.trim()].map((letter) => letter.toLowerCase()).join('');
  // The lower case of a capital sigma depends on the letters beside it.
  const unlessSigma = (text: string): boolean => !text.includes('Σ');

  it('is the text with each character in lower case', () => {
    const text = fc
      .oneof(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.string({ unit: fc.constantFrom(...'aAkK\u212aiIıİßẞſéÉдД@. ') }),
      )
      .filter(unlessSigma);
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(foldedIdentifier(a)).toBe(letterByLetter(a));
        expect(foldedIdentifier(a) === foldedIdentifier(b)).toBe(letterByLetter(a) === letterByLetter(b));
        expect(foldedIdentifier(foldedIdentifier(a))).toBe(foldedIdentifier(a));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a value as registration stores it', () => {
  it.each([
    ['email', ' ADA@Example.com ', 'ada@example.com'],
    ['handle', ' Ada ', ' Ada '],
  ])('of the property %s: %j is stored as %j', (property, value, stored) =>
    expect(keptAs(property, value)).toBe(stored),
  );
});

describe('a bounded key', () => {
  it.each([
    ['of 190 bytes is unchanged', 'x'.repeat(190), 'x'.repeat(190)],
    ['of 191 bytes is a hash', 'x'.repeat(191), hashed('x'.repeat(191))],
    ['of 190 bytes in 95 letters is unchanged', 'я'.repeat(95), 'я'.repeat(95)],
    ['of 191 bytes in 96 letters is a hash', `${'я'.repeat(95)}x`, hashed(`${'я'.repeat(95)}x`)],
    ['with a NUL is a hash', 'a\0', hashed('a\0')],
    ['keeps its case and its spaces', ' A b ', ' A b '],
    ['that is empty remains empty', '', ''],
  ])('%s', (_, key, result) => expect(bounded(key)).toBe(result));
});
