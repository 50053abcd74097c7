import { Grant } from '../../identity/users/grant';
import { effectiveAbilities, mayGrant } from './key-grant';

describe('the abilities of a request with an access key', () => {
  it.each<[string[], string[] | null, string[]]>([
    [['orders.read'], ['orders.read', 'orders.write'], ['orders.read']],
    [['orders.read'], [], []],
    [[], ['*'], []],
    [['*'], ['orders.*', 'users.read'], ['orders.*', 'users.read']],
    [['orders.*'], ['*'], ['orders.*']],
    [['orders.*'], ['orders.read', 'users.read'], ['orders.read']],
    [['orders.*'], ['orders.refunds.*'], ['orders.refunds.*']],
    [['orders.*'], ['orders'], []],
    [['a.read'], ['b.read'], []],
    [['orders.read', 'orders.read'], null, ['orders.read']],
  ])('of the list %j and the owner %j are %j', (list, owner, effective) =>
    expect(effectiveAbilities(list, owner)).toEqual(effective),
  );

  it('are covered exactly if both lists cover them', () => {
    const names = ['*', 'a', 'a.*', 'a.b', 'a.b.*', 'a.b.c', 'b.*', 'b.c'];
    const lists = names.flatMap((one) => names.map((other) => [one, other]));
    for (const list of lists)
      for (const owner of lists) {
        const effective = new Grant(effectiveAbilities(list, owner));
        const both = names.filter((name) => new Grant(list).covers(name) && new Grant(owner).covers(name));
        expect([list, owner, names.filter((name) => effective.covers(name))]).toEqual([list, owner, both]);
      }
  });

  it.each([
    [['orders.read'], ['orders.*'], true],
    [['orders.*'], ['orders.read'], false],
    [['*'], ['*'], true],
    [['*'], ['orders.*'], false],
    [[], [], true],
    [['orders.read', 'users.read'], ['orders.read'], false],
  ])('%j can be granted by a creator with %j: %s', (list, creator, may) => expect(mayGrant(list, creator)).toBe(may));
});
