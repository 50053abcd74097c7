import * as fc from 'fast-check';
import { hasInvisible, isEmailAddress } from './request-body';

describe('an email address', () => {
  it.each([
    'ada@example.com',
    'a@b.c',
    'x@localhost',
    "o'hara+tag@example.com",
    'дядя@example.com',
    'ada@münchen.de',
    `${'x'.repeat(64)}@example.com`,
    '\u212aim@example.com',
    'm\u0131ke@example.com',
    'straße@example.com',
    'ada@xn--mnchen-3ya.de',
    'ada@fa\u00df.example',
    'ada@\uff45xample.com',
  ])('may be %s', (text) => expect(isEmailAddress(text)).toBe(true));

  it.each<[string, unknown]>([
    ['empty', ''],
    ['null', null],
    ['a list', ['ada@example.com']],
    ['a text without @', 'ada'],
    ['a quoted local part', '"ada"@example.com'],
    ['a quoted line break', '"a\r\nBcc: x"@corp.com'],
    ['a quoted address', '"evil@gmail.com x"@corp.com'],
    ['a quoted comma', '"eve@evil.test,"@corp.com'],
    ['a display name', 'Ada <ada@example.com>'],
    ['two addresses', 'ada@example.com,eve@example.com'],
    ['a comment', 'ada(eve@evil.test)@example.com'],
    ['an address literal', 'ada@[127.0.0.1]'],
    ['a line break after it', 'ada@example.com\n'],
    ['a line break before it', '\nada@example.com'],
    ['a line break in it', 'ada\r\n@example.com'],
    ['a NUL', 'ada\0@example.com'],
    ['a line separator', 'ada\u2028@example.com'],
    ['a space', 'a da@example.com'],
    ['an ideographic space', 'a\u3000da@example.com'],
    ['a zero-width character', 'ada\u200b@example.com'],
    ['a zero-width character in the host', 'ada@exam\u200bple.com'],
    ['a change of the writing direction', 'ada\u202e@example.com'],
    ['a combining grapheme joiner', 'a\u034fda@example.com'],
    ['a Hangul filler', 'a\u3164da@example.com'],
    ['a half-width Hangul filler', 'a\uffa0da@example.com'],
    ['a variation selector', 'a\ufe0fda@example.com'],
    ['a variation selector of another plane', 'ada@ex\u{e0101}ample.com'],
    ['a soft hyphen', 'ada@exam\u00adple.com'],
    ['a blank character of Braille', 'a\u2800da@example.com'],
    ['a blank hieroglyph', 'a\u{13441}da@example.com'],
    ['a dot leader', 'ada@example\u2024com'],
    ['a dot leader in the local part', 'a\u2024da@example.com'],
    ['two dot leaders', 'a\u2025da@example.com'],
    ['a full-width full stop', 'ada@example\uff0ecom'],
    ['a small full stop', 'ada@example\ufe52com'],
    ['an ideographic full stop', 'ada@example\u3002com'],
    ['a half-width ideographic full stop', 'ada@example\uff61com'],
    ['a digit with a full stop', 'ada\u2488@example.com'],
    ['a small @', 'evil\ufe6bgmail.com@corp.com'],
    ['a full-width @', 'evil\uff20gmail.com@corp.com'],
    ['a full-width quotation mark', '\uff02eve\uff02@corp.com'],
    ['an unpaired surrogate', 'ada\ud800@example.com'],
    ['a very long host', `a@${'b.'.repeat(1_000_000)}c`],
    ['a host without an A-label', 'ada@a\u2ff0b.example'],
    ['a host whose A-label has more than 63 characters', `ada@${'\u00fc'.repeat(60)}.example`],
    ['a path after the host', 'ada@m\u00fcnchen.de/x'],
    ['a port after the host', 'ada@m\u00fcnchen.de:25'],
    ['a percent sign in the host', 'ada@m%6d\u00fcnchen.de'],
    ['a query after the host', 'ada@m\u00fcnchen.de?x'],
    ['a letter whose NFC no mail program reads', 'a\ufacfda@example.com'],
    ['a local part of 65 characters', `${'x'.repeat(65)}@example.com`],
  ])('must not be %s', (_, text) => expect(isEmailAddress(text)).toBe(false));
});

/** Ranges of `Default_Ignorable_Code_Point` in DerivedCoreProperties.txt of Unicode 15. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfff8],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Other characters whose compatibility form (UnicodeData.txt) or host name form (UTS 46) contains a dot or an at sign. */
const DELIMITERS: readonly number[] = [
  0x2024, 0x2025, 0x2026, 0x3002, 0x33c2, 0x33c7, 0x33d8, 0xfe12, 0xfe19, 0xfe30, 0xfe52, 0xfe6b, 0xff0e, 0xff20,
  0xff61, 0x1f100,
  // The numbers with a full stop.
  0x2488, 0x2489, 0x248a, 0x248b, 0x248c, 0x248d, 0x248e, 0x248f, 0x2490, 0x2491, 0x2492, 0x2493, 0x2494, 0x2495,
  0x2496, 0x2497, 0x2498, 0x2499, 0x249a, 0x249b,
];

/** The rule in its simplest form: a list of characters. */
const isRefused = (code: number): boolean =>
  DELIMITERS.includes(code) || INVISIBLE.some(([first, last]) => code >= first && code <= last);

describe('a character of an email address', () => {
  it('is refused if it is invisible or becomes a dot or an at sign, wherever it is', () => {
    const invisible = fc.constantFrom(...INVISIBLE).chain(([min, max]) => fc.integer({ min, max }));
    const code = fc.oneof(fc.constantFrom(...DELIMITERS), invisible);
    fc.assert(
      fc.property(code, fc.nat(14), (point, at) => {
        const address = [...'ada@example.com'].toSpliced(at, 0, String.fromCodePoint(point)).join('');
        expect(isEmailAddress(address)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('is accepted in the local part if it is a letter or a number and not refused', () => {
    const letter = fc
      .integer({ min: 0xa1, max: 0xffef })
      .filter((code) => /^[\p{L}\p{N}]$/u.test(String.fromCodePoint(code)) && !isRefused(code))
      // A compatibility form with a bracket or a colon delimits an address, too.
      .filter((code) => !/[\p{Z}"(),:;<>[\\\]]/u.test(String.fromCodePoint(code).normalize('NFKC')))
      // Of a few ideographs, NFC is a letter of another plane.
      .filter((code) => String.fromCodePoint(code).normalize('NFC').codePointAt(0)! <= 0xffff);
    fc.assert(
      fc.property(letter, (code) => {
        expect(isEmailAddress(`a${String.fromCodePoint(code)}da@example.com`)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an identifier', () => {
  it.each([
    ['ada', false],
    ['дядя 🔑', false],
    ['a\u200bda', true],
    ['a\u3164da', true],
    ['a\u{e0101}da', true],
    ...['', '\u0301', '\u00a0\u3000', '\ue000'].map((text): [string, boolean] => [text, true]),
    ...[
      '\t',
      '\u0085',
      '\u00ad',
      '\u034f',
      '\u061c',
      '\u115f',
      '\u1160',
      '\u180e',
      '\u200d',
      '\u200e',
      '\u2028',
      '\u202e',
    ].map((text): [string, boolean] => [`a${text}da`, true]),
    ...[
      '\u2060',
      '\u2066',
      '\u2800',
      '\ufe0f',
      '\ufeff',
      '\uffa0',
      '\ufffa',
      '\u{13441}',
      '\u{16fe4}',
      '\u{1d159}',
      '\u{e0001}',
    ].map((text): [string, boolean] => [`a${text}da`, true]),
    ['e\u0301a b\u00a0c', false],
    ['7', false],
    ['_', false],
  ])('%j has invisible characters: %s', (text, expected) => expect(hasInvisible(text)).toBe(expected));
});
