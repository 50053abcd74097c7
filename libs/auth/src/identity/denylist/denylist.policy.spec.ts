import { type DenialFacts, denylistVerdict } from './denylist.policy';

type Verdict = ReturnType<typeof denylistVerdict>;

describe('the verdict on a session', () => {
  it.each<[what: string, denied: boolean, ended: boolean | null, complete: boolean, verdict: Verdict]>([
    // PostgreSQL has the session, so lost entries of the store are irrelevant.
    ['no, of a store that may have lost denials, and no of PostgreSQL', false, false, false, 'live'],
    ['no, of a complete store, and no of PostgreSQL', false, false, true, 'live'],
    ['no, of a store that may have lost denials, and yes of PostgreSQL', false, true, false, 'ended'],
    ['no, of a complete store, and yes of PostgreSQL', false, true, true, 'ended'],
    // PostgreSQL has lost the commit, or it is not committed yet.
    ['yes, of a store that may have lost denials, and no of PostgreSQL', true, false, false, 'ended'],
    ['yes, of a complete store, and no of PostgreSQL', true, false, true, 'ended'],
    ['yes of both, in a store that may have lost denials', true, true, false, 'ended'],
    ['yes of both, in a complete store', true, true, true, 'ended'],
    // PostgreSQL has no such session, or the service has no PostgreSQL.
    ['no, of a store that may have lost denials, and nothing of PostgreSQL', false, null, false, 'unknown'],
    ['no, of a complete store, and nothing of PostgreSQL', false, null, true, 'live'],
    ['yes, of a store that may have lost denials, and nothing of PostgreSQL', true, null, false, 'ended'],
    ['yes, of a complete store, and nothing of PostgreSQL', true, null, true, 'ended'],
  ])('at %s: denied %s, ended %s, complete %s is %s', (_, denied, ended, complete, verdict) => {
    expect(denylistVerdict({ denied, ended, complete })).toBe(verdict);
  });

  it('never changes from ended to live with one more indication of an end', () => {
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
