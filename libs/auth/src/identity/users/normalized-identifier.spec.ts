import * as fc from 'fast-check';
import { transliterate } from 'transliteration';
import { sha256 } from '../../foundation/platform/crypto';
import { bounded, normalizedIdentifier } from './identifiers';

const hashed = (text: string): string => `sha256:${sha256(text)}`;
const HASH = /^sha256:[0-9a-f]{64}$/;

describe('a normalized identifier', () => {
  it.each([
    ['is unchanged when it is lower-case ASCII', 'ada@example.com', 'ada@example.com'],
    ['is trimmed', ' \t\r\n\u00a0\u3000\ufeffada@example.com \u2003', 'ada@example.com'],
    ['is in lower case', 'ADA@Example.COM', 'ada@example.com'],
    ['has ASCII letters instead of full-width letters', 'ＡＤＡ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['has Latin letters instead of Cyrillic letters', '\u0430d\u0430@ex\u0430mple.com', 'ada@example.com'],
    ['has Latin letters instead of Cyrillic capitals', '\u0410D\u0410@EX\u0410MPLE.COM', 'ada@example.com'],
    ['has no accents', 'Ádà@éxämplê.com', 'ada@example.com'],
    ['has no combining accents', 'A\u0301da@example.com', 'ada@example.com'],
    ['has no Turkish dot', 'İda@example.com', 'ida@example.com'],
    ['has "ss" instead of "ß"', 'straße', 'strasse'],
    ['keeps inner spaces', ' ada  lovelace ', 'ada  lovelace'],
    ['is empty for an empty identifier', '', ''],
    ['is empty for an identifier of spaces only', ' \t\n\u00a0\u3000', ''],
  ])('%s', (_, identifier, normalized) => expect(normalizedIdentifier(identifier)).toBe(normalized));

  it.each([
    ['an emoji', '😀'],
    ['a lone high surrogate', '\ud83d'],
    ['a lone low surrogate', '\ude00'],
    ['a private-use character', '\ue000'],
    ['a zero-width space', '\u200b'],
    ['a NUL', '\0'],
    ['a text that contains NUL', 'ada\0@example.com'],
    ['a replacement character', '\ufffd'],
  ])('is a hash for %s', (_, identifier) => expect(normalizedIdentifier(identifier)).toBe(hashed(identifier)));

  it('is a different hash for a different emoji, and ignores surrounding spaces', () => {
    expect(normalizedIdentifier('😀')).not.toBe(normalizedIdentifier('😁'));
    expect(normalizedIdentifier(' 😀 ')).toBe(normalizedIdentifier('😀'));
  });

  it('is a hash when the trimmed identifier has at least 191 bytes', () => {
    expect(normalizedIdentifier(` ${'A'.repeat(190)} `)).toBe('a'.repeat(190));
    expect(normalizedIdentifier('A'.repeat(191))).toBe(hashed('a'.repeat(191)));
  });

  it('is a hash when its ASCII form has at least 191 bytes', () => {
    expect(normalizedIdentifier('я'.repeat(95))).toBe('ya'.repeat(95));
    expect(normalizedIdentifier('я'.repeat(96))).toBe(hashed('ya'.repeat(96)));
    expect(normalizedIdentifier('é'.repeat(190))).toBe('e'.repeat(190));
    expect(normalizedIdentifier('ﷺ'.repeat(255))).toMatch(HASH);
    expect(normalizedIdentifier('щ'.repeat(255))).toBe(hashed('shch'.repeat(255)));
  });

  it('of ASCII text needs no transliteration, because transliteration does not change ASCII', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 255 });
    fc.assert(fc.property(ascii, (text) => expect(transliterate(text)).toBe(text)));
  });

  it('differs for long identifiers that differ only at the end', () => {
    const long = 'a'.repeat(254);
    expect(normalizedIdentifier(`${long}b`)).not.toBe(normalizedIdentifier(`${long}c`));
  });

  it('is short ASCII without NUL, idempotent, and empty only for a blank identifier', () => {
    const unicode = fc.string({ unit: 'binary', maxLength: 255 });
    const utf16 = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 });
    const broken = utf16.map((units) => String.fromCharCode(...units));
    const likely = fc.string({ unit: fc.constantFrom(...'aAаＡä \0@\u00a0İßщ😀\ud800'), maxLength: 200 });
    fc.assert(
      fc.property(fc.oneof(unicode, broken, likely, fc.string()), (identifier) => {
        const normalized = normalizedIdentifier(identifier);
        expect(normalizedIdentifier(normalized)).toBe(normalized);
        expect(normalized).toMatch(/^\p{ASCII}*$/u);
        expect(normalized).not.toContain('\0');
        expect(Buffer.byteLength(normalized)).toBeLessThanOrEqual(190);
        expect(normalized === '').toBe(identifier.trim() === '');
      }),
      { numRuns: 2000 },
    );
  });
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
