import { AuthException } from '../../foundation/platform/errors';

/** The request needs a recent proof of identity: 423 with the RFC 9470 challenge. */
export class ConfirmationRequired extends AuthException {
  /** @param maxAge seconds one proof is good for */
  constructor(maxAge: number) {
    super('confirmation_required', {
      status: 423,
      text: { key: 'auth.confirmation_required' },
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age=${maxAge}` },
    });
  }
}

/** The proof was earned by another session of the user: 423, and the client is told to earn one of its own. */
export class ConfirmationOfAnotherSession extends AuthException {
  constructor() {
    super('confirmation_session_mismatch', {
      status: 423,
      text: { key: 'auth.confirmation_required' },
      reason: 'confirmation_session_mismatch',
    });
  }
}

/** The signed-in user's own password is wrong: 422 under the field that carried it. */
export class WrongPassword extends AuthException {
  constructor(field: string) {
    super('wrong_password', { status: 422, errors: { [field]: [{ key: 'auth.wrong_password' }] } });
  }
}
