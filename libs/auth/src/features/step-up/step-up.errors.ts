import { AuthException } from '../../foundation/platform/errors';

/** The request needs a valid confirmation token: 423 with the challenge of RFC 9470. */
export class ConfirmationRequired extends AuthException {
  /** @param maxAge lifetime of a confirmation token in seconds */
  constructor(maxAge: number) {
    super('confirmation_required', {
      status: 423,
      text: { key: 'auth.confirmation_required' },
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age=${maxAge}` },
    });
  }
}

/** The confirmation token was issued to another session of the user: 423. The client has to confirm in its own session. */
export class ConfirmationOfAnotherSession extends AuthException {
  constructor() {
    super('confirmation_session_mismatch', {
      status: 423,
      text: { key: 'auth.confirmation_required' },
      reason: 'confirmation_session_mismatch',
    });
  }
}

/** The current password is wrong: 422 under the field of the password. */
export class WrongPassword extends AuthException {
  constructor(field: string) {
    super('wrong_password', { status: 422, errors: { [field]: [{ key: 'auth.wrong_password' }] } });
  }
}
