import type { KeyObject } from 'node:crypto';
import { decode, sign, verify } from 'jsonwebtoken';
import type { Keyring } from './keyring';

/** A JWS whose signature was verified; its claims are not judged yet. */
export interface VerifiedJws {
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

/** Signs claims as they are. The kind of token is its `typ` (RFC 8725 §3.11). */
export function signJws(keyring: Keyring, typ: string, claims: object): string {
  const { algorithm, activeKid, signingKey } = keyring;
  const header = activeKid === undefined ? { typ, alg: algorithm } : { typ, alg: algorithm, kid: activeKid };
  return sign(claims, signingKey, { algorithm, header });
}

/**
 * Verifies a JWS against the key ring, with the algorithm pinned to the configured one (RFC 8725 §3.1).
 * Times are the caller's to judge. Null for everything that is not a JWS of ours.
 */
export const verifyJws = (keyring: Keyring, token: string): VerifiedJws | null => verified(keyring, token)?.jws ?? null;

/** The key of the ring that a JWS was signed with, or null where there is none. */
export const verifyingKey = (keyring: Keyring, token: string): KeyObject | null =>
  verified(keyring, token)?.key ?? null;

/** The `kid` a token names. A library that meets what it cannot parse throws; such a token names none. */
function kidOf(token: string): unknown {
  try {
    return decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}

/**
 * Waits until it is known whether the ring has the key that a token names. Undefined where nothing has to be waited
 * for, as in every ring whose keys are configured.
 *
 * @throws StoreUnavailable where the key set cannot be read
 */
export const prepareKey = ({ remote }: Keyring, token: string): Promise<void> | undefined =>
  remote?.prepare(kidOf(token));

function verified(keyring: Keyring, token: string): { key: KeyObject; jws: VerifiedJws } | null {
  // Under HS256 no key is named, and nothing needs to be read before the signature is verified.
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
      // Not signed with this key; during an overlap another secret may have signed it.
    }
  }
  return null;
}
