import { AuthException } from '../../foundation/platform/errors';

/** The refresh token is unknown, expired, revoked or reused: 401, and the client is not told which. */
export class InvalidRefreshToken extends AuthException {
  constructor() {
    super('invalid_refresh_token', { status: 401, text: { key: 'auth.refresh_failed' } });
  }
}

/** The caller has no session of this id: 404, the same for one that is somebody else's. */
export class SessionNotFound extends AuthException {
  constructor() {
    super('no_such_session', { status: 404, text: { key: 'auth.not_found' } });
  }
}
