import { errors } from '../../kit';
import { identitiesText } from './identities.texts';

/** Another account has the identity: 409. Nothing tells which account. */
export class IdentityTaken extends errors.AuthException {
  constructor() {
    super('identity_taken', { status: 409, text: identitiesText('auth.identity_taken') });
  }
}

/**
 * The identity is the only way in which its user can sign in: 409. Nothing was removed. The user can set a password, add a passkey,
 * or link another account first.
 */
export class LastIdentity extends errors.AuthException {
  constructor() {
    super('last_identity', { status: 409, text: identitiesText('auth.last_identity') });
  }
}

/** The caller has no identity with this id: 404, also for that of another user. */
export class IdentityNotFound extends errors.AuthException {
  constructor() {
    super('no_such_identity', { status: 404, text: { key: 'auth.not_found' } });
  }
}
