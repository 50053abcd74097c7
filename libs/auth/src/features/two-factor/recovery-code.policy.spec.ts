import { comparedWith, entriesIn, importedColumn, spellingsOf, without } from './recovery-codes';

describe('the column of recovery codes', () => {
  it.each<[string | null, string[]]>([
    [null, []],
    ['', []],
    ['[]', []],
    ['["a","b"]', ['a', 'b']],
    ['{"0":"a"}', []],
    ['["a",1]', []],
    ['"a"', []],
    [JSON.stringify(Array.from({ length: 100 }, () => 'a')), Array.from({ length: 100 }, () => 'a')],
    [JSON.stringify(Array.from({ length: 101 }, () => 'a')), []],
    ['null', []],
    ['[', []],
  ])('%j contains %j', (column, hashes) => expect(entriesIn(column)).toEqual(hashes));

  it.each<[string | null, string, string | null]>([
    ['["a","b","c"]', 'b', '["a","c"]'],
    ['["a"]', 'a', '[]'],
    ['["a"]', 'b', null],
    ['[]', 'a', null],
    [null, 'a', null],
    ['junk', 'a', null],
  ])('%j after the removal of %j is %j', (column, hash, left) => expect(without(column, hash)).toBe(left));

  it('marks imported hashes, and contains equal ones once', () => {
    expect(entriesIn(importedColumn(['a', 'b', 'a']))).toEqual(['imported:a', 'imported:b']);
    expect(importedColumn([])).toBe('[]');
  });

  const EARLIER = 'abcdeABCDE-0123456789';
  const CODE = '0123456789ABCDEFGHJKMNPQ';
  it.each<[string, string, string, [hash: string, code: string] | null]>([
    ['the format of the library', 'hash', '012345-6789AB-CDEFGH-JKMNPQ', ['hash', CODE]],
    ['lower case and no hyphens', 'hash', CODE.toLowerCase(), ['hash', CODE]],
    ['look-alikes', 'hash', 'oI2345 6789ab cdefgh jkmnpq', ['hash', CODE]],
    ['23 characters', 'hash', CODE.slice(1), null],
    ['an earlier format', 'hash', EARLIER, ['hash', EARLIER]],
    ['an earlier format in another case', 'hash', EARLIER.toUpperCase(), ['hash', EARLIER.toUpperCase()]],
    ['an earlier format without its hyphen', 'hash', EARLIER.replace('-', ''), null],
    ['an earlier format and a space', 'hash', `${EARLIER} `, null],
    ['an earlier format and another letter', 'hash', EARLIER.replace('a', 'ä'), null],
    ['another format', 'hash', 'abcde-12345', null],
    [
      'the format of the library',
      'imported:hash',
      '012345-6789ab-CDEFGH-JKMNPQ',
      ['hash', '012345-6789ab-CDEFGH-JKMNPQ'],
    ],
    ['an earlier format', 'imported:hash', EARLIER, ['hash', EARLIER]],
    ['another format', 'imported:hash', 'abcde-12345', ['hash', 'abcde-12345']],
    ['digits only', 'imported:hash', '12345678', ['hash', '12345678']],
    ['words', 'imported:hash', 'correct horse battery', ['hash', 'correct horse battery']],
    ['64 characters', 'imported:hash', 'x'.repeat(64), ['hash', 'x'.repeat(64)]],
    ['65 characters', 'imported:hash', 'x'.repeat(65), null],
    ['seven characters', 'imported:hash', '1234567', null],
    ['a NUL', 'imported:hash', '12345678\0', null],
    ['a line break', 'imported:hash', '12345678\n', null],
    ['other letters', 'imported:hash', 'äbcdefghij', null],
    ['no character', 'imported:hash', '', null],
  ])('compares a text with %s and the entry %s: %j with %j', (_, entry, text, expected) => {
    const [hash, code] = expected ?? [];
    expect(comparedWith(entry, spellingsOf(text))).toEqual(expected && { hash, code });
  });
});
