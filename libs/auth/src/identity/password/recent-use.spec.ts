import { RecentUse } from './fair-share.policy';

describe('recent use', () => {
  let now: number;
  let use: RecentUse;
  beforeEach(() => {
    now = 0;
    use = new RecentUse(() => now);
  });

  it('is counted for each key', () => {
    for (const key of ['a', 'b', 'a']) use.add(key);
    expect(['a', 'b', 'c'].map((key) => use.of(key))).toEqual([2, 1, 0]);
  });

  it('is counted for at least 30 and at most 60 seconds', () => {
    now = 29_000;
    use.add('a');
    now = 59_000;
    expect(use.of('a')).toBe(1);
    use.add('a');
    expect(use.of('a')).toBe(2);
    now = 89_000;
    expect(use.of('a')).toBe(1);
    now = 400_000;
    expect(use.of('a')).toBe(0);
  });

  it('is stored for a limited number of keys, the latest ones', () => {
    for (let i = 0; i < 100_000; i++) use.add(`key ${i}`);
    const { current, former } = use as unknown as Record<'current' | 'former', Map<string, number>>;
    expect(current.size + former.size).toBeLessThanOrEqual(8192);
    expect(use.of('key 99999')).toBe(1);
    expect(use.of('key 0')).toBe(0);
  });
});
