import { type CodeFormat, typedCode } from './typed-code';

const SIX: CodeFormat = { alphabet: 'digits', length: 6 };
const RECOVERY: CodeFormat = { alphabet: 'base32', length: 24 };
const CODE = '0123456789ABCDEFGHJKMNPQ';
const named = (name: string): string => String.fromCodePoint(Number.parseInt(name, 16));

/** Every character with a property of Unicode. */
const charactersOf = (property: RegExp): string[] =>
  Array.from({ length: 0x11_00_00 }, (_, code) => code)
    .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => property.test(character));

describe('a typed code of digits', () => {
  it.each([
    ['123456'],
    ['123 456'],
    [' 123456 '],
    ['123-456'],
    ['1-2-3-4-5-6'],
    ['123\u00A0456'],
    ['123\u202F456'],
    ['123\u3000456'],
    ['123\t456\n'],
    ['\u200E123456'],
    ['\u202A123456\u202C'],
    ['\u2066123\u2069456'],
    ['123\u200B456'],
    ['\uFEFF123456'],
    ['123\u00AD456'],
    ['123456.'],
    ['123 456. '],
    ['123456。'],
    ['123456｡'],
    ['123456۔'],
    ['123456।'],
    ['１２３４５６'],
    ['１２３ー４５６'],
    ['１２３−４５６'],
    ['①②③④⑤⑥'],
    ['१२३४५६'],
    ['١٢٣٤٥٦'],
    ['۱۲۳۴۵۶'],
    ['𝟭𝟮𝟯𝟰𝟱𝟲'],
    ['1２٣४৫६'],
  ])('%j is 123456', (text) => expect(typedCode(text, SIX)).toBe('123456'));

  it.each([
    [''],
    [' '],
    ['.'],
    ['12345'],
    ['1234567'],
    ['12345.6'],
    ['123,456'],
    ['123456..'],
    ['.123456'],
    ['12345x'],
    ['-12345'],
    ['+123456'],
    ['1e5000'],
    ['0x1234'],
    ['123456\n7'],
    ['12345½'],
    ['123456\0'],
    ['12345\u0661\u0301'],
    ['12345\uD835'],
    ['IIIIII'],
    ['OOOOOO'],
  ])('%j is none', (text) => expect(typedCode(text, SIX)).toBeNull());

  it('is not looked for in a text of more than 510 UTF-16 units', () => {
    expect(typedCode(`123${' '.repeat(504)}456`, SIX)).toBe('123456');
    expect(typedCode(`123${' '.repeat(505)}456`, SIX)).toBeNull();
  });

  it('has the length that is asked for', () => {
    expect(typedCode('1234 5678', { alphabet: 'digits', length: 8 })).toBe('12345678');
    expect(typedCode('123456', { alphabet: 'digits', length: 8 })).toBeNull();
  });

  it('may have every kind of hyphen, space, direction mark and zero-width character between its digits', () => {
    const between = [
      ...charactersOf(/[\p{Pd}\p{Zs}\p{Bidi_Control}]/u),
      ...['2212', '02D7', '2043', '200B', '2060', 'FEFF', 'FE0F', '180E', '034F'].map(named),
    ];
    expect(between.length).toBeGreaterThan(50);
    expect(between.filter((character) => typedCode(`123${character}456`, SIX) !== '123456')).toEqual([]);
  });

  it('may have the digits of every script, by their values', () => {
    const systems = Intl.supportedValuesOf('numberingSystem').filter((system) =>
      /^\p{Nd}$/u.test(new Intl.NumberFormat(`en-u-nu-${system}`).format(0)),
    );
    expect(systems.length).toBeGreaterThan(50);
    const refused = systems.filter((system) => {
      const format = new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false });
      return typedCode(format.format(1234567890), { alphabet: 'digits', length: 10 }) !== '1234567890';
    });
    expect(refused).toEqual([]);
    const digits = charactersOf(/\p{Nd}/u);
    expect(digits.length % 10).toBe(0);
    expect(digits.filter((digit) => !typedCode(digit, { alphabet: 'digits', length: 1 }))).toEqual([]);
  });
});

describe('a typed code in base32', () => {
  it.each([
    [CODE],
    [CODE.toLowerCase()],
    ['012345-6789AB-CDEFGH-JKMNPQ'],
    ['012345 6789ab cdefgh jkmnpq'],
    ['012345\u00A06789AB\u2014CDEFGH\u2212JKMNPQ.'],
    ['"012345/6789AB_CDEFGH:JKMNPQ"'],
    ['\u200E012345-6789AB\u200B-CDEFGH-JKMNPQ'],
    ['O12345-6789AB-CDEFGH-JKMNPQ'],
    ['oI2345-6789AB-CDEFGH-JKMNPQ'],
    ['0l2345-6789ab-cdefgh-jkmnpq'],
    ['０１２３４５６７８９ＡＢＣＤＥＦＧＨＪＫＭＮＰＱ'],
    ['٠١٢٣٤٥٦٧٨٩abcdefghjkmnpq'],
  ])('%j is the code', (text) => expect(typedCode(text, RECOVERY)).toBe(CODE));

  it.each([
    [''],
    [CODE.slice(1)],
    [`${CODE}0`],
    [CODE.replace('A', 'U')],
    [CODE.replace('A', 'Ä')],
    [CODE.replace('A', 'А')],
    [CODE.replace('A', '½')],
    [CODE.replace('8', '\uD835')],
    [CODE.replace('01', 'ß')],
  ])('%j is none', (text) => expect(typedCode(text, RECOVERY)).toBeNull());
});
