import { RECOVERY_CODE, comparedHash, entriesIn, importedColumn, without } from './recovery-codes';

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

  it.each([
    ['abcdeABCDE-0123456789', true],
    ['abcdeABCDE0123456789', false],
    ['abcdeABCDE-012345678', false],
    ['abcdeABCDE-0123456789 ', false],
    ['abcdeABCDE-01234567_9', false],
    ['äbcdeABCDE-0123456789', false],
    ['', false],
  ])('accepts the code format of %j: %s', (code, isValid) => expect(RECOVERY_CODE.test(code)).toBe(isValid));

  it('marks imported hashes, and contains equal ones once', () => {
    expect(entriesIn(importedColumn(['a', 'b', 'a']))).toEqual(['imported:a', 'imported:b']);
    expect(importedColumn([])).toBe('[]');
  });

  const OWN = 'abcdeABCDE-0123456789';
  it.each<[string, string, string, string | null]>([
    ['the format of the library', 'hash', OWN, 'hash'],
    ['another format', 'hash', 'abcde-12345', null],
    ['the format of the library', 'imported:hash', OWN, 'hash'],
    ['another format', 'imported:hash', 'abcde-12345', 'hash'],
    ['digits only', 'imported:hash', '12345678', 'hash'],
    ['words', 'imported:hash', 'correct horse battery', 'hash'],
    ['64 characters', 'imported:hash', 'x'.repeat(64), 'hash'],
    ['65 characters', 'imported:hash', 'x'.repeat(65), null],
    ['seven characters', 'imported:hash', '1234567', null],
    ['a NUL', 'imported:hash', '12345678\0', null],
    ['a line break', 'imported:hash', '12345678\n', null],
    ['other letters', 'imported:hash', 'äbcdefghij', null],
    ['no character', 'imported:hash', '', null],
  ])('compares a text with %s and the entry %s: %j with %j', (_, entry, code, hash) =>
    expect(comparedHash(entry, code)).toBe(hash),
  );
});
