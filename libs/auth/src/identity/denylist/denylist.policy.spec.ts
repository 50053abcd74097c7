import { type DenialFacts, denylistVerdict } from './denylist.policy';

type Verdict = ReturnType<typeof denylistVerdict>;

describe('the verdict on a session', () => {
  it.each<[what: string, denied: boolean, ended: boolean | null, complete: boolean, verdict: Verdict]>([
    // PostgreSQL has the session, so lost entries of the store are irrelevant.
    ['Redis (incomplete): no denial; PostgreSQL: live', false, false, false, 'live'],
    ['Redis: no denial; PostgreSQL: live', false, false, true, 'live'],
    ['Redis (incomplete): no denial; PostgreSQL: ended', false, true, false, 'ended'],
    ['Redis: no denial; PostgreSQL: ended', false, true, true, 'ended'],
    // PostgreSQL has lost the commit, or it is not committed yet.
    ['Redis (incomplete): denial; PostgreSQL: live', true, false, false, 'ended'],
    ['Redis: denial; PostgreSQL: live', true, false, true, 'ended'],
    ['Redis (incomplete): denial; PostgreSQL: ended', true, true, false, 'ended'],
    ['Redis: denial; PostgreSQL: ended', true, true, true, 'ended'],
    // PostgreSQL has no such session, or the service has no PostgreSQL.
    ['Redis (incomplete): no denial; PostgreSQL: no row', false, null, false, 'unknown'],
    ['Redis: no denial; PostgreSQL: no row', false, null, true, 'live'],
    ['Redis (incomplete): denial; PostgreSQL: no row', true, null, false, 'ended'],
    ['Redis: denial; PostgreSQL: no row', true, null, true, 'ended'],
  ])('with %s (denied %s, ended %s, complete %s) is %s', (_, denied, ended, complete, verdict) => {
    expect(denylistVerdict({ denied, ended, complete })).toBe(verdict);
  });

  it('is ended whenever Redis or PostgreSQL reports an end', () => {
    const facts = [true, false].flatMap((denied) =>
      [true, false, null].flatMap((ended) =>
        [true, false].map((complete): DenialFacts => ({ denied, ended, complete })),
      ),
    );
    for (const one of facts) {
      expect(denylistVerdict({ ...one, denied: true })).toBe('ended');
      expect(denylistVerdict({ ...one, ended: true })).toBe('ended');
    }
  });
});
