import { LineBudget } from './security-log';

describe('LineBudget', () => {
  let now: number;
  let budget: LineBudget;
  beforeEach(() => {
    now = 0;
    budget = new LineBudget(3, () => now);
  });
  const lines = (kind: string, count: number) => Array.from({ length: count }, () => budget.admit(kind));

  it('admits the configured number of lines of a kind per minute', () => {
    expect(lines('a', 5)).toEqual([0, 0, 0, null, null]);
  });

  it('counts each kind separately', () => {
    lines('a', 100);
    expect(lines('b', 2)).toEqual([0, 0]);
  });

  it('returns the number of omitted lines with the next line', () => {
    lines('a', 10);
    now = 59_999;
    expect(lines('a', 1)).toEqual([null]);
    now = 60_000;
    expect(lines('a', 2)).toEqual([8, 0]);
  });

  it('returns the number of omitted lines without a further line, once', () => {
    lines('a', 10);
    lines('b', 1);
    expect(budget.settle()).toEqual([]);
    now = 60_000;
    expect(budget.settle()).toEqual([['a', 7]]);
    expect(budget.settle()).toEqual([]);
    expect(lines('a', 1)).toEqual([0]);
  });

  it('returns the number of omitted lines at shutdown', () => {
    lines('a', 4);
    expect(budget.settle(Infinity)).toEqual([['a', 1]]);
  });
});
