import { JwtService } from '@nestjs/jwt';
import type { KeyObject } from 'node:crypto';
import type { Keyring } from './keyring';

/** A JWS with a verified signature. Its claims are not checked. */
export interface VerifiedJws {
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

/** The result of `verify` and `decode` with the option `complete`. */
interface Jwt {
  header: VerifiedJws['header'];
  payload: VerifiedJws['claims'] | string;
}

/** Signs claims without changing them. `typ` identifies the kind of token (RFC 8725 §3.11). */
export function signJws(keyring: Keyring, typ: string, claims: object): string {
  const { algorithm, activeKid, signingKey } = keyring;
  const header = activeKid === undefined ? { typ, alg: algorithm } : { typ, alg: algorithm, kid: activeKid };
  // All options are passed here: merging them with options of the service takes as long as the signature.
  return keyring.serviceOf(signingKey).sign(claims, { algorithm, header });
}

/** The number of signatures that each of the two parts of {@link VerifiedSignatures} holds. */
const REMEMBERED = 1000;

/**
 * Remembers which key has verified the signature of a token. The entry is for the complete text and one key object, so it
 * says only what another verification would say: see docs/decisions/no-cached-verdicts.md. A token that is used again
 * within the next thousand tokens is kept.
 */
export class VerifiedSignatures {
  private recent = new Map<string, KeyObject>();
  private former = new Map<string, KeyObject>();

  keyOf(token: string): KeyObject | undefined {
    const recent = this.recent.get(token);
    if (recent) return recent;
    const former = this.former.get(token);
    if (former) this.add(token, former);
    return former;
  }

  add(token: string, key: KeyObject): void {
    if (this.recent.size >= REMEMBERED) [this.former, this.recent] = [this.recent, new Map()];
    this.recent.set(token, key);
  }
}

/**
 * Verifies a JWS against the key ring, with the algorithm pinned to the configured one (RFC 8725 §3.1).
 * Does not check times. Null if the token is not a JWS with a valid signature of the key ring.
 *
 * @param signatures for tokens that are presented many times, with an asymmetric algorithm
 */
export const verifyJws = (keyring: Keyring, token: string, signatures?: VerifiedSignatures): VerifiedJws | null =>
  verified(keyring, token, signatures)?.jws ?? null;

/** The key of the ring that verifies a JWS, or null. */
export const verifyingKey = (keyring: Keyring, token: string): KeyObject | null =>
  verified(keyring, token)?.key ?? null;

/** Reads tokens without a key. */
const decoder = new JwtService();

/** The claims of a token, without a verification of its signature: for tokens that this process has just signed. */
export const unverifiedClaims = (token: string): (VerifiedJws['claims'] & { readonly sub?: string }) | null =>
  decoder.decode(token, { json: true });

/** The parts of a token without a verification of its signature. Undefined for a token that cannot be parsed. */
function parsed(token: string): Jwt | undefined {
  try {
    return (decoder.decode(token, { complete: true }) as unknown as Jwt | null) ?? undefined;
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
  remote?.prepare(parsed(token)?.header.kid);

function verified(
  keyring: Keyring,
  token: string,
  signatures?: VerifiedSignatures,
): { key: KeyObject; jws: VerifiedJws } | null {
  const known = signatures?.keyOf(token);
  // HS256 tokens have no `kid`, so an unknown one is not parsed before its signature is verified.
  const jwt = keyring.activeKid !== undefined ? parsed(token) : undefined;
  for (const key of keyring.candidates(jwt?.header.kid)) {
    try {
      // A key that was removed from the ring is no candidate any more.
      const { header, payload } = jwt && key === known ? jwt : keyring.serviceOf(key).verify<Jwt>(token);
      if (typeof payload !== 'object' || Array.isArray(payload)) return null;
      if (key !== known) signatures?.add(token, key);
      return { key, jws: { header: { ...header }, claims: payload } };
    } catch {
      // Not signed with this key. After a change of the secret, a previous secret may have signed the token.
    }
  }
  return null;
}
