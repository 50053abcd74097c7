import { type StepFailure, answerVerdict } from './answer.policy';

describe('a failed callback', () => {
  it.each<[StepFailure, 'refused' | 'unavailable']>([
    [{ name: 'AuthorizationResponseError', error: 'access_denied' }, 'refused'],
    [{ name: 'ResponseBodyError', error: 'invalid_grant' }, 'refused'],
    [{ name: 'ResponseBodyError', error: 'invalid_client' }, 'unavailable'],
    [{ name: 'ResponseBodyError', error: 'server_error' }, 'unavailable'],
    [{ name: 'WWWAuthenticateChallengeError', code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' }, 'unavailable'],
    [{ name: 'ClientError', code: 'OAUTH_INVALID_RESPONSE' }, 'refused'],
    [{ name: 'ClientError', code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' }, 'refused'],
    [{ name: 'ClientError', code: 'OAUTH_RESPONSE_IS_NOT_JSON' }, 'unavailable'],
    [{ name: 'ClientError', code: 'OAUTH_TIMEOUT' }, 'unavailable'],
    [{ name: 'ClientError' }, 'unavailable'],
    [{ name: 'JWSSignatureVerificationFailed', code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' }, 'refused'],
    [{ name: 'JWKSNoMatchingKey', code: 'ERR_JWKS_NO_MATCHING_KEY' }, 'refused'],
    [{ name: 'JWKSTimeout', code: 'ERR_JWKS_TIMEOUT' }, 'unavailable'],
    [{ name: 'JOSEError', code: 'ERR_JOSE_GENERIC' }, 'unavailable'],
    [{ name: 'Error', code: 'ECONNREFUSED' }, 'unavailable'],
    [{ name: 'TypeError' }, 'unavailable'],
    [{}, 'unavailable'],
  ])('with %j is %s', (failure, expected) => {
    expect(answerVerdict(failure)).toBe(expected);
  });
});
