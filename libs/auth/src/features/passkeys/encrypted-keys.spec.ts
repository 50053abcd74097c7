import { Encryption } from '../../foundation/platform/crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Realm } from '../../foundation/realm/realm';
import { EncryptedKeys } from './passkey.store';

const KEY = 'a-key-of-encryption-at-rest-0123456789';
const NEXT = 'the-next-key-of-encryption-at-rest-0123';
const keysOf = (guard: string, ...keys: string[]): EncryptedKeys =>
  new EncryptedKeys(new Encryption(keys.length ? keys : [KEY]), new Realm({ guard } as GuardConfig));

describe('an encrypted public key', () => {
  const owner = { credentialId: 'AAAA', userId: '1' };
  const key = Buffer.from('the public key');
  const sealed = keysOf('api').encrypt(owner, key);

  it('is decrypted for its own guard, user and passkey, also with a former encryption key', () => {
    expect(Buffer.from(keysOf('api').decrypt(owner, sealed))).toEqual(key);
    expect(Buffer.from(keysOf('api', NEXT, KEY).decrypt(owner, sealed))).toEqual(key);
  });

  it.each<[string, EncryptedKeys, typeof owner]>([
    ['another guard', keysOf('admin'), owner],
    ['another user', keysOf('api'), { ...owner, userId: '2' }],
    ['another passkey', keysOf('api'), { ...owner, credentialId: 'AAAB' }],
    ['another encryption key', keysOf('api', NEXT), owner],
  ])('causes an error when it is decrypted for %s', (_, keys, wrongOwner) => {
    expect(() => keys.decrypt(wrongOwner, sealed)).toThrow(
      `The public key of the passkey ${wrongOwner.credentialId} cannot be`,
    );
  });
});
