import { AuthException } from '../kernel/auth.exception';

/** The credentials are right, but the account's email is not verified and `blockUnverifiedLogin` is on: 403. */
export class UnverifiedLogin extends AuthException {
  constructor() {
    super('unverified_login', { status: 403, text: { key: 'auth.unverified_login' } });
  }

  /** Whoever gets here guessed nothing. */
  override get isUndecided(): boolean {
    return true;
  }
}
