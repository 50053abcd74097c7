import { errors } from '../../kit';
import { identitiesText } from './identities.texts';

/** The guard has no provider of this name: 404. */
export class NoSuchProvider extends errors.AuthException {
  constructor() {
    super('no_such_provider', { status: 404, text: { key: 'auth.not_found' } });
  }
}

/**
 * No account has the identity, and none is created: 409. An account has the address, and the provider has proved that it is that
 * of the person; or the guard registers no user. The person can sign in another way, and link the identity.
 */
export class IdentityNotLinked extends errors.AuthException {
  constructor() {
    super('identity_not_linked', { status: 409, text: identitiesText('auth.identity_not_linked') });
  }
}

/** The registration of a person of a provider has expired, was completed, or belongs to another browser: 422. */
export class BadContinuation extends errors.AuthException {
  constructor() {
    super('bad_continuation', {
      status: 422,
      errors: { continuation_token: [identitiesText('auth.identity_refused')] },
    });
  }
}

/** Another account has the identity: 409. The answer does not show which account. */
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

/**
 * The answer of a provider was refused: 422 under `parameters`. One text for every cause, which only the log contains. The
 * attempt is over.
 */
export class ProviderRefused extends errors.AuthException {
  constructor() {
    super('identity_refused', {
      status: 422,
      errors: { parameters: [identitiesText('auth.identity_refused')] },
    });
  }
}

/** A provider did not answer, or its answer cannot be used: 503 with `Retry-After`. */
export class ProviderUnavailable extends errors.AuthException {
  /** @param codeSent whether the provider may have received the code. If it has not, the attempt can be used again */
  constructor(readonly codeSent: boolean) {
    super('provider_unavailable', {
      status: 503,
      text: { key: 'server.unavailable' },
      headers: { 'Retry-After': '1' },
    });
  }
}

/** A logout token was refused: 400 (OpenID Connect Back-Channel Logout 1.0 §2.8). The provider must not send it again. */
export class BadLogoutToken extends errors.AuthException {
  constructor() {
    super('bad_logout_token', { status: 400, text: { key: 'request.unreadable' } });
  }
}

/** The reasons of the refusals, for the manifest: see `Reasons`. */
export const IDENTITY_REASONS = {
  bad_continuation:
    'the registration of a person of a provider has expired, was completed, or belongs to another browser',
  identity_taken: 'another account has the identity',
  last_identity: 'the identity is the only way in which its user can sign in',
  no_such_identity: 'the caller has no such identity',
  identity_not_linked: 'no account has the identity, and none is created: it has to be linked',
  no_such_provider: 'the guard has no provider of this name',
  bad_logout_token: 'a logout token is not valid, or not for this application: the log has the cause',
  identity_refused: 'the answer of an identity provider is not valid for the attempt: the log has the cause',
  missing_attempt: 'the answer of an identity provider came from a browser without an attempt',
  unknown_attempt:
    'the attempt at an identity provider was used, has expired, or belongs to another browser, session, provider or page',
  provider_unavailable:
    'an identity provider did not answer, or answered what cannot be used (503): the log has the cause',
};
