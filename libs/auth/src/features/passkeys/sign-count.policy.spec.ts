import { type UseVerdict, changeOf, judgeUse } from './sign-count.policy';

const of = (signCount: number, backupEligible = true, backedUp = false) => ({ signCount, backupEligible, backedUp });

const COUNTS: [number, number, UseVerdict][] = [
  [0, 0, 'accept'],
  [0, 1, 'accept'],
  [0, 4_294_967_295, 'accept'],
  [1, 2, 'accept'],
  [1, 1, 'clone'],
  [1, 0, 'clone'],
  [10, 9, 'clone'],
  [10, 10, 'clone'],
  [10, 11, 'accept'],
  [4_294_967_295, 0, 'clone'],
];

describe.each<[string, boolean, boolean]>([
  ['is bound to a device', false, false],
  ['can be synced, but is not', true, false],
])('a use of a passkey that %s', (_, eligible, backedUp) => {
  it.each(COUNTS)('with the stored count %d and the new count %d has the verdict %s', (stored, used, verdict) => {
    for (const change of ['refuse', 'accept'] as const)
      expect(judgeUse(of(stored, eligible, backedUp), of(used, eligible, backedUp), change)).toBe(verdict);
  });
});

describe('a use of a passkey that is synced', () => {
  it.each(COUNTS)('with the stored count %d and the new count %d is accepted', (stored, used) => {
    for (const before of [true, false])
      expect(judgeUse(of(stored, true, before), of(used, true, true), 'refuse')).toBe('accept');
  });

  it('is compared again when it is not synced any more', () => {
    expect(judgeUse(of(10, true, true), of(9, true, false), 'refuse')).toBe('clone');
  });
});

describe('the backup flags of a use', () => {
  it.each<[boolean, boolean, boolean, boolean, UseVerdict, UseVerdict]>([
    [true, false, true, true, 'accept', 'accept'],
    [true, true, true, false, 'accept', 'accept'],
    [false, false, false, false, 'accept', 'accept'],
    [false, false, true, false, 'refuse', 'accept'],
    [false, false, true, true, 'refuse', 'accept'],
    [true, true, false, false, 'refuse', 'accept'],
    [true, false, false, false, 'refuse', 'accept'],
    [false, false, false, true, 'refuse', 'refuse'],
    [true, true, false, true, 'refuse', 'refuse'],
  ])(
    'stored as eligible %s and backed up %s, used as eligible %s and backed up %s: %s, or %s if changes are accepted',
    (eligible, backedUp, eligibleNow, backedUpNow, verdict, ifAccepted) => {
      const [stored, used] = [of(0, eligible, backedUp), of(0, eligibleNow, backedUpNow)];
      expect([judgeUse(stored, used, 'refuse'), judgeUse(stored, used, 'accept')]).toEqual([verdict, ifAccepted]);
      const reported = [verdict, ifAccepted].map((judged) => changeOf(stored, used, judged));
      const differs = (judged: UseVerdict) => (judged === 'accept' ? 'accepted' : 'refused');
      const sameKind = backedUp === backedUpNow || verdict !== 'accept' ? null : 'unchanged';
      expect(reported).toEqual(
        eligible === eligibleNow ? [sameKind, sameKind] : [differs(verdict), differs(ifAccepted)],
      );
    },
  );

  it('do not disable the comparison of counts by a change that is accepted', () => {
    expect(judgeUse(of(10, false, false), of(9, true, true), 'accept')).toBe('clone');
    expect(judgeUse(of(10, false, false), of(11, true, true), 'accept')).toBe('accept');
    expect(judgeUse(of(10, true, true), of(9, false, false), 'accept')).toBe('clone');
  });
});
