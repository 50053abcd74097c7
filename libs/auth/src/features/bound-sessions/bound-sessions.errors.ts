import { errors } from '../../kit';
import { boundSessionsText } from './bound-sessions.texts';
import type { ProofFault } from './proof.policy';

/** The challenge for a request without a bound token (RFC 9449 §7.1). */
export const CHALLENGE = 'DPoP algs="ES256 EdDSA Ed25519"';

const challenge = (error: string, description?: string): string =>
  `DPoP error="${error}"${description === undefined ? '' : `, error_description="${description}"`}, ${CHALLENGE.slice(5)}`;

const DESCRIPTIONS: Readonly<Record<ProofFault, string>> = {
  form: 'send one header DPoP with a JWT of type dpop+jwt that its public key jwk has signed',
  jti: 'jti must be a text',
  htm: 'htm is not the method of the request',
  htu: 'htu is not the address of the request',
  iat: 'iat is too far from the time of the server',
  nonce: 'use the nonce of the header DPoP-Nonce',
  ath: 'ath is not the hash of the access token',
  replayed: 'the proof was used before',
};

/** What the answer to a wrong proof says: its error, and a nonce where the proof needs one. */
function faultOf(fault: ProofFault, nonce: string | null): { error: string; headers: Record<string, string> } {
  const error = fault === 'nonce' ? 'use_dpop_nonce' : 'invalid_dpop_proof';
  return {
    error,
    headers: {
      'WWW-Authenticate': challenge(error, DESCRIPTIONS[fault]),
      ...(nonce !== null && { 'DPoP-Nonce': nonce }),
    },
  };
}

/** The proof of a key, of a request that signs in or refreshes, is not valid, or is missing where a key is required: 400. */
export class InvalidProof extends errors.AuthException {
  /** @param fault null for a missing proof */
  constructor(fault: ProofFault | null = null, nonce: string | null = null) {
    const { error, headers } =
      fault === null
        ? { error: 'dpop_required', headers: { 'WWW-Authenticate': CHALLENGE, ...(nonce && { 'DPoP-Nonce': nonce }) } }
        : faultOf(fault, nonce);
    super('invalid_proof', { status: 400, text: boundSessionsText('auth.invalid_proof'), reason: error, headers });
  }
}

/** The proof of the key of an access token is not valid: 401. */
export class ProofRefused extends errors.Unauthenticated {
  constructor(fault: ProofFault, nonce: string | null = null) {
    const { error, headers } = faultOf(fault, nonce);
    super(true, [], { reason: error, headers });
  }
}

/** The access token is bound to a key that its sender has not proved, or to none where one is required: 401. */
export class UnprovedToken extends errors.Unauthenticated {
  constructor(nonce: string | null = null) {
    const headers = { 'WWW-Authenticate': challenge('invalid_token'), ...(nonce !== null && { 'DPoP-Nonce': nonce }) };
    super(true, [], { headers });
  }
}

/** The reasons of the refusals, for the manifest: see `Reasons`. */
export const BOUND_SESSION_REASONS = {
  invalid_proof: 'the proof of a key is not valid, or was used before',
  missing_proof: 'the request proves no key, and the token or the guard needs one',
  foreign_key: 'the proof is of another key than that of the token',
};
