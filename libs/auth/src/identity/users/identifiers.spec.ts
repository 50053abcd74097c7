import * as fc from 'fast-check';
import { sha256 } from '../../foundation/platform/crypto';
import {
  accountAmong,
  bounded,
  canonicalEmail,
  comparedAs,
  foldedIdentifier,
  hasAsciiDomain,
  keptAs,
  emailSpellings,
} from './identifiers';

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

const [U, A] = ['m\u00fcller.example', 'xn--mller-kva.example'];

describe('the canonical form of an email', () => {
  it.each([
    ['is unchanged for lower-case ASCII', 'ada@example.com', 'ada@example.com'],
    ['is trimmed and in lower case', ' ADA@Example.COM\u00a0', 'ada@example.com'],
    ['has the A-label of a domain', `ada@${U}`, `ada@${A}`],
    ['has it for capitals', 'Ada@M\u00dcLLER.Example', `ada@${A}`],
    ['has it for a decomposed letter', 'ada@mu\u0308ller.example', `ada@${A}`],
    ['has an A-label in lower case', 'ada@XN--MLLER-KVA.example', `ada@${A}`],
    ['keeps ß as IDNA 2008 does, and does not write ss', 'ada@fa\u00df.example', 'ada@xn--fa-hia.example'],
    ['has a local part in NFC', 'ju\u0308rgen@example.com', 'j\u00fcrgen@example.com'],
    ['has a local part in lower case', `J\u00dcRGEN@${U}`, `j\u00fcrgen@${A}`],
    ['has no transliterated local part', '\u0430da@example.com', '\u0430da@example.com'],
    ['is not folded as a password is', '\uff41da@example.com', '\uff41da@example.com'],
    ['keeps a domain that is no A-label', 'ada@xn--a', 'ada@xn--a'],
    ['keeps an IP literal', 'ada@[::1]', 'ada@[::1]'],
    ['reads no number as an IP address', '\u00e4da@0x7f.1', '\u00e4da@0x7f.1'],
    ['reads no wide digits as an IP address', 'ada@\uff11\uff12\uff17.1', 'ada@\uff11\uff12\uff17.1'],
    ['decodes no percent sign', 'ada@%6d\u00fcller.example', 'ada@%6d\u00fcller.example'],
    ['keeps a port', 'ada@m\u00fcller.example:80', 'ada@m\u00fcller.example:80'],
    ['keeps a path', 'ada@m\u00fcller.example/x', 'ada@m\u00fcller.example/x'],
    ['keeps a query', 'ada@m\u00fcller.example?x', 'ada@m\u00fcller.example?x'],
    ['keeps a wide slash', 'ada@m\u00fcller.example\uff0fx', 'ada@m\u00fcller.example\uff0fx'],
    ['has the domain after the last at sign', `a@b@${U}`, `a@b@${A}`],
    ['keeps a text without an at sign', 'm\u00fcller.example', 'm\u00fcller.example'],
    ['keeps another full stop, which is refused', 'ada@m\u00fcller\u3002example', 'ada@m\u00fcller\u3002example'],
    ['keeps a leader, which would become a dot', 'ada@m\u00fcller\u2024example', 'ada@m\u00fcller\u2024example'],
    [
      'keeps an invisible character, which is refused',
      'ada@m\u00fcl\u00adler.example',
      'ada@m\u00fcl\u00adler.example',
    ],
    ['has wide letters of the domain as ASCII', 'ada@\uff45xample.com', 'ada@example.com'],
    ['keeps half a surrogate pair', 'ada@\ud800.example', 'ada@\ud800.example'],
    ['keeps a NUL', 'a\0da@example.com', 'a\0da@example.com'],
    ['is empty for spaces', ' \t', ''],
  ])('%s: %j', (_, address, canonical) => expect(canonicalEmail(address)).toBe(canonical));

  it.each([
    [`ada@${A}`, true],
    ['\u00e4da@example.com', true],
    ['ada@a\u2ff0b.example', false],
  ])('shows whether a mail server knows the domain: %j', (address, isKnown) =>
    expect(hasAsciiDomain(canonicalEmail(address))).toBe(isKnown),
  );
});

describe('the spellings of an email', () => {
  it.each([
    ['ada@example.com', ['ada@example.com']],
    [' ada@example.com ', ['ada@example.com']],
    ['Ada@Example.com', ['Ada@Example.com', 'ada@example.com', 'Ada@example.com']],
    [`ada@${A}`, [`ada@${A}`, `ada@${U}`, 'ada@mu\u0308ller.example']],
    [`ada@${U}`, [`ada@${U}`, `ada@${A}`, 'ada@mu\u0308ller.example']],
    ['', ['']],
  ])('of %j are %j', (address, spellings) => expect(emailSpellings(address)).toEqual(spellings));

  const addresses = fc
    .tuple(
      fc.string({
        unit: fc.constantFrom('a', 'A', '\u00fc', 'u\u0308', '\u0130', '\u03a3', '+', '@', '\ud800', '\u200b'),
      }),
      fc.string({
        unit: fc.constantFrom('m', 'M', '\u00fc', 'u\u0308', 'xn--', 'mller-kva', '.', '\u00df', '\uff11', '%', '/'),
      }),
    )
    .map(([local, domain]) => `${local}@${domain}`);
  const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), addresses);

  it('are at most eight, and have the given and the canonical one', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const spellings = emailSpellings(text);
        expect(spellings.length).toBeLessThanOrEqual(8);
        expect(spellings[0]).toBe(text.trim());
        expect(spellings).toContain(canonicalEmail(text));
        expect(new Set(spellings).size).toBe(spellings.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('have one canonical form, which is its own', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const canonical = canonicalEmail(text);
        expect(canonicalEmail(canonical)).toBe(canonical);
        for (const spelling of emailSpellings(text)) expect(canonicalEmail(spelling)).toBe(canonical);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the account of an address', () => {
  it.each<[string, string[], string, string | null]>([
    ['is none without a row', [], 'ada@example.com', null],
    ['is the only one', [`ada@${U}`], `ada@${A}`, `ada@${U}`],
    ['is the one with the submitted spelling', [`ada@${U}`, `ada@${A}`], ` ada@${A} `, `ada@${A}`],
    ['is none among several others', [`ada@${U}`, `ada@${A}`], `Ada@${A}`, null],
  ])('%s', (_, rows, address, account) => expect(accountAmong(rows, address, (row) => row)).toBe(account));
});

describe('a value as registration stores it', () => {
  it.each([
    ['email', ' ADA@Example.com ', 'ada@example.com'],
    ['email', `Ada@${U}`, `ada@${A}`],
    ['handle', `Ada@${U}`, `Ada@${U}`],
    ['handle', ' Ada ', ' Ada '],
  ])('of the property %s: %j is stored as %j', (property, value, stored) =>
    expect(keptAs(property, value)).toBe(stored),
  );

  it.each([
    ['email', `Ada@${U}`, `ada@${A}`],
    ['handle', ' Ada\u0308 ', 'ada\u0308'],
  ])('of the property %s: %j is compared without case as %j', (property, value, compared) =>
    expect(comparedAs(property, value)).toBe(compared),
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
