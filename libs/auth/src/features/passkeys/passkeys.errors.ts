import { errors } from '../../kit';
import { passkeyText } from './passkeys.texts';

export type PasskeyRefusal = 'not_verified' | 'not_registered' | 'not_yours' | 'unknown';

/**
 * A passkey was refused: 422 under `credential`. The body does not show the cause beyond {@link PasskeyRefusal}. For a passkey
 * that is not stored, it has the reason `unknown_passkey`: the page lets the browser forget it.
 */
export class PasskeyRefused extends errors.AuthException {
  constructor(refusal: PasskeyRefusal) {
    super(`passkey_${refusal}`, {
      status: 422,
      errors: { credential: [passkeyText(`auth.passkey_${refusal}`)] },
      ...(refusal === 'unknown' && { reason: 'unknown_passkey' }),
    });
  }
}

/** The password alone is not enough, and the user has a passkey: 422 under `password`. Nothing was checked or counted. */
export class PasskeyConfirmationRequired extends errors.AuthException {
  constructor() {
    super('validation_failed', { status: 422, errors: { password: [passkeyText('auth.confirm_with_passkey')] } });
  }
}

/**
 * The passkey is the only way in which its user can sign in, and `passkeys.keepLast` applies: 409. Nothing was deleted. The
 * user can set a password (`POST /password`) or add another passkey first.
 */
export class LastPasskey extends errors.AuthException {
  constructor() {
    super('last_passkey', { status: 409, text: passkeyText('auth.last_passkey') });
  }
}

/** The caller has no passkey with this id: 404, also for a passkey of another user. */
export class PasskeyNotFound extends errors.AuthException {
  constructor() {
    super('no_such_passkey', { status: 404, text: { key: 'auth.not_found' } });
  }
}
