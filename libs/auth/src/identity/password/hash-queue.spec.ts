import { compared, lastOf, nextOf } from './fair-share.policy';

const waiting = (...uses: number[][]) => uses.map((one) => ({ uses: one }));

describe('priority of waiting hashes', () => {
  it.each<[string, number[][], number, number]>([
    ['an empty queue', [], -1, -1],
    ['the only one', [[3, 3]], 0, 0],
    [
      'equals: the first is next, the last gives way',
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      0,
      2,
    ],
    [
      'the client that had less is next',
      [
        [5, 0],
        [4, 9],
        [6, 0],
      ],
      1,
      2,
    ],
    [
      'of one client, the account that had less',
      [
        [5, 2],
        [5, 1],
        [5, 3],
      ],
      1,
      2,
    ],
    [
      'the client counts before the account',
      [
        [1, 100],
        [2, 0],
      ],
      0,
      1,
    ],
    ['an entry without keys counts as 0', [[1], [], [0, 1]], 1, 0],
  ])('%s', (_, uses, next, last) => {
    expect([nextOf(waiting(...uses)), lastOf(waiting(...uses))]).toEqual([next, last]);
  });

  it('equals are equal', () => expect(compared({ uses: [1, 0] }, { uses: [1] })).toBe(0));
});
