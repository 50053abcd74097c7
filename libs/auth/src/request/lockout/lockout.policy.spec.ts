import { type Lock, secondsHeld } from './lockout.policy';

const NOW = 1_000_000;

describe('a lock', () => {
  it.each<[string, Lock['lockedAt'], number, number]>([
    ['that was never set is not active', null, 60, 0],
    ['that was never set is not active, also when locks are permanent', null, 0, 0],
    ['is permanent without automatic release', NOW - 1e9, 0, Infinity],
    ['set at the epoch is permanent without automatic release', 0, 0, Infinity],
    ['lasts the whole period from its start', NOW, 60, 60],
    ['lasts for the rest of its period', NOW - 18, 60, 42],
    ['lasts a whole second for a part of a second', NOW - 59.001, 60, 1],
    ['is active until the end of its period', NOW - 59.999, 60, 1],
    ['is not active at the end of its period', NOW - 60, 60, 0],
    ['is not active after its period', NOW - 1e6, 60, 0],
    ['set at the epoch is released automatically', 0, 60, 0],
    ['set in the future lasts from that time', NOW + 5, 60, 65],
  ])('%s', (_, lockedAt, releaseAfter, seconds) => {
    expect(secondsHeld({ lockedAt, now: NOW }, releaseAfter)).toBe(seconds);
  });
});
