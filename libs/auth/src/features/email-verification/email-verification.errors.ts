import { AuthException } from '../../foundation/platform/errors';

/** The link has no valid signature or has expired: 403. */
export class InvalidLink extends AuthException {
  constructor() {
    super('bad_link', { status: 403, text: { key: 'auth.bad_link' } });
  }
}

/** The link has a valid signature, but its user does not exist any more or has another address: 403. */
export class OutdatedLink extends AuthException {
  constructor() {
    super('outdated_link', { status: 403, text: { key: 'auth.outdated_link' } });
  }
}
