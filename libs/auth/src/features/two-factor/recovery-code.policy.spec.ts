import { RECOVERY_CODE, hashesIn, without } from './recovery-codes';

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
  ])('%j contains %j', (column, hashes) => expect(hashesIn(column)).toEqual(hashes));

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
});
