import { AuthException } from '../../foundation/platform/errors';

/** The link is not signed by us, was changed on its way, or is too old: 403. */
export class InvalidLink extends AuthException {
  constructor() {
    super('bad_link', { status: 403, text: { key: 'auth.bad_link' } });
  }
}

/** The link is genuine, but its user is gone or has another address now: 403. */
export class OutdatedLink extends AuthException {
  constructor() {
    super('outdated_link', { status: 403, text: { key: 'auth.outdated_link' } });
  }
}
