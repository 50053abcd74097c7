import { AuthException } from '../../foundation/platform/errors';

export type PasskeyRefusal = 'not_verified' | 'not_registered' | 'not_yours';

/** A passkey was refused: 422 under `credential`, the same for every reason within an outcome. */
export class PasskeyRefused extends AuthException {
  constructor(refusal: PasskeyRefusal) {
    super(`passkey_${refusal}`, { status: 422, errors: { credential: [{ key: `auth.passkey_${refusal}` }] } });
  }
}

/** The caller has no passkey of this id: 404, the same for one that is somebody else's. */
export class PasskeyNotFound extends AuthException {
  constructor() {
    super('no_such_passkey', { status: 404, text: { key: 'auth.not_found' } });
  }
}
