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
  invalid_key: 'the text is no access key of this prefix',
  unknown_key: 'the guard has no such access key',
  wrong_key: 'the secret of the access key is wrong',
  revoked_key: 'the access key was revoked',
  expired_key: 'the access key has expired',
  key_owner: 'the owner of the access key may not sign in',
  key_network: 'the access key is not accepted from this network',
  too_many_keys: 'the user has `accessKeys.maxPerUser` keys',
  bad_scanner_signature: 'the signature of the secret scanner is wrong',
};
