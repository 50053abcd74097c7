import * as fc from 'fast-check';
import { transliterate } from 'transliteration';
import { sha256 } from '../../foundation/platform/crypto';
import { bounded, normalizedIdentifier } from './identifiers';

const hashed = (text: string): string => `sha256:${sha256(text)}`;
const HASH = /^sha256:[0-9a-f]{64}$/;

describe('an identifier as it is counted', () => {
  it.each([
    ['is itself in lower case ASCII', 'ada@example.com', 'ada@example.com'],
    ['is trimmed', ' \t\r\n\u00a0\u3000\ufeffada@example.com \u2003', 'ada@example.com'],
    ['is in lower case', 'ADA@Example.COM', 'ada@example.com'],
    ['is narrow though spelled full-width', 'ＡＤＡ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['is Latin though spelled with Cyrillic letters', '\u0430d\u0430@ex\u0430mple.com', 'ada@example.com'],
    ['is Latin though spelled with Cyrillic capitals', '\u0410D\u0410@EX\u0410MPLE.COM', 'ada@example.com'],
    ['is rid of accents', 'Ádà@éxämplê.com', 'ada@example.com'],
    ['is rid of combining accents', 'A\u0301da@example.com', 'ada@example.com'],
    ['is rid of a Turkish dot', 'İda@example.com', 'ida@example.com'],
    ['is spelled out where a letter stands for two', 'straße', 'strasse'],
    ['keeps the space within', ' ada  lovelace ', 'ada  lovelace'],
    ['is empty where nothing was given', '', ''],
    ['is empty where only space was given', ' \t\n\u00a0\u3000', ''],
  ])('%s', (_, identifier, normalized) => expect(normalizedIdentifier(identifier)).toBe(normalized));

  it.each([
    ['an emoji', '😀'],
    ['a lone high surrogate', '\ud83d'],
    ['a lone low surrogate', '\ude00'],
    ['a private character', '\ue000'],
    ['a zero-width space', '\u200b'],
    ['a NUL', '\0'],
    ['a NUL within', 'ada\0@example.com'],
    ['a replacement character', '\ufffd'],
  ])('is a hash for %s', (_, identifier) => expect(normalizedIdentifier(identifier)).toBe(hashed(identifier)));

  it('is another hash for another emoji', () => {
    expect(normalizedIdentifier('😀')).not.toBe(normalizedIdentifier('😁'));
    expect(normalizedIdentifier(' 😀 ')).toBe(normalizedIdentifier('😀'));
  });

  it('is hashed from 191 bytes on, after it is trimmed', () => {
    expect(normalizedIdentifier(` ${'A'.repeat(190)} `)).toBe('a'.repeat(190));
    expect(normalizedIdentifier('A'.repeat(191))).toBe(hashed('a'.repeat(191)));
  });

  it('is hashed by the length of its ASCII form', () => {
    expect(normalizedIdentifier('я'.repeat(95))).toBe('ya'.repeat(95));
    expect(normalizedIdentifier('я'.repeat(96))).toBe(hashed('ya'.repeat(96)));
    expect(normalizedIdentifier('é'.repeat(190))).toBe('e'.repeat(190));
    expect(normalizedIdentifier('ﷺ'.repeat(255))).toMatch(HASH);
    expect(normalizedIdentifier('щ'.repeat(255))).toBe(hashed('shch'.repeat(255)));
  });

  it('is not transliterated if it is ASCII, which the tables do not change', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 255 });
    fc.assert(fc.property(ascii, (text) => expect(transliterate(text)).toBe(text)));
  });

  it('differs for long identifiers that differ only at the end', () => {
    const long = 'a'.repeat(254);
    expect(normalizedIdentifier(`${long}b`)).not.toBe(normalizedIdentifier(`${long}c`));
  });

  it('is short ASCII without a NUL, idempotent, and empty only for an empty identifier', () => {
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
    ['of 190 bytes is itself', 'x'.repeat(190), 'x'.repeat(190)],
    ['of 191 bytes is a hash', 'x'.repeat(191), hashed('x'.repeat(191))],
    ['of 190 bytes in 95 letters is itself', 'я'.repeat(95), 'я'.repeat(95)],
    ['of 191 bytes in 96 letters is a hash', `${'я'.repeat(95)}x`, hashed(`${'я'.repeat(95)}x`)],
    ['with a NUL is a hash', 'a\0', hashed('a\0')],
    ['keeps its case and its space', ' A b ', ' A b '],
    ['is empty where it was', '', ''],
  ])('%s', (_, key, result) => expect(bounded(key)).toBe(result));
});
