import * as fc from 'fast-check';
import { merge, wholeNumber } from './merge';

describe('the merge of options', () => {
  it('merges plain objects recursively, and prefers the later layer', () => {
    expect(merge({ a: { b: 1, c: 1 }, d: 1 }, { a: { c: 2, e: { f: 2 } } }, { d: 3 })).toEqual({
      a: { b: 1, c: 2, e: { f: 2 } },
      d: 3,
    });
  });

  it.each<[string, unknown, unknown]>([
    ['a list', ['a', 'b'], ['c']],
    ['an empty list', ['a', 'b'], []],
    ['null', { b: 1 }, null],
    ['false', true, false],
    ['0', 1, 0],
    ['an empty string', 'a', ''],
    ['a Date', { b: 1 }, new Date(0)],
    ['a function', { b: 1 }, () => 1],
    ['an object over a scalar', 1, { b: 1 }],
    ['an object over a list', ['a'], { b: 1 }],
  ])('replaces the whole earlier value by %s', (_, before, after) =>
    expect(merge({ key: before }, { key: after }).key).toEqual(after),
  );

  it('keeps an instance of a class as the same object', () => {
    const store = new (class Store {
      size = 1;
    })();
    expect(merge({ store: { size: 2, other: 2 } }, { store }).store).toBe(store);
  });

  it('ignores undefined values and layers that are not objects', () => {
    expect(merge({ a: 1, b: { c: 1 } }, { a: undefined, b: { c: undefined } })).toEqual({ a: 1, b: { c: 1 } });
    expect(merge({ a: 1 }, undefined, null, 'text', ['list'])).toEqual({ a: 1 });
  });

  it('returns objects that are not shared with the layers', () => {
    const layer = Object.freeze({ a: Object.freeze({ b: 1 }) });
    const merged = merge(layer) as { a: { b: number } };
    merged.a.b = 2;
    expect(layer.a.b).toBe(1);
  });

  it('does not change Object.prototype', () => {
    merge({}, JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('wholeNumber', () => {
  it.each<[unknown, number]>([
    [60, 60],
    ['60', 60],
    [' 60 ', 60],
    ['1e3', 100],
    [59.9, 59],
    ['-3', 5],
    [0, 5],
    [-Number.MAX_VALUE, 5],
    [101, 100],
    [Number.MAX_VALUE, 100],
    ['', 30],
    ['  ', 30],
    ['sixty', 30],
    ['60s', 30],
    ['60,5', 30],
    [NaN, 30],
    [Infinity, 30],
    ['-Infinity', 30],
    [null, 30],
    [undefined, 30],
    [true, 30],
    [false, 30],
    [[60], 30],
    [{}, 30],
    [60n, 30],
  ])('converts %p to %d, with the bounds 5 and 100 and the default 30', (given, result) => {
    expect(wholeNumber(given, 30, 5, 100)).toBe(result);
  });

  it('returns an integer within the bounds for every input', () => {
    fc.assert(
      fc.property(fc.anything(), (given) => {
        const value = wholeNumber(given, 30, 5, 100);
        expect(Number.isInteger(value) && value >= 5 && value <= 100).toBe(true);
      }),
    );
  });
});
