import type { KeyObject } from 'node:crypto';
import { decode, sign, verify } from 'jsonwebtoken';
import type { Keyring } from './keyring';

/** A JWS with a verified signature. Its claims are not checked. */
export interface VerifiedJws {
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

/** Signs claims without changing them. `typ` identifies the kind of token (RFC 8725 §3.11). */
export function signJws(keyring: Keyring, typ: string, claims: object): string {
  const { algorithm, activeKid, signingKey } = keyring;
  const header = activeKid === undefined ? { typ, alg: algorithm } : { typ, alg: algorithm, kid: activeKid };
  return sign(claims, signingKey, { algorithm, header });
}

/**
 * Verifies a JWS against the key ring, with the algorithm pinned to the configured one (RFC 8725 §3.1).
 * Does not check times. Null if the token is not a JWS with a valid signature of the key ring.
 */
export const verifyJws = (keyring: Keyring, token: string): VerifiedJws | null => verified(keyring, token)?.jws ?? null;

/** The key of the ring that verifies a JWS, or null. */
export const verifyingKey = (keyring: Keyring, token: string): KeyObject | null =>
  verified(keyring, token)?.key ?? null;

/** The `kid` of a token. Undefined for a token that cannot be parsed. */
function kidOf(token: string): unknown {
  try {
    return decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}

/**
 * Waits until the ring has read the remote key set, if it lacks the key that a token names. Undefined if there is
 * nothing to wait for, as with configured keys.
 *
 * @throws StoreUnavailable if the key set cannot be read
 */
export const prepareKey = ({ remote }: Keyring, token: string): Promise<void> | undefined =>
  remote?.prepare(kidOf(token));

function verified(keyring: Keyring, token: string): { key: KeyObject; jws: VerifiedJws } | null {
  // HS256 tokens have no `kid`, so the header is not read before the signature is verified.
  const kid = keyring.activeKid === undefined ? undefined : kidOf(token);
  for (const key of keyring.candidates(kid)) {
    try {
      const { header, payload } = verify(token, key, {
        algorithms: [keyring.algorithm],
        complete: true,
        ignoreExpiration: true,
        ignoreNotBefore: true,
      });
      if (typeof payload !== 'object' || Array.isArray(payload)) return null;
      return { key, jws: { header: { ...header }, claims: payload } };
    } catch {
      // Not signed with this key. After a change of the secret, a previous secret may have signed the token.
    }
  }
  return null;
}
