import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { Algorithm } from '../config/auth-options';
import { fits, isWeakRsa } from './key-material';

/** Most keys of a set. An issuer that rotates its keys lists two or three. */
const MOST_KEYS = 100;

/**
 * The keys of a JWK Set (RFC 7517 §5) that verify tokens of an algorithm, by `kid`. Keys for anything else are left
 * out, as RFC 7517 §5 says: other parties may use the same set.
 *
 * @throws Error for what is no JWK Set, and for one of more than 100 keys
 */
export function verifyingKeys(set: unknown, algorithm: Algorithm): Map<string, KeyObject> {
  const { keys } = (set ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the key set is no JWK Set');
  if (keys.length > MOST_KEYS) throw new Error(`the key set has more than ${MOST_KEYS} keys`);
  return new Map(keys.flatMap((jwk) => entryOf(jwk, algorithm)));
}

function entryOf(jwk: unknown, algorithm: Algorithm): [kid: string, key: KeyObject][] {
  const { kid, use = 'sig', alg = algorithm, d } = (jwk ?? {}) as JsonWebKey;
  if (typeof kid !== 'string' || !kid) return [];
  // A private key that is published is known to everybody, so its signatures prove nothing.
  if (use !== 'sig' || alg !== algorithm || d !== undefined) return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return fits(key, algorithm) && !isWeakRsa(key) ? [[kid, key]] : [];
  } catch {
    return [];
  }
}
