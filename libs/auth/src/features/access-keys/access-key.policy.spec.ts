import { FEATURES } from '../../features';
import { type PresentedKey, endsKeys, keyVerdict } from './access-key.policy';

const KEY = { guard: 'api', isSecret: true, isRevoked: false, isExpired: false };
const GOOD: PresentedKey = { key: KEY, isDenied: false, owner: 'allowed', isInNetwork: true, guard: 'api' };
const key = (changed: Partial<typeof KEY>): Partial<PresentedKey> => ({ key: { ...KEY, ...changed } });

describe('a request with an access key', () => {
  it.each<[string, Partial<PresentedKey>, string]>([
    ['that is valid', {}, 'accepted'],
    ['while the denylist is incomplete', { isDenied: null }, 'accepted'],
    ['that is unknown', { key: null }, 'unknown_key'],
    ['of another guard', { guard: 'admin' }, 'unknown_key'],
    ['with a wrong secret', key({ isSecret: false }), 'wrong_key'],
    ['with a wrong secret, of another guard', { ...key({ isSecret: false }), guard: 'admin' }, 'unknown_key'],
    [
      'with a wrong secret, revoked and expired',
      key({ isSecret: false, isRevoked: true, isExpired: true }),
      'wrong_key',
    ],
    ['that was revoked', key({ isRevoked: true }), 'revoked_key'],
    [
      'that was revoked while the denylist is incomplete',
      { ...key({ isRevoked: true }), isDenied: null },
      'revoked_key',
    ],
    ['that is denied, but whose row was lost in a failover', { isDenied: true }, 'revoked_key'],
    ['that has expired', key({ isExpired: true }), 'expired_key'],
    ['of an owner who may not sign in', { owner: 'refused' }, 'key_owner'],
    ['of an owner who was erased', { owner: 'gone' }, 'key_owner'],
    ['from another network', { isInNetwork: false }, 'key_network'],
  ])('%s', (_, changed, verdict) => expect(keyVerdict({ ...GOOD, ...changed })).toBe(verdict));

  it('passes only with no reason against it', () => {
    const bad: Partial<PresentedKey>[] = [
      key({ isSecret: false }),
      key({ isRevoked: true }),
      key({ isExpired: true }),
      { isDenied: true },
      { owner: 'refused' },
      { owner: 'gone' },
      { isInNetwork: false },
      { guard: 'admin' },
      { key: null },
    ];
    for (const one of bad)
      for (const other of bad) expect(keyVerdict({ ...GOOD, ...one, ...other })).not.toBe('accepted');
  });
});

describe('the end of sessions', () => {
  it.each(['others', 'password_change', 'email_change', 'erased'])('keeps the keys: %s', (reason) =>
    expect(endsKeys(reason, FEATURES)).toBe(false),
  );

  it.each(['revoked', 'password_reset', 'email_undo', 'reported', 'of the future'])('ends the keys: %s', (reason) =>
    expect(endsKeys(reason, FEATURES)).toBe(true),
  );
});
