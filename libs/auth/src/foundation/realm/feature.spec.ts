import { defineFeature, statedBy } from './feature';

describe('the named things of all manifests', () => {
  const stated = (...features: Record<string, number>[]): ReadonlyMap<string, number> =>
    statedBy(
      features.map((_, i) => defineFeature(String(i), {})),
      ({ name }) => features[Number(name)],
    );

  it('are those of each feature', () =>
    expect([...stated({ a: 1 }, {}, { b: 2, c: 3 })]).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]));

  it('have different names', () =>
    expect(() => stated({ a: 1 }, { a: 2 })).toThrow('two features state a, one of them is 1'));
});
