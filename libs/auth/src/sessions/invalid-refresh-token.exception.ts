import { AuthException } from '../kernel/auth.exception';

/** The refresh token is unknown, expired, revoked or reused: 401, and the client is not told which. */
export class InvalidRefreshToken extends AuthException {
  constructor() {
    super('invalid_refresh_token', { status: 401, text: { key: 'auth.refresh_failed' } });
  }
}
