import { Grant } from '../../identity/users/grant';
import { type PresentedKey, effectiveAbilities, keyVerdict, mayGrant } from './access-key.policy';

const KEY = { guard: 'api', isSecret: true, isRevoked: false, expiresAt: 100 };
const GOOD: PresentedKey = { key: KEY, isDenied: false, owner: 'allowed', isInNetwork: true, guard: 'api', now: 99 };
const key = (changed: Partial<typeof KEY>): Partial<PresentedKey> => ({ key: { ...KEY, ...changed } });

describe('a request with an access key', () => {
  it.each<[string, Partial<PresentedKey>, string]>([
    ['that is valid', {}, 'accepted'],
    ['without expiry', { key: { ...KEY, expiresAt: null }, now: 2 ** 40 }, 'accepted'],
    ['while the denylist is incomplete', { isDenied: null }, 'accepted'],
    ['that is unknown', { key: null }, 'unknown_key'],
    ['of another guard', { guard: 'admin' }, 'unknown_key'],
    ['with a wrong secret', key({ isSecret: false }), 'wrong_key'],
    ['with a wrong secret, of another guard', { ...key({ isSecret: false }), guard: 'admin' }, 'unknown_key'],
    [
      'with a wrong secret, revoked and expired',
      { ...key({ isSecret: false, isRevoked: true }), now: 101 },
      'wrong_key',
    ],
    ['that was revoked', key({ isRevoked: true }), 'revoked_key'],
    [
      'that was revoked while the denylist is incomplete',
      { ...key({ isRevoked: true }), isDenied: null },
      'revoked_key',
    ],
    ['that is denied, but whose row was lost in a failover', { isDenied: true }, 'revoked_key'],
    ['in the second of its expiry', { now: 100 }, 'expired_key'],
    ['after its expiry', { now: 101 }, 'expired_key'],
    ['of an owner who may not sign in', { owner: 'refused' }, 'key_owner'],
    ['of an owner who was erased', { owner: 'gone' }, 'key_owner'],
    ['from another network', { isInNetwork: false }, 'key_network'],
  ])('%s', (_, changed, verdict) => expect(keyVerdict({ ...GOOD, ...changed })).toBe(verdict));

  it('passes only with no reason against it', () => {
    const bad: Partial<PresentedKey>[] = [
      key({ isSecret: false }),
      key({ isRevoked: true }),
      key({ expiresAt: 99 }),
      { isDenied: true },
      { owner: 'refused' },
      { owner: 'gone' },
      { isInNetwork: false },
      { guard: 'admin' },
      { key: null },
    ];
    for (const one of bad)
      for (const other of bad) expect(keyVerdict({ ...GOOD, ...one, ...other })).not.toBe('accepted');
  });
});

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
