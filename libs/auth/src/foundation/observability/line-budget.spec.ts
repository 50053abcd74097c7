import { LineBudget } from './security-log';

describe('the budget of a log', () => {
  let now: number;
  let budget: LineBudget;
  beforeEach(() => {
    now = 0;
    budget = new LineBudget(3, () => now);
  });
  const lines = (kind: string, count: number) => Array.from({ length: count }, () => budget.admit(kind));

  it('admits so many lines of a kind a minute', () => {
    expect(lines('a', 5)).toEqual([0, 0, 0, null, null]);
  });

  it('is of each kind alone', () => {
    lines('a', 100);
    expect(lines('b', 2)).toEqual([0, 0]);
  });

  it('tells with the next line how many were left out', () => {
    lines('a', 10);
    now = 59_999;
    expect(lines('a', 1)).toEqual([null]);
    now = 60_000;
    expect(lines('a', 2)).toEqual([8, 0]);
  });

  it('tells it without a further line too, once', () => {
    lines('a', 10);
    lines('b', 1);
    expect(budget.settle()).toEqual([]);
    now = 60_000;
    expect(budget.settle()).toEqual([['a', 7]]);
    expect(budget.settle()).toEqual([]);
    expect(lines('a', 1)).toEqual([0]);
  });

  it('tells at the end what it has', () => {
    lines('a', 4);
    expect(budget.settle(Infinity)).toEqual([['a', 1]]);
  });
});
