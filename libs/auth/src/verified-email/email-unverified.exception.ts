import { AuthException } from '../kernel/auth.exception';

/** The route is for users with a verified email: 409. */
export class EmailUnverified extends AuthException {
  constructor() {
    super('email_unverified', { status: 409, text: { key: 'auth.email_unverified' } });
  }
}
