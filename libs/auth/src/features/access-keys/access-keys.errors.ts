import { errors } from '../../kit';
import { accessKeysText } from './access-keys.texts';

/** The user has as many access keys as `accessKeys.maxPerUser` allows: 409. */
export class TooManyKeys extends errors.AuthException {
  constructor() {
    super('too_many_keys', { status: 409, text: accessKeysText('auth.too_many_keys') });
  }
}

/** The signature of a report about leaked secrets is not valid: 401. Nothing was revoked. */
export class BadScannerSignature extends errors.AuthException {
  constructor() {
    super('bad_scanner_signature', { status: 401, text: { key: 'auth.unauthenticated' } });
  }
}

/** The reasons of the refusals, for the manifest: see `Reasons`. */
export const ACCESS_KEY_REASONS = {
  invalid_key: 'the text is no access key with the prefix of the guard, or it has a typo',
  unknown_key: 'no access key of the guard has the id, or its row was deleted',
  wrong_key: 'the secret of the access key is wrong',
  revoked_key: 'the access key was revoked, also by an end of all access to the account',
  expired_key: 'the access key has expired',
  key_owner: 'the owner of the access key does not exist any more, or may not sign in',
  key_network: 'the access key is not accepted from the network of the client',
  too_many_keys: 'the user has as many access keys as allowed',
  bad_scanner_signature: 'the signature of a report about leaked secrets is not valid',
};
