import {
  type RequiredFactor,
  type SignInClaims,
  confirmationVerdict,
  hasSignedInWith,
  isRecentPasswordLogin,
  isRecentSignIn,
} from './step-up.policy';

describe('a confirmation token', () => {
  const ada = { userId: '1', familyId: 'f' };
  it.each<[string, { sub: string; fid?: string } | null, { userId: string; familyId: string | null }, string]>([
    ['is valid for the same user and session', { sub: '1', fid: 'f' }, ada, 'confirmed'],
    ['is missing', null, ada, 'missing'],
    ['of another user is not valid', { sub: '2', fid: 'f' }, ada, 'missing'],
    ['of a similar user id is not valid', { sub: '01', fid: 'f' }, ada, 'missing'],
    ['of another session is not valid', { sub: '1', fid: 'g' }, ada, 'other_session'],
    ['of a session id in another case is not valid', { sub: '1', fid: 'F' }, ada, 'other_session'],
    ['without a session is not valid for a session', { sub: '1' }, ada, 'other_session'],
    [
      'of a session is not valid for a caller without a session',
      { sub: '1', fid: 'f' },
      { userId: '1', familyId: null },
      'other_session',
    ],
    [
      'without a session is valid for a caller without a session',
      { sub: '1' },
      { userId: '1', familyId: null },
      'confirmed',
    ],
    ['of another user and session is not valid', { sub: '2', fid: 'g' }, ada, 'missing'],
  ])('%s', (_, proof, caller, verdict) => expect(confirmationVerdict(proof, caller)).toBe(verdict));
});

describe('a sign-in', () => {
  const NOW = 1_000_000;
  const recent = { authTime: NOW - 299, amr: ['pwd'], isPinned: false, hasActor: false };
  it.each<[string, Partial<SignInClaims>, boolean]>([
    ['counts as a confirmation within its lifetime', {}, true],
    ['counts in the second in which it happened', { authTime: NOW }, true],
    ['does not count when the lifetime has ended', { authTime: NOW - 300 }, false],
    ['does not count with a time in the future', { authTime: NOW + 1 }, false],
    ['does not count without a time', { authTime: undefined }, false],
    ['does not count with a text as its time', { authTime: String(NOW) }, false],
    ['does not count without authentication methods', { amr: [] }, false],
    ['does not count without a list of authentication methods', { amr: 'pwd' }, false],
    ['does not count for a pinned session', { isPinned: true }, false],
    ['does not count while another party acts for the user', { hasActor: true }, false],
  ])('%s', (_, change, expected) => expect(isRecentSignIn({ ...recent, ...change }, 300, NOW)).toBe(expected));

  it.each([
    ['counts with a time that is ahead by the leeway', NOW + 5, true],
    ['does not count with a time that is ahead by more', NOW + 6, false],
    ['does not count longer because of the leeway', NOW - 300, false],
  ])('%s', (_, authTime, expected) => expect(isRecentSignIn({ ...recent, authTime }, 300, NOW, 5)).toBe(expected));

  it.each<[string, Partial<SignInClaims>, boolean]>([
    ['with the password allows a passkey without a question', {}, true],
    ['with the password and a code does, too', { amr: ['pwd', 'otp'] }, true],
    ['with a passkey does not', { amr: ['webauthn'] }, false],
    ['of another provider does not', { amr: ['fed'] }, false],
    ['without methods does not', { amr: [] }, false],
    ['with a text as methods does not', { amr: 'pwd' }, false],
    ['of a pinned session does not', { isPinned: true }, false],
    ['in which another party acts does not', { hasActor: true }, false],
    ['that is too old does not', { authTime: NOW - 300 }, false],
  ])('%s', (_, change, expected) => expect(isRecentPasswordLogin({ ...recent, ...change }, 300, NOW)).toBe(expected));

  it.each([
    [NOW + 5, true],
    [NOW + 6, false],
  ])('with the password at %s counts with a leeway of 5 seconds: %s', (authTime, expected) =>
    expect(isRecentPasswordLogin({ ...recent, authTime }, 300, NOW, 5)).toBe(expected),
  );
});

describe('a sign-in with a second factor', () => {
  const cases: [amr: unknown, required: RequiredFactor, verifiesUser: boolean, expected: boolean][] = [
    [['pwd', 'otp'], 'otp', true, true],
    [['pwd', 'otp'], 'any', true, true],
    [['pwd', 'otp'], 'webauthn', true, false],
    [['pwd', 'webauthn'], 'webauthn', true, true],
    [['pwd', 'webauthn'], 'any', true, true],
    [['pwd', 'webauthn'], 'otp', true, false],
    [['pwd', 'webauthn'], 'webauthn', false, true],
    [['webauthn'], 'webauthn', true, true],
    [['webauthn'], 'any', true, true],
    // A passkey that may not verify its user is one factor.
    [['webauthn'], 'webauthn', false, false],
    [['webauthn'], 'any', false, false],
    [['webauthn', 'webauthn'], 'any', false, false],
    [['pwd'], 'any', true, false],
    [['pwd'], 'otp', true, false],
    [['fed'], 'any', true, false],
    // A one-time password alone is one factor.
    [['otp'], 'otp', true, false],
    [['otp'], 'any', true, false],
    [['otp', 'webauthn'], 'otp', true, true],
    [['sms', 'otp'], 'otp', true, true],
    [[], 'any', true, false],
    [undefined, 'any', true, false],
    ['pwd otp', 'any', true, false],
    ['otp', 'otp', true, false],
    [{ 0: 'pwd', 1: 'otp', length: 2 }, 'any', true, false],
    [['PWD', 'OTP'], 'any', true, false],
  ];
  it.each(cases)('of the methods %j meets "%s" (user verification required: %s): %s', (amr, required, verifies, met) =>
    expect(hasSignedInWith(required, { amr, isPinned: false, hasActor: false }, verifies)).toBe(met),
  );

  it.each([
    ['a pinned session', { isPinned: true, hasActor: false }],
    ['a session in which another party acts for the user', { isPinned: false, hasActor: true }],
  ])('is not that of %s', (_, session) =>
    expect(hasSignedInWith('any', { amr: ['pwd', 'otp'], ...session }, true)).toBe(false),
  );
});
