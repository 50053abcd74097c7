import * as fc from 'fast-check';
import { ValidationFailed } from '../../foundation/platform/errors';
import { rememberIn } from '../../request/http/request-body';
import { type SessionLife, type SessionLifeRequest, sessionLife, sessionLifeErrors } from './rotation.policy';

const HOUR = 3600;
const DAY = 24 * HOUR;
const sessions = { maxPerUser: 100, idleTimeout: 0, ttlWithoutRemember: 0, unusedSuccessorSeconds: 0 };
const neutral = { accessTtl: 900, refreshTtl: 30 * DAY, sessions };
const limited = { ...neutral, sessions: { ...sessions, idleTimeout: HOUR, ttlWithoutRemember: DAY } };

describe('the life of a new session', () => {
  it.each<[string, SessionLifeRequest, typeof neutral, SessionLife]>([
    ['is that of the guard', {}, neutral, { ttl: 30 * DAY, idleTimeout: null, remembered: true }],
    [
      'without remember is that of the guard by default',
      { remember: false },
      neutral,
      { ttl: 30 * DAY, idleTimeout: null, remembered: true },
    ],
    [
      'without remember is shorter with the option',
      { remember: false },
      limited,
      { ttl: DAY, idleTimeout: null, remembered: false },
    ],
    [
      'with remember is that of the guard',
      { remember: true },
      limited,
      { ttl: 30 * DAY, idleTimeout: null, remembered: true },
    ],
    ['can be shortened', { ttl: 900, idleTimeout: 901 }, neutral, { ttl: 900, idleTimeout: 901, remembered: true }],
    [
      'can be shortened to the limits',
      { ttl: 30 * DAY, idleTimeout: HOUR },
      limited,
      { ttl: 30 * DAY, idleTimeout: HOUR, remembered: true },
    ],
    [
      'without remember can be shortened more',
      { ttl: HOUR, remember: false },
      limited,
      { ttl: HOUR, idleTimeout: null, remembered: false },
    ],
    [
      'without remember is not lengthened',
      { ttl: 7 * DAY, remember: false },
      limited,
      { ttl: DAY, idleTimeout: null, remembered: false },
    ],
    [
      'without remember is not longer than that of its guard',
      { remember: false },
      { ...limited, refreshTtl: HOUR },
      { ttl: HOUR, idleTimeout: null, remembered: false },
    ],
  ])('%s', (_, asked, options, life) => expect(sessionLife(asked, options)).toEqual(life));

  it.each<[string, unknown, RegExp]>([
    [
      'a deadline beyond that of the guard',
      { ttl: 30 * DAY + 1 },
      /^ttl of a session must be .* from 900 to 2592000 \(accessTtl to refreshTtl\)/,
    ],
    ['a deadline before the access token expires', { ttl: 899 }, /^ttl/],
    ['a deadline of 0', { ttl: 0 }, /^ttl/],
    ['a fraction', { ttl: 1000.5 }, /^ttl/],
    ['a text', { ttl: '3600' }, /^ttl/],
    ['null', { ttl: null }, /^ttl/],
    ['NaN', { idleTimeout: NaN }, /^idleTimeout/],
    [
      'an idle time beyond that of the guard',
      { idleTimeout: HOUR + 1 },
      /^idleTimeout .* from 901 to 3600 \(more than accessTtl to sessions.idleTimeout\)/,
    ],
    ['an idle time in which no client refreshes', { idleTimeout: 900 }, /^idleTimeout/],
    ['an unlimited idle time', { idleTimeout: Infinity }, /^idleTimeout/],
    ['a text for remember', { remember: 'false' }, /^remember of a session must be a boolean/],
    ['null for remember', { remember: null }, /^remember/],
  ])('cannot have %s', (_, asked, message) => {
    expect(sessionLife(asked as SessionLifeRequest, limited)).toMatch(message);
  });

  it('is never longer than the options allow, whatever is asked', () => {
    const seconds = fc.option(fc.integer({ min: -10, max: 40 * DAY }), { nil: undefined });
    const asked = fc.record({
      ttl: seconds,
      idleTimeout: seconds,
      remember: fc.option(fc.boolean(), { nil: undefined }),
    });
    fc.assert(
      fc.property(asked, fc.constantFrom(neutral, limited), (request, options) => {
        const life = sessionLife(request, options);
        if (typeof life === 'string') return;
        expect(life.ttl).toBeLessThanOrEqual(request.ttl ?? options.refreshTtl);
        const { ttlWithoutRemember, idleTimeout } = options.sessions;
        const isShort = request.remember === false && ttlWithoutRemember > 0;
        expect(life.ttl).toBeLessThanOrEqual(isShort ? ttlWithoutRemember : options.refreshTtl);
        expect(life.idleTimeout ?? 0).toBeLessThanOrEqual(idleTimeout || options.refreshTtl);
      }),
    );
  });
});

describe('the field remember of a sign-in', () => {
  const read = (remember: unknown, options = limited) => rememberIn({ body: { remember } }, options);

  it.each([
    [true, true],
    [false, false],
    ['true', true],
    ['on', true],
    ['1', true],
    [' FALSE ', false],
    ['off', false],
    ['0', false],
    [undefined, true],
    [null, true],
    ['', true],
  ])('with %j is read as %j', (value, result) => expect(read(value)).toBe(result));

  it.each([[0], [1], ['maybe'], [[]], [{}], [['false']]])('with %j is refused', (value) => {
    expect(() => read(value)).toThrow(ValidationFailed);
  });

  it.each([[false], ['maybe'], [{}]])('with %j has no effect without the option', (value) => {
    expect(read(value, neutral)).toBe(true);
  });

  it('is true without a body', () => {
    for (const request of [{}, { body: null }, { body: 'text' }, { body: [false] }])
      expect(rememberIn(request, limited)).toBe(true);
  });
});

describe('the lives of sessions', () => {
  const errors = (accessTtl: number, own: Partial<typeof sessions>, graceSeconds = 30) =>
    sessionLifeErrors({
      guards: [
        {
          accessTtl,
          graceSeconds,
          rateLimits: { refresh: { by: 'address' } },
          sessions: { ...sessions, ...own },
          nameOf: (name: string) => name,
        },
      ] as never,
    });

  it('are accepted if clients in use refresh in time', () => {
    expect(errors(900, {})).toEqual([]);
    expect(errors(900, { idleTimeout: 901, ttlWithoutRemember: 900 })).toEqual([]);
    expect(errors(900, { unusedSuccessorSeconds: 300 })).toEqual([]);
    expect(errors(900, {}, 0)).toEqual([]);
  });

  it('are refused at the start with a correction otherwise', () => {
    expect(errors(900, { idleTimeout: 900 })).toEqual([
      expect.stringMatching(
        /^sessions.idleTimeout \(SVC_SESSIONS_IDLE_TIMEOUT\) is 900, but .* Set an idle time longer than accessTtl/,
      ),
    ]);
    expect(errors(900, { ttlWithoutRemember: 899 })).toEqual([
      expect.stringMatching(
        /^sessions.ttlWithoutRemember \(SVC_SESSIONS_TTL_WITHOUT_REMEMBER\) is 899, but .* Set a time that is not shorter/,
      ),
    ]);
    const late = 'sessions.unusedSuccessorSeconds (SVC_SESSIONS_UNUSED_SUCCESSOR_SECONDS) is';
    expect(errors(900, { unusedSuccessorSeconds: 301 })).toEqual([
      `${late} 301, but at most 300 is allowed: a third of accessTtl.`,
    ]);
    expect(errors(900, { unusedSuccessorSeconds: 60 }, 0)).toEqual([
      `${late} 60, but graceSeconds is 0, so no replaced token is accepted. Change one of them.`,
    ]);
  });
});
