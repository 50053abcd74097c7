import { sha256 } from '../../foundation/platform/crypto';
import { LOCK_PURPOSES, loginLock, userLock } from './lockout.store';

const hashed = (text: string): string => `sha256:${sha256(text)}`;
const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

describe('the lock of a login', () => {
  it.each<[string, string | null, string, string]>([
    ['is that of the account, whatever the identifier', '7', ' ADA@example.com', 'id:7'],
    ['is that of the account without an identifier', '7', '', 'id:7'],
    ['uses the id unchanged', ULID, 'ada', `id:${ULID}`],
    ['differs for an id in another case', ULID.toLowerCase(), 'ada', `id:${ULID.toLowerCase()}`],
    ['contains an id of 190 bytes', 'x'.repeat(190), 'ada', `id:${'x'.repeat(190)}`],
    ['hashes a longer id', 'x'.repeat(191), 'ada', `id:${hashed('x'.repeat(191))}`],
    ['is that of the identifier without an account', null, 'ada@example.com', 'idn:ada@example.com'],
    ['contains the spelling of an identifier unchanged', null, 'Ada', 'idn:Ada'],
    ['differs for a look-alike identifier', null, '\u0430da@example.com', 'idn:\u0430da@example.com'],
    ['hashes an identifier that is too long', null, 'x'.repeat(191), `idn:${hashed('x'.repeat(191))}`],
    ['is empty without account and identifier', null, '', ''],
    ['is that of the identifier if it looks like an account key', null, 'id:7', 'idn:id:7'],
  ])('%s', (_, userId, identifier, subject) => {
    expect(loginLock(userId, identifier)).toEqual({ purpose: 'login', subject });
  });

  it('fits into its column for any input', () => {
    for (const text of ['x'.repeat(190), 'x'.repeat(191), 'я'.repeat(1000), '😀'.repeat(100)]) {
      for (const { subject } of [loginLock(text, ''), loginLock(null, text)]) {
        expect(Buffer.byteLength(subject)).toBeLessThanOrEqual(255);
      }
    }
  });
});

describe('the lock of a user', () => {
  it.each<['two_factor' | 'confirm', string, string]>([
    ['two_factor', '7', '7'],
    ['confirm', '7', '7'],
    ['two_factor', ULID, ULID],
    ['confirm', ` ${ULID.toLowerCase()}`, ` ${ULID.toLowerCase()}`],
    ['confirm', 'x'.repeat(191), hashed('x'.repeat(191))],
    ['two_factor', '', ''],
  ])('for %s with the id "%s" has the subject "%s"', (purpose, id, subject) => {
    expect(userLock(purpose, id)).toEqual({ purpose, subject });
  });
});

describe('the purposes of locks', () => {
  it('are login, two_factor and confirm', () => expect(LOCK_PURPOSES).toEqual(['login', 'two_factor', 'confirm']));
});
