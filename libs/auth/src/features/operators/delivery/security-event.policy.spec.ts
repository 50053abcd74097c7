import {
  type PushOutcome,
  caepClaims,
  isRevocation,
  askedPause,
  nextAttempt,
  pushOutcome,
  pauseAfter,
} from './security-event.policy';

const ISSUER = 'https://auth.example.com';
const USER = { format: 'iss_sub', iss: ISSUER, sub: '7' };
const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';

describe('the claims of a security event', () => {
  it('name the session that has ended, and its user', () => {
    expect(caepClaims({ userId: '7', sessionId: 's', reason: 'reuse' }, ISSUER, 1700)).toEqual({
      sub_id: { format: 'complex', user: USER, session: { format: 'opaque', id: 's' } },
      events: { [`${CAEP}/session-revoked`]: { event_timestamp: 1700, reason_admin: { en: 'reuse' } } },
    });
  });

  it('name the credential that has changed', () => {
    expect(caepClaims({ userId: '7', credential: { credential: 'app', change: 'delete' } }, ISSUER, 1700)).toEqual({
      sub_id: USER,
      events: {
        [`${CAEP}/credential-change`]: { event_timestamp: 1700, credential_type: 'app', change_type: 'delete' },
      },
    });
  });
});

describe('the end of a session', () => {
  it.each([
    ['logout', true],
    ['revoked', true],
    ['erased', true],
    ['disabled', true],
    ['cap', true],
    ['expired', false],
    ['idle', false],
  ] as const)('with the reason %s is a revocation: %s', (reason, is) => {
    expect(isRevocation(reason)).toBe(is);
  });
});

describe('an answer of a receiver', () => {
  it.each<[number, PushOutcome]>([
    [202, 'accepted'],
    [200, 'accepted'],
    [204, 'accepted'],
    [400, 'refused'],
    [100, 'failed'],
    [301, 'failed'],
    [307, 'failed'],
    [401, 'failed'],
    [404, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
  ])('with the status %d is %s', (status, outcome) => {
    expect(pushOutcome(status)).toBe(outcome);
  });

  it.each<[PushOutcome, number, number | null]>([
    ['failed', 1, 2],
    ['failed', 4, 16],
    ['failed', 9, 300],
    ['failed', 5000, 300],
    ['refused', 1, 2],
    ['refused', 9, 300],
    ['refused', 10, null],
  ])('that is %s at attempt %d is followed by another one after %p seconds', (outcome, attempts, seconds) => {
    expect(nextAttempt(outcome, attempts)).toBe(seconds);
  });

  it.each<[string | null, number]>([
    [null, 0],
    ['', 0],
    ['soon', 0],
    ['-5', 0],
    ['0', 0],
    ['120', 120],
    ['999999999', 3600],
    ['Sat, 28 Nov 2026 00:01:00 GMT', 60],
    ['Fri, 27 Nov 2026 00:01:00 GMT', 0],
  ])('whose receiver sends Retry-After %j waits for %d seconds or more', (header, seconds) => {
    expect(askedPause(header, new Date('2026-11-28T00:00:00Z'))).toBe(seconds);
    expect(nextAttempt('failed', 1, seconds)).toBe(Math.max(seconds, 2));
  });

  it('that is refused gets its last attempt when caches of the public keys have ended', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(pauseAfter);
    expect(pauses.reduce((sum, seconds) => sum + seconds)).toBeGreaterThan(600);
  });
});
