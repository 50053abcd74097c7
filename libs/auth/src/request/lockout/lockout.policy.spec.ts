import { type Lock, secondsHeld } from './lockout.policy';

const NOW = 1_000_000;

describe('a lock', () => {
  it.each<[string, Lock['lockedAt'], number, number]>([
    ['that was never set holds not', null, 60, 0],
    ['that was never set holds not even where locks hold for good', null, 0, 0],
    ['holds for good where none lets go by itself', NOW - 1e9, 0, Infinity],
    ['recorded as the epoch holds for good too', 0, 0, Infinity],
    ['holds for the whole time at first', NOW, 60, 60],
    ['holds for the rest of its time', NOW - 18, 60, 42],
    ['holds a whole second for a part of one', NOW - 59.001, 60, 1],
    ['holds until the last moment', NOW - 59.999, 60, 1],
    ['holds not at its very end', NOW - 60, 60, 0],
    ['holds not after its end', NOW - 1e6, 60, 0],
    ['recorded as the epoch lets go', 0, 60, 0],
    ['that lies ahead holds from then on', NOW + 5, 60, 65],
  ])('%s', (_, lockedAt, releaseAfter, seconds) => {
    expect(secondsHeld({ lockedAt, now: NOW }, releaseAfter)).toBe(seconds);
  });
});
