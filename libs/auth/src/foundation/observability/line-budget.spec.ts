import { LineBudget, kindOf } from './security-log';

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

describe('the lines that share a limit', () => {
  const who = { guard: 'api', user_id: '7', session_id: 's', ip: '192.0.2.1', purpose: 'logout' };

  it.each([
    [
      'refusals of all users with one reason',
      { event: 'auth.login.failed', reason: 'wrong_password', ...who },
      { event: 'auth.login.failed', reason: 'wrong_password', guard: 'api' },
    ],
    [
      'refusals by gates',
      { event: 'auth.guard.refused', reason: 'expired_token', operation: 'logout', ...who },
      { event: 'auth.guard.refused', reason: 'expired_token', guard: 'api' },
    ],
    [
      'successes of one user',
      { event: 'auth.login.succeeded', ...who },
      { event: 'auth.login.succeeded', guard: 'api', user_id: '7' },
    ],
    [
      'events of one session whose user is unknown',
      { event: 'auth.refresh_token.reused', session_id: 's' },
      { event: 'auth.refresh_token.reused', session_id: 's' },
    ],
    [
      'successes of one client whose user is unknown',
      { event: 'auth.password_forgot.succeeded', guard: 'api', ip: '203.0.113.7' },
      { event: 'auth.password_forgot.succeeded', guard: 'api', ip: '203.0.113.7' },
    ],
    [
      'events without all three',
      { event: 'auth.mail.failed', guard: 'api' },
      { event: 'auth.mail.failed', guard: 'api' },
    ],
  ] as const)('are %s', (_, line, kind) => expect(kindOf(line)).toEqual(kind));
});
