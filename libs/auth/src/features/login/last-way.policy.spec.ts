import { isLastWay } from './last-way.policy';

describe('the removal of a way to sign in', () => {
  it.each([
    [true, ['passkey:a']],
    [true, ['passkey:a', 'passkey:a']],
    [false, ['password', 'passkey:a']],
    [false, ['passkey:b', 'passkey:a']],
    [false, ['passkey:a', 'identity:a']],
    [false, ['identity:a']],
    [false, []],
  ])('is that of the last one: %j, of %j', (isLast, ways) => expect(isLastWay('passkey:a', ways)).toBe(isLast));
});
