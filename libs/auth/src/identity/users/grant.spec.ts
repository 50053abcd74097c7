import * as fc from 'fast-check';
import { Grant } from './grant';

describe('a grant', () => {
  it.each<[string, string, boolean]>([
    ['orders.read', 'orders.read', true],
    ['orders.read', 'orders.write', false],
    ['orders.read', 'orders', false],
    ['orders', 'orders.read', false],
    ['orders.read', 'Orders.read', false],
    ['Orders.*', 'orders.read', false],
    ['orders.*', 'orders.read', true],
    ['orders.*', 'orders.items.read', true],
    ['orders.*', 'orders', false],
    ['orders.*', 'ordersX.read', false],
    ['orders.*', 'orders.*', true],
    ['orders.*', 'orders.', true],
    ['orders*', 'orders.read', false],
    ['orders*', 'orders*', true],
    ['*.read', 'orders.read', false],
    ['orders.*.read', 'orders.items.read', false],
    ['orders.read', 'orders.*', false],
    ['orders.read', '*', false],
    ['*', 'anything.at.all', true],
    ['*', '*', true],
    ['*', '', false],
    ['orders.*', '', false],
    ['', '', false],
    ['', 'orders', false],
    ['a b.* c', 'b.x', true],
    ['a b.* c', 'a b.*', false],
    ['  a   b  ', 'b', true],
    ['orders.read\tusers.read', 'users.read', false],
  ])('"%s" covers "%s": %s', (scope, ability, covered) => {
    expect(Grant.ofScope(scope).covers(ability)).toBe(covered);
  });

  it.each([[undefined], [null], [7], [true], [['*']], [{ toString: () => '*' }]])(
    'of a scope claim that is not a string (%p) covers nothing',
    (scope) => {
      const grant = Grant.ofScope(scope);
      expect(grant.abilities).toEqual([]);
      expect(grant.covers('orders.read')).toBe(false);
    },
  );

  it('lists its abilities in the order of the claim', () => {
    expect(Grant.ofScope('b a  c.*').abilities).toEqual(['b', 'a', 'c.*']);
  });

  it('covers exactly what an independent implementation covers', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'A', '.', '*'), maxLength: 5 });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), name, (abilities, ability) => {
        expect(new Grant(abilities).covers(ability)).toBe(abilities.some((granted) => coversNaively(granted, ability)));
      }),
      { numRuns: 5000 },
    );
  });
});

/** Compares one granted name with one requested ability, character by character. */
function coversNaively(granted: string, ability: string): boolean {
  if (ability.length === 0) return false;
  if (granted === '*' || granted === ability) return true;
  if (granted.length < 2 || granted.slice(-2) !== '.*') return false;
  for (let i = 0; i < granted.length - 1; i++) if (granted[i] !== ability[i]) return false;
  return true;
}
