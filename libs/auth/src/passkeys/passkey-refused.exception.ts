import { AuthException } from '../kernel/auth.exception';

export type PasskeyRefusal = 'not_verified' | 'not_registered' | 'not_yours';

/** A passkey was refused: 422 under `credential`, the same for every reason within an outcome. */
export class PasskeyRefused extends AuthException {
  constructor(refusal: PasskeyRefusal) {
    super(`passkey_${refusal}`, { status: 422, errors: { credential: [{ key: `auth.passkey_${refusal}` }] } });
  }
}
