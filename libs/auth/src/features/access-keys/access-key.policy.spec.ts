import { FEATURES } from '../../features';
import { type PresentedKey, endsKeys, refusalOfKey } from './access-key.policy';

const GOOD: PresentedKey = {
  isKnown: true,
  isSecret: true,
  isRevoked: false,
  isDenied: false,
  isExpired: false,
  isInNetwork: true,
};

describe('a request with an access key', () => {
  it.each<[string, Partial<PresentedKey>, string | null]>([
    ['that is valid', {}, null],
    ['that is unknown', { isKnown: false }, 'unknown_key'],
    ['with a wrong secret', { isSecret: false }, 'wrong_key'],
    ['with a wrong secret, of another guard', { isSecret: false, isKnown: false }, 'unknown_key'],
    ['with a wrong secret, revoked and expired', { isSecret: false, isRevoked: true, isExpired: true }, 'wrong_key'],
    ['that was revoked', { isRevoked: true }, 'revoked_key'],
    ['that is denied, but whose row was lost in a failover', { isDenied: true }, 'revoked_key'],
    ['that has expired', { isExpired: true }, 'expired_key'],
    ['from another network', { isInNetwork: false }, 'key_network'],
  ])('%s', (_, changed, refusal) => expect(refusalOfKey({ ...GOOD, ...changed })).toBe(refusal));

  it('passes only with no reason against it', () => {
    const facts = Object.keys(GOOD) as (keyof PresentedKey)[];
    for (const one of facts)
      for (const other of facts)
        expect(refusalOfKey({ ...GOOD, [one]: !GOOD[one], [other]: !GOOD[other] })).not.toBeNull();
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
