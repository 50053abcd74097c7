import { errors } from '../../kit';
import { boundSessionsText } from './bound-sessions.texts';
import { PROOF_ALGORITHMS, type ProofFault } from './proof.policy';

/** A challenge of the scheme (RFC 9449 §7.1). Without parameters, for a request without a bound token. */
export const challenge = (...parameters: string[]): string =>
  `DPoP ${[...parameters, `algs="${PROOF_ALGORITHMS.join(' ')}"`].join(', ')}`;

/** @param nonce null where proofs have none */
const headersOf = (value: string, nonce: string | null): Record<string, string> => ({
  'WWW-Authenticate': value,
  ...(nonce !== null && { 'DPoP-Nonce': nonce }),
});

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
  const value = challenge(`error="${error}"`, `error_description="${DESCRIPTIONS[fault]}"`);
  return { error, headers: headersOf(value, nonce) };
}

/** The proof of a key, of a request that signs in or refreshes, is not valid, or is missing where a key is required: 400. */
export class InvalidProof extends errors.AuthException {
  /** @param fault null for a missing proof */
  constructor(fault: ProofFault | null = null, nonce: string | null = null) {
    const { error, headers } =
      fault === null ? { error: 'dpop_required', headers: headersOf(challenge(), nonce) } : faultOf(fault, nonce);
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
    super(true, [], { headers: headersOf(challenge('error="invalid_token"'), nonce) });
  }
}

/** The reasons of the refusals, for the manifest: see `Reasons`. */
export const BOUND_SESSION_REASONS = {
  invalid_proof: 'the proof of a key is not valid, or was used before',
  missing_proof: 'the request proves no key, and the token or the guard needs one',
  foreign_key: 'the proof is of another key than that of the token',
};
