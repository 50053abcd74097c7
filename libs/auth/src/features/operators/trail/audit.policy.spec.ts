import { type HistoryQuery, causerOf, enderOf, invalidField, isTaken, outcomeOf } from './audit.policy';

const OPERATOR = { kind: 'operator', guard: 'admin', id: '7' } as const;

describe('who ended a session', () => {
  it.each([
    ['logout', undefined, true, 'user'],
    ['logout', undefined, false, 'user'],
    ['password_change', undefined, false, 'user'],
    ['revoked', undefined, true, 'user'],
    ['revoked', undefined, false, 'host'],
    ['erased', undefined, true, 'user'],
    ['erased', undefined, false, 'host'],
    ['revoked', OPERATOR, true, 'operator'],
    ['erased', OPERATOR, false, 'operator'],
    ['cap', OPERATOR, true, 'system'],
    ['reuse', undefined, true, 'system'],
    ['expired', undefined, false, 'system'],
    ['idle', undefined, true, 'system'],
    ['disabled', undefined, true, 'system'],
    ['discarded', undefined, true, 'system'],
  ] as const)('%s, by %j, in a request: %s', (reason, acting, inRequest, kind) => {
    expect(enderOf(reason, acting, inRequest).kind).toBe(kind);
  });
});

describe('who caused a line', () => {
  it.each([
    ['auth.login.failed', undefined, false, 'user'],
    ['auth.passkey.added', undefined, true, 'user'],
    ['auth.access_key.new_network', undefined, false, 'system'],
    ['auth.passkey.removed', OPERATOR, false, 'operator'],
  ] as const)('%s', (name, acting, inRequest, kind) => {
    expect(causerOf(name, acting, inRequest).kind).toBe(kind);
  });
});

describe('a line of the security log', () => {
  it.each([
    ['auth.passkey.added', '1', undefined, false, true],
    ['auth.passkey.added', undefined, undefined, false, false],
    ['auth.session.started', '1', undefined, false, false],
    ['auth.session.ended', '1', undefined, false, false],
    ['auth.session.forked', '1', undefined, false, true],
    ['auth.sessions_end_all.succeeded', '1', undefined, false, true],
    ['auth.login.succeeded', '1', undefined, true, false],
    ['auth.login.challenged', '1', undefined, false, true],
    ['auth.login.failed', '1', 'wrong_password', false, true],
    ['auth.login.failed', '1', 'store_unavailable', false, false],
    ['auth.password_change.failed', '1', 'validation_failed', false, false],
    ['auth.guard.refused', '1', 'expired_token', false, false],
    ['auth.operator.suspended', '1', undefined, false, false],
  ] as const)(
    '%s of the user %s with the reason %s becomes one of a history: %#',
    (name, user_id, reason, starts, is) => {
      expect(isTaken({ event: name as 'auth.login.failed', user_id, reason }, starts)).toBe(is);
    },
  );

  it('has the outcome of its name; an event is a success', () => {
    const names = ['auth.login.failed', 'auth.login.challenged', 'auth.logout.succeeded', 'auth.passkey.added'];
    expect(names.map(outcomeOf)).toEqual(['failed', 'challenged', 'succeeded', 'succeeded']);
  });
});

describe('a query of a history', () => {
  const ID = '0006449a-1f2e-3d4c-5b6a-798897a6b5c4';
  it.each<[query: { [Name in keyof HistoryQuery]: unknown }, field: string | null]>([
    [{}, null],
    [{ before: ID, limit: '100' }, null],
    [{ before: null, limit: 1 }, null],
    [{ before: ID.toUpperCase() }, 'before'],
    [{ before: [ID] }, 'before'],
    [{ before: 'x', limit: 'x' }, 'before'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 101 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: '1e1' }, 'limit'],
    [{ limit: ['1'] }, 'limit'],
    [{ limit: null }, 'limit'],
  ])('%j', (query, field) => {
    expect(invalidField({ before: query.before, limit: query.limit })).toBe(field);
  });
});
