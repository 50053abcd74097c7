import { type SignIn, confirmationVerdict, isRecentPasswordLogin, isRecentSignIn } from './step-up.policy';

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
  it.each<[string, Partial<SignIn>, boolean]>([
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

  it.each<[string, Partial<SignIn>, boolean]>([
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
});
