import { AuthException } from '../../foundation/platform/errors';
import { sessionText } from './sessions.texts';

/** The refresh token is unknown, expired, revoked or reused: 401, with the same body for all of them. */
export class InvalidRefreshToken extends AuthException {
  constructor() {
    super('invalid_refresh_token', { status: 401, text: sessionText('auth.refresh_failed') });
  }
}

/** The access token names no session, and cannot be denied itself: 409. Nothing has ended, and the refresh cookie stays. */
export class NoSession extends AuthException {
  constructor() {
    super('no_session', { status: 409, text: sessionText('auth.no_session') });
  }
}

/** The caller has no session with this id: 404, also for a session of another user. */
export class SessionNotFound extends AuthException {
  constructor() {
    super('no_such_session', { status: 404, text: { key: 'auth.not_found' } });
  }
}
