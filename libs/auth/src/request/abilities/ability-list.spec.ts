import * as fc from 'fast-check';
import { AuthConfigError } from '../../foundation/platform/errors';
import { scopeOf } from './requirement';

describe('a list of abilities', () => {
  it.each<[string, Iterable<unknown> | string, string]>([
    ['keeps its order', ['b', 'a', 'c.*'], 'b a c.*'],
    ['contains each name once', ['b', 'a', 'b', new String('a')], 'b a'],
    ['may be empty', [], ''],
    ['may be a Set', new Set(['a', 'b']), 'a b'],
    [
      'may be a generator',
      (function* () {
        yield 'a';
        yield 'b';
      })(),
      'a b',
    ],
    ['may contain String objects', [new String('a'), 'a', new String('b')], 'a b'],
    ['may be one ability', 'orders.read', 'orders.read'],
    ['may be one String object', new String('orders.read') as string, 'orders.read'],
    ['keeps "0"', ['0'], '0'],
  ])('%s', (_, abilities, scope) => expect(scopeOf(abilities)).toBe(scope));

  it.each<[string, unknown, RegExp]>([
    ['a single string of two', 'orders.read orders.write', /scope-token/],
    ['an empty name', [''], /must not be empty/],
    ['an empty name among others', new Set(['a', '', 'b']), /must not be empty/],
    ['an empty String object', [new String('')], /must not be empty/],
    ['an empty string', '', /must not be empty/],
    ['a name of spaces', [' '], /scope-token/],
    ['a name with a space around it', ['a '], /scope-token/],
    ['a line break', '\n', /scope-token/],
    ['a list with commas', 'orders.read,orders.write', /scope-token/],
    ['a name with a space', ['orders read'], /scope-token/],
    ['a name with a quote', ['a"b'], /scope-token/],
    ['a name with a backslash', ['a\\b'], /scope-token/],
    ['a name that is not ASCII', ['é'], /scope-token/],
    ['a String object with a space', [new String('a b')], /scope-token/],
    ['a name of 129 bytes after good ones', ['a', 'x'.repeat(129)], /longer than 128 bytes/],
    ['a number among strings', ['a', 7], /not number/],
    ['null among strings', ['a', null], /not null/],
    ['a list in a list', [['a']], /not object/],
    ['a Map', new Map([['a', true]]), /not object/],
    ['bytes', Buffer.from('a'), /not number/],
    ['null', null, /must be a string or an iterable/],
    ['undefined', undefined, /must be a string or an iterable/],
    ['a number', 7, /must be a string or an iterable/],
    ['a plain object', { 0: 'a', length: 1 }, /must be a string or an iterable/],
    ['a promise', Promise.resolve(['a']), /must be a string or an iterable/],
  ])('refuses %s', (_, abilities, text) => {
    expect(() => scopeOf(abilities as string)).toThrow(AuthConfigError);
    expect(() => scopeOf(abilities as string)).toThrow(text);
  });

  it('may have at most 2048 bytes, including spaces', () => {
    const names = Array.from({ length: 16 }, (_, i) => `${i}`.padStart(2, '0').padEnd(127, 'x'));
    expect(scopeOf([...names.slice(0, 15), `${names[15]}x`])).toHaveLength(2048);
    expect(() => scopeOf([...names.slice(0, 14), `${names[14]}x`, `${names[15]}x`])).toThrow(/2048 bytes/);
  });

  it('is measured without duplicates', () => {
    expect(scopeOf(Array.from({ length: 1000 }, () => 'orders.read'))).toBe('orders.read');
  });

  it('does not repeat a long value in its error', () => {
    const message = (() => {
      try {
        return scopeOf(['x'.repeat(1_000_000)]);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(message.length).toBeLessThan(250);
  });

  it('is parsed back to the given names', () => {
    const name = fc.stringMatching(/^[!#-+\--[\]-~]{1,20}$/);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 20 }), (names) => {
        expect(scopeOf(names).split(' ').filter(Boolean)).toEqual([...new Set(names)]);
      }),
    );
  });
});
