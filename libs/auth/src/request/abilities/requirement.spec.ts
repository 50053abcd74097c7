import * as fc from 'fast-check';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Grant } from '../../identity/users/grant';
import { isMet, requirement } from './requirement';

describe('a requirement', () => {
  it.each<[unknown[], string[]]>([
    [['a'], ['a']],
    [
      ['b', 'a'],
      ['b', 'a'],
    ],
    [['a', 'a'], ['a']],
    [['a,b'], ['a', 'b']],
    [[' a , b '], ['a', 'b']],
    [['0'], ['0']],
    [['0,a'], ['0', 'a']],
    [['a.*'], ['a.*']],
    [['x'.repeat(128)], ['x'.repeat(128)]],
  ])('given as %j requires %j', (given, abilities) => {
    expect(requirement(given, 'every')).toEqual({ abilities, met: 'every' });
    expect(requirement(given, 'some')).toEqual({ abilities, met: 'some' });
  });

  it.each<[unknown[]]>([
    [[]],
    [['']],
    [[' , ,']],
    [['a', '']],
    [['a', ' ']],
    [['a,']],
    [[',a']],
    [['a,,b']],
    [['a b']],
    [['"a"']],
    [['a', 'é']],
    [['x'.repeat(129)]],
    [[7]],
    [[null]],
    [[['a']]],
  ])('cannot be %j', (given) => {
    expect(() => requirement(given, 'every')).toThrow(AuthConfigError);
    expect(() => requirement(given, 'some')).toThrow(AuthConfigError);
  });

  it.each<[string[], string[], boolean, boolean]>([
    [['a', 'b'], ['a', 'b'], true, true],
    [['a', 'b'], ['b'], false, true],
    [['a', 'b'], [], false, false],
    [['a', 'b'], ['*'], true, true],
    [['a.x', 'b'], ['a.*'], false, true],
    [['a.*'], ['a.*'], true, true],
    [['a.*'], ['a.x'], false, false],
    [[], ['*'], false, false],
  ])('of %j with the grant %j: all abilities met %s, any ability met %s', (abilities, granted, every, some) => {
    const grant = new Grant(granted);
    expect([isMet({ abilities, met: 'every' }, grant), isMet({ abilities, met: 'some' }, grant)]).toEqual([
      every,
      some,
    ]);
  });

  it('is met exactly when an independent implementation meets it', () => {
    const name = fc.constantFrom('orders', 'orders.read', 'ordersX.read', 'Orders.read', 'orders.*', 'o.*', '*', '0');
    const covers = (granted: string[], required: string): boolean =>
      granted.some(
        (held) =>
          held === '*' || held === required || (held.endsWith('.*') && required.indexOf(held.slice(0, -1)) === 0),
      );
    fc.assert(
      fc.property(
        fc.array(name, { minLength: 1, maxLength: 4 }),
        fc.array(name, { maxLength: 3 }),
        (required, granted) => {
          const covered = [...new Set(required)].filter((ability) => covers(granted, ability)).length;
          const grant = new Grant(granted);
          expect(isMet(requirement(required, 'every'), grant)).toBe(covered === new Set(required).size);
          expect(isMet(requirement(required, 'some'), grant)).toBe(covered > 0);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
