import { type DenialFacts, denylistVerdict } from './denylist.policy';

type Verdict = ReturnType<typeof denylistVerdict>;

describe('the verdict on a session', () => {
  it.each<[what: string, denied: boolean, ended: boolean | null, complete: boolean, verdict: Verdict]>([
    // PostgreSQL knows the session: it does not matter what the store may have lost.
    ['no, of a store that may have lost denials, and no of PostgreSQL', false, false, false, 'live'],
    ['no, of a complete store, and no of PostgreSQL', false, false, true, 'live'],
    ['no, of a store that may have lost denials, and yes of PostgreSQL', false, true, false, 'ended'],
    ['no, of a complete store, and yes of PostgreSQL', false, true, true, 'ended'],
    // PostgreSQL has lost the commit, or has not made it yet.
    ['yes, of a store that may have lost denials, and no of PostgreSQL', true, false, false, 'ended'],
    ['yes, of a complete store, and no of PostgreSQL', true, false, true, 'ended'],
    ['yes of both, in a store that may have lost denials', true, true, false, 'ended'],
    ['yes of both, in a complete store', true, true, true, 'ended'],
    // PostgreSQL does not know the session, or is not there.
    ['no, of a store that may have lost denials, and nothing of PostgreSQL', false, null, false, 'unknown'],
    ['no, of a complete store, and nothing of PostgreSQL', false, null, true, 'live'],
    ['yes, of a store that may have lost denials, and nothing of PostgreSQL', true, null, false, 'ended'],
    ['yes, of a complete store, and nothing of PostgreSQL', true, null, true, 'ended'],
  ])('at %s: denied %s, ended %s, complete %s is %s', (_, denied, ended, complete, verdict) => {
    expect(denylistVerdict({ denied, ended, complete })).toBe(verdict);
  });

  it('never turns from ended to live when one more fact says that it ended', () => {
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
