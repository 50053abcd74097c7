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
    ['has ß instead of ẞ, and not ss', 'STRAẞE@example.com', 'straße@example.com'],
    ['has σ inside a word, and ς at its end', 'ΣΟΦΟΣ@example.com', 'σοφος@example.com'],
    ['keeps σ at the end of a word', 'σοφοσ@example.com', 'σοφοσ@example.com'],
    ['keeps a long s', '\u017fam@example.com', '\u017fam@example.com'],
    ['keeps a Cyrillic letter', '\u0430da@example.com', '\u0430da@example.com'],
    ['keeps invisible characters, because a look-up compares them', 'a\u200bda', 'a\u200bda'],
    ['is empty for an identifier of spaces only', ' \t\n\u00a0\u3000', ''],
  ])('%s', (_, identifier, folded) => expect(foldedIdentifier(identifier)).toBe(folded));

  /** Capital letters and their lower case, from the tables of Unicode (UnicodeData.txt, SpecialCasing.txt). */
  const LOWER: Readonly<Record<string, string>> = {
    A: 'a',
    I: 'i',
    K: 'k',
    S: 's',
    É: 'é',
    Д: 'д',
    Ω: 'ω',
    Σ: 'σ',
    '\u0130': 'i\u0307',
    '\u1e9e': '\u00df',
    '\u2126': 'ω',
    '\u212a': 'k',
    '\u212b': 'å',
    '\u{10400}': '\u{10428}',
  };
  const SMALL = ['a', 'i', 'k', 's', 'é', 'д', 'ω', 'σ', 'ς', '\u0131', '\u00df', '\u017f', 'å', '\u{10428}'];
  /** Characters without case that Unicode skips at the end of a word, and others. */
  const [SKIPPED, OTHER] = [
    ['.', "'", '\u0307'],
    ['@', '7', '-', ' ', '北'],
  ];
  /** The rule in its simplest form: a table, and another letter for a capital sigma that ends a word. */
  const byTable = (text: string): string => {
    const letters = [...text.replace(/^ +| +$/g, '')];
    const isLetter = (letter: string | undefined): boolean =>
      letter !== undefined && (SMALL.includes(letter) || letter in LOWER);
    const next = (others: string[]): string | undefined => others.find((letter) => !SKIPPED.includes(letter));
    const lower = (letter: string, at: number): string => {
      const endsWord = isLetter(next(letters.slice(0, at).toReversed())) && !isLetter(next(letters.slice(at + 1)));
      return letter === 'Σ' && endsWord ? 'ς' : (LOWER[letter] ?? letter);
    };
    return letters.map(lower).join('');
  };

  it('has the lower case of a table of letters', () => {
    const unit = fc.constantFrom(...Object.keys(LOWER), 'Σ', 'Σ', ...SMALL, ...SKIPPED, ...OTHER);
    const text = fc.string({ unit, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(foldedIdentifier(a)).toBe(byTable(a));
        expect(foldedIdentifier(a) === foldedIdentifier(b)).toBe(byTable(a) === byTable(b));
      }),
      { numRuns: 2000 },
    );
  });

  it('is folded already', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(foldedIdentifier(foldedIdentifier(text))).toBe(foldedIdentifier(text));
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
