import { resolveRateLimits } from '../../foundation/config/options.testkit';
import type { LimitRule, LimiterContext } from '../../foundation/ports/limiter';
import { FEATURES } from '../../features';
import { statedBy } from '../../foundation/realm/feature';
import { type Caller, recordCaller } from '../../identity/tokens/caller';
import { Grant } from '../../identity/users/grant';

const LIMITERS = statedBy(FEATURES, ({ limits }) => limits);

// All numbers are different, so that a limiter with the number of another limiter fails the test.
const LIMITS = resolveRateLimits({
  login: { maxAttempts: 1, decaySeconds: 2, ipMaxAttempts: 3, accountMaxAttempts: 4 },
  twoFactor: { maxAttempts: 5, decaySeconds: 6 },
  confirm: { maxAttempts: 7, decaySeconds: 8 },
  refresh: { maxAttempts: 9, decaySeconds: 10 },
  passkeys: { maxAttempts: 11, decaySeconds: 12 },
  emailVerification: { maxAttempts: 13, decaySeconds: 14 },
  passwordReset: { maxAttempts: 15, decaySeconds: 16 },
  registration: { maxAttempts: 17, decaySeconds: 18 },
  emailCode: { maxAttempts: 19, decaySeconds: 20 },
  emailChange: { maxAttempts: 21, decaySeconds: 22 },
  usernameChange: { maxAttempts: 23, decaySeconds: 24 },
  mailedLinks: { maxAttempts: 25, decaySeconds: 26 },
  identities: { maxAttempts: 27, decaySeconds: 28 },
  operators: { maxAttempts: 29, decaySeconds: 30 },
  accessKeys: { maxAttempts: 29, decaySeconds: 30 },
});

// Contains values that a limiter must not use as a key.
const REQUEST = {
  ip: '198.51.100.1',
  body: { email: 'ada@example.com', username: 'ada', password: 'secret', refresh_token: 'token' },
  headers: { authorization: 'Bearer token', 'x-forwarded-for': '198.51.100.2' },
  user: { id: 'of the request' },
};
const ANONYMOUS: LimiterContext = { guard: 'api', client: '203.0.113.7', userId: null };
const USER: LimiterContext = { ...ANONYMOUS, userId: '7' };

const rules = (name: string, context: LimiterContext, request: unknown = REQUEST): LimitRule[] =>
  [LIMITERS.get(name)!(LIMITS)(request, context)].flat() as LimitRule[];

const NUMBERS: [name: string, maxAttempts: number, decaySeconds: number][] = [
  ['svc-login', 3, 2],
  ['svc-refresh', 9, 10],
  ['svc-2fa', 5, 6],
  ['svc-2fa-setup', 10, 6],
  ['svc-2fa-confirm', 10, 6],
  ['svc-passkeys', 11, 12],
  ['svc-passkey-setup', 11, 12],
  ['svc-confirm', 7, 8],
  ['svc-key-create', 14, 8],
  ['svc-email-verification', 13, 14],
  ['svc-password-reset', 15, 16],
  ['svc-register', 17, 18],
  ['svc-email-code', 19, 20],
  ['svc-email-change', 21, 22],
  ['svc-username-change', 23, 24],
  ['svc-mailed-links', 25, 26],
  ['svc-identities', 27, 28],
  ['svc-operators', 29, 30],
];
/** Only authenticated users reach their routes. */
const BY_USER_ONLY = ['svc-2fa-confirm', 'svc-passkey-setup', 'svc-key-create'];
const BY_CLIENT = NUMBERS.filter(([name]) => !BY_USER_ONLY.includes(name));
const BY_USER = [
  'svc-2fa-setup',
  'svc-confirm',
  'svc-email-verification',
  'svc-email-change',
  'svc-username-change',
  'svc-operators',
];

describe('the library`s limiters', () => {
  it('have exactly these names', () =>
    expect([...LIMITERS.keys()].sort()).toEqual([...NUMBERS.map(([name]) => name), 'svc-key'].sort()));

  it('of svc-key count the requests with an access key by its id, and no other request', () => {
    expect(rules('svc-key', USER)).toEqual([]);
    const caller = {
      guard: 'api',
      userId: '7',
      familyId: null,
      grant: new Grant([]),
      claims: {},
      user: {},
      keyId: 'k',
    };
    const request = { ...REQUEST };
    recordCaller(request, caller as unknown as Caller);
    expect(rules('svc-key', USER, request)).toEqual([{ key: 'key|k', maxAttempts: 29, decaySeconds: 30 }]);
  });

  it.each(NUMBERS)('of %s allow a client %d attempts in %d seconds', (name, maxAttempts, decaySeconds) => {
    expect(rules(name, ANONYMOUS)).toEqual([{ key: 'ip|203.0.113.7', maxAttempts, decaySeconds }]);
  });

  it.each(NUMBERS.filter(([name]) => BY_USER.includes(name)))(
    'of %s allow a user the same number from all clients together: %d in %d seconds',
    (name, maxAttempts, decaySeconds) => {
      expect(rules(name, USER)).toEqual([
        { key: 'ip|203.0.113.7', maxAttempts, decaySeconds },
        { key: 'user|api|7', maxAttempts, decaySeconds, ofUser: true },
      ]);
    },
  );

  it.each(NUMBERS.filter(([name]) => BY_USER_ONLY.includes(name)))(
    'of %s count by user only: %d in %d seconds',
    (name, maxAttempts, decaySeconds) =>
      expect(rules(name, USER)).toEqual([{ key: 'user|api|7', maxAttempts, decaySeconds, ofUser: true }]),
  );

  it.each([...BY_USER, ...BY_USER_ONLY])('of %s separate users and guards', (name) => {
    const keys = [USER, { ...USER, userId: '8' }, { ...USER, guard: 'admin' }].map(
      (context) => rules(name, context).at(-1)!.key,
    );
    expect(new Set(keys).size).toBe(3);
  });

  it.each(BY_CLIENT.filter(([name]) => !BY_USER.includes(name)))('of %s count by client only', (name) => {
    expect(rules(name, USER)).toEqual(rules(name, ANONYMOUS));
    expect(rules(name, { ...USER, guard: 'admin', userId: '8' })).toEqual(rules(name, ANONYMOUS));
  });

  it.each(NUMBERS)('of %s separate clients', (name) => {
    expect(rules(name, { ...ANONYMOUS, client: '203.0.113.8' })[0]!.key).toBe('ip|203.0.113.8');
  });

  it.each(NUMBERS)('of %s do not use the request', (name) => {
    for (const request of [undefined, null, {}, { body: null }, 'text']) {
      expect(rules(name, USER, request)).toEqual(rules(name, USER));
    }
  });
});
