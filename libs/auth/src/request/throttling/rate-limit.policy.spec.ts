import * as fc from 'fast-check';
import type { Bucket, Limit } from '../../foundation/security-store/security-store';
import { type LimitState, limitState } from './rate-limit.policy';

const limitOf = (max: number): Limit => ({ key: 'k', max, seconds: 60 });
const bucket = (counted: number, secondsLeft = 60, pending = 0): Bucket => ({ counted, pending, secondsLeft });

type Case = [string, boolean, [max: number, bucket: Bucket][], LimitState];

const cases: Case[] = [
  ['has the remaining attempts of its limit', true, [[5, bucket(1)]], { limit: 5, remaining: 4, retryAfter: 0 }],
  ['has no attempts left after the last one', true, [[5, bucket(5)]], { limit: 5, remaining: 0, retryAfter: 0 }],
  ['includes pending attempts', true, [[5, bucket(1, 60, 3)]], { limit: 5, remaining: 1, retryAfter: 0 }],
  ['never has a negative number of attempts left', true, [[5, bucket(9)]], { limit: 5, remaining: 0, retryAfter: 0 }],
  [
    'is that of the limit with the fewest attempts left',
    true,
    [
      [30, bucket(2)],
      [5, bucket(2)],
      [20, bucket(10)],
    ],
    { limit: 5, remaining: 3, retryAfter: 0 },
  ],
  [
    'is that of the first limit if several are equal',
    true,
    [
      [6, bucket(3)],
      [5, bucket(2)],
    ],
    { limit: 6, remaining: 3, retryAfter: 0 },
  ],
  ['has the wait until the end of the period', false, [[5, bucket(5, 42)]], { limit: 5, remaining: 0, retryAfter: 42 }],
  [
    'has a wait of a whole second for a part of a second',
    false,
    [[5, bucket(5, 41.001)]],
    { limit: 5, remaining: 0, retryAfter: 42 },
  ],
  ['has a wait of at least a second', false, [[5, bucket(5, 0.001)]], { limit: 5, remaining: 0, retryAfter: 1 }],
  [
    'has a wait of a second after the end of the period',
    false,
    [[5, bucket(5, 0)]],
    { limit: 5, remaining: 0, retryAfter: 1 },
  ],
  ['has a wait for pending attempts', false, [[5, bucket(2, 9, 3)]], { limit: 5, remaining: 0, retryAfter: 9 }],
  [
    'has the longest wait of the exhausted limits',
    false,
    [
      [5, bucket(5, 10)],
      [20, bucket(20, 50)],
      [9, bucket(9, 30)],
    ],
    { limit: 20, remaining: 0, retryAfter: 50 },
  ],
  [
    'has no wait for a limit that is not exhausted',
    false,
    [
      [30, bucket(29, 3600)],
      [5, bucket(5, 10)],
    ],
    { limit: 5, remaining: 0, retryAfter: 10 },
  ],
  [
    'has a wait of a second if the counter that refused is empty by now',
    false,
    [
      [30, bucket(2)],
      [5, bucket(0, 0)],
    ],
    { limit: 5, remaining: 0, retryAfter: 1 },
  ],
];

describe('the state of limits', () => {
  it.each(cases)('%s', (_, admitted, all, state) => {
    const limits = all.map(([max]) => limitOf(max));
    expect(limitState(limits, { admitted, buckets: all.map(([, counters]) => counters) })).toEqual(state);
  });

  it.each([true, false])('is that of empty counters if the tally, admitted: %s, has no counter', (admitted) => {
    const tally = { admitted, buckets: [] };
    const [remaining, retryAfter] = admitted ? [5, 0] : [0, 1];
    expect(limitState([limitOf(30), limitOf(5)], tally)).toEqual({ limit: 5, remaining, retryAfter });
    expect(limitState([], tally)).toEqual({ limit: 0, remaining: 0, retryAfter });
  });

  it('has whole numbers, and has a wait exactly when an attempt was refused', () => {
    const limitAndBucket = fc.record({
      max: fc.integer({ min: 1, max: 9 }),
      counted: fc.integer({ min: 0, max: 9 }),
      pending: fc.integer({ min: 0, max: 9 }),
      secondsLeft: fc.double({ min: 0, max: 3600, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(limitAndBucket, { minLength: 1, maxLength: 4 }), (all) => {
        const full = all.filter(({ max, counted, pending }) => counted + pending >= max);
        const admitted = full.length === 0;
        const { limit, remaining, retryAfter } = limitState(
          all.map(({ max }) => limitOf(max)),
          { admitted, buckets: all },
        );
        expect([limit, remaining, retryAfter].every(Number.isSafeInteger)).toBe(true);
        expect(all.map(({ max }) => max)).toContain(limit);
        expect(remaining === 0).toBe(!admitted);
        expect(retryAfter > 0).toBe(!admitted);
        for (const { secondsLeft } of full) expect(retryAfter).toBeGreaterThanOrEqual(secondsLeft);
      }),
    );
  });
});
