import { type UseVerdict, judgeUse } from './sign-count.policy';

const of = (signCount: number, backupEligible = true, backedUp = false) => ({ signCount, backupEligible, backedUp });

describe('a use of a passkey', () => {
  it.each<[number, number, UseVerdict]>([
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
  ])('with the stored count %d and the new count %d has the verdict %s', (stored, used, verdict) => {
    expect(judgeUse(of(stored), of(used))).toBe(verdict);
  });

  it.each<[boolean, boolean, boolean, boolean, UseVerdict]>([
    [true, false, true, true, 'accept'],
    [true, true, true, false, 'accept'],
    [false, false, false, false, 'accept'],
    [false, false, true, false, 'refuse'],
    [false, false, true, true, 'refuse'],
    [true, true, false, false, 'refuse'],
    [false, false, false, true, 'refuse'],
    [true, true, false, true, 'refuse'],
  ])(
    'stored as eligible %s and backed up %s, used as eligible %s and backed up %s, has the verdict %s',
    (eligible, backedUp, eligibleNow, backedUpNow, verdict) => {
      expect(judgeUse(of(0, eligible, backedUp), of(0, eligibleNow, backedUpNow))).toBe(verdict);
    },
  );
});
