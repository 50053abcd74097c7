import { AuthException } from '../../foundation/platform/errors';

/** The password cannot be reset: 422, the same for an unknown address and for a token that is none, too old or used. */
export class ResetFailed extends AuthException {
  constructor() {
    super('reset_failed', { status: 422, errors: { email: [{ key: 'auth.reset_failed' }] } });
  }
}
