import { errors } from '../../../kit';
import { identitiesText } from '../identities.texts';

/** Reasons of the refusals of the protocol, for the manifest: see `Reasons`. */
export const PROVIDER_REASONS = {
  bad_logout_token: 'a logout token is not valid, or not for this application: the log has the cause',
  identity_refused: 'the answer of an identity provider is not valid for the attempt: the log has the cause',
  provider_unavailable:
    'an identity provider did not answer, or answered what cannot be used (503): the log has the cause',
};

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
