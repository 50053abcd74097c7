/** A failed step as the libraries report it: see `ClientError`, `ResponseBodyError`, `AuthorizationResponseError`, `JOSEError`. */
export interface StepFailure {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
}

/** Errors of the token endpoint that say nothing about the code: the host has to correct its configuration, or to wait. */
const NOT_ABOUT_THE_CODE =
  /^(?:invalid_client|unauthorized_client|unsupported_grant_type|invalid_scope|server_error|temporarily_unavailable)$/;

/** The codes of the libraries: of `openid-client` and of `jose`. */
const OF_LIBRARIES = /^(?:OAUTH_|ERR_J)/;

/** The answer was no answer of the protocol, or a challenge: the provider does not know the client, or its secret (RFC 6749 §5.2). */
const NO_ANSWER =
  /^(?:OAUTH_(?:RESPONSE_IS_NOT_CONFORM|RESPONSE_IS_NOT_JSON|TIMEOUT|ABORT|WWW_AUTHENTICATE_CHALLENGE)|ERR_JOSE_GENERIC|ERR_JWKS_INVALID|ERR_JWKS_TIMEOUT)$/;

/**
 * What the failure of a callback means: the answer was refused (422), or there is no usable answer of the provider (503), so that
 * nothing is known about the person.
 */
export function answerVerdict({ name, code, error }: StepFailure): 'refused' | 'unavailable' {
  if (name === 'AuthorizationResponseError') return 'refused';
  if (name === 'ResponseBodyError') return NOT_ABOUT_THE_CODE.test(String(error)) ? 'unavailable' : 'refused';
  return typeof code === 'string' && OF_LIBRARIES.test(code) && !NO_ANSWER.test(code) ? 'refused' : 'unavailable';
}

/** Seconds for which a logout token is accepted after it was issued, whatever it says itself. */
export const LOGOUT_SECONDS = 600;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Texts that are stored for a while, or compared with stored ones: PostgreSQL stores no NUL. */
const isText = (value: unknown): value is string => typeof value === 'string' && /^[^\0]{1,255}$/.test(value);

/**
 * Why the verified claims are not those of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6); null if they are. Signature,
 * issuer, audience, `iat` and `exp` are verified before.
 *
 * @param type the header `typ`
 */
export function logoutFault(claims: Readonly<Record<string, unknown>>, type: unknown): string | null {
  const { events, nonce, sub, sid, jti } = claims;
  // Other tokens of the provider have the same issuer and audience.
  if (type !== undefined && !/^(?:application\/)?(?:logout\+)?jwt$/i.test(String(type)))
    return 'its type is not that of a logout token';
  const event = (events as Record<string, unknown> | null | undefined)?.[EVENT];
  if (typeof event !== 'object' || event === null) return 'it has no logout event';
  if (nonce !== undefined) return 'it has a nonce, so it is an ID token';
  if (!isText(jti)) return 'it has no usable jti';
  if (sub === undefined && sid === undefined) return 'it names neither a subject nor a session';
  return [sub, sid].every((value) => value === undefined || isText(value)) ? null : 'its subject or session is invalid';
}
