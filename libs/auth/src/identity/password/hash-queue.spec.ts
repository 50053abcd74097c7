import { compared, lastOf, nextOf } from './fair-share.policy';

const waiting = (...uses: number[][]) => uses.map((one) => ({ uses: one }));

describe('the selection among waiting hashes', () => {
  it.each<[string, number[][], number, number]>([
    ['finds no entry in an empty queue', [], -1, -1],
    ['finds the only entry', [[3, 3]], 0, 0],
    [
      'runs the first and refuses the last of equal entries',
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      0,
      2,
    ],
    [
      'prefers the client with the fewest recent hashes',
      [
        [5, 0],
        [4, 9],
        [6, 0],
      ],
      1,
      2,
    ],
    [
      'prefers the account with the fewest recent hashes among entries of one client',
      [
        [5, 2],
        [5, 1],
        [5, 3],
      ],
      1,
      2,
    ],
    [
      'compares clients before accounts',
      [
        [1, 100],
        [2, 0],
      ],
      0,
      1,
    ],
    ['counts an entry without keys as 0', [[1], [], [0, 1]], 1, 0],
  ])('%s', (_, uses, next, last) => {
    expect([nextOf(waiting(...uses)), lastOf(waiting(...uses))]).toEqual([next, last]);
  });

  it('counts a missing number as 0', () => expect(compared({ uses: [1, 0] }, { uses: [1] })).toBe(0));
});
