import { type Candidate, type Reading, REPAIR_SECONDS, isWhole, mayAdopt } from './epoch.policy';

describe('a denylist is whole', () => {
  const known = { connection: 3, epoch: 'e' };
  const reading: Reading = { mark: 'true', before: 3, after: 3 };

  it.each<[string, boolean, typeof known | null, Reading]>([
    ['while the key of its epoch is there', true, known, reading],
    ['not without an epoch', false, null, reading],
    ['not when the key is gone', false, known, { ...reading, mark: null }],
    ['not after a reconnect', false, known, { ...reading, before: 4, after: 4 }],
    ['not when the connection changed meanwhile', false, known, { ...reading, after: 4 }],
    ['not when the answer is from the connection before', false, { connection: 4, epoch: 'e' }, reading],
  ])('%s', (_, whole, of, answer) => {
    expect(isWhole(of, answer)).toBe(whole);
  });
});

describe('the rebuild of another process is relied on', () => {
  const candidate: Candidate = { row: { number: 8, age: 1 }, alive: true };

  it.each<[string, boolean, Candidate, number]>([
    ['when it began after this one connected', true, candidate, 7],
    ['not when it may have begun before', false, candidate, 8],
    ['not when it began before', false, candidate, 9],
    ['not when the store lost it', false, { ...candidate, alive: false }, 7],
    ['not when this database does not know it', false, { ...candidate, row: null }, 0],
    ['until it is due again', true, { ...candidate, row: { number: 8, age: REPAIR_SECONDS - 0.1 } }, 7],
    ['not when it is due again', false, { ...candidate, row: { number: 8, age: REPAIR_SECONDS } }, 7],
  ])('%s', (_, relied, of, floor) => {
    expect(mayAdopt(of, floor)).toBe(relied);
  });
});
