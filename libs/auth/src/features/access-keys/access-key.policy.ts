/** What is known of a key when a request presents it. */
export interface PresentedKey {
  /** Whether the guard of the route has a key with this id. */
  readonly isKnown: boolean;
  /** Whether the secret has the stored HMAC, compared in constant time. */
  readonly isSecret: boolean;
  readonly isRevoked: boolean;
  /** Whether the denylist has the key. */
  readonly isDenied: boolean;
  /** By the clock of the database, which has set the expiry. */
  readonly isExpired: boolean;
  /** Whether the client is in one of the networks of the key; true for a key without networks. */
  readonly isInNetwork: boolean;
}

/** Why a key is refused: a reason in the security log. A client learns none of them. */
export type KeyRefusal = 'unknown_key' | 'wrong_key' | 'revoked_key' | 'expired_key' | 'key_network';

/**
 * Decides whether a request may present a key. Pure. The owner is judged afterwards. Null for a key that is accepted.
 *
 * The row is read on the primary, and an end is committed before it is answered. A denial refuses what a server of the database
 * that was promoted too early has forgotten.
 */
export function refusalOfKey(presented: PresentedKey): KeyRefusal | null {
  const { isKnown, isSecret, isRevoked, isDenied, isExpired, isInNetwork } = presented;
  // The secret comes first: without it, nothing about the key is found out, not even in the log.
  if (!isKnown) return 'unknown_key';
  if (!isSecret) return 'wrong_key';
  if (isRevoked || isDenied) return 'revoked_key';
  if (isExpired) return 'expired_key';
  return isInNetwork ? null : 'key_network';
}

/**
 * Whether the keys of a user end together with the sessions. Pure. A reason that no feature has excepted ends them.
 *
 * @param features those that state `keepsCredentials`
 */
export const endsKeys = (reason: string, features: readonly { keepsCredentials?: readonly string[] }[]): boolean =>
  !features.some(({ keepsCredentials = [] }) => keepsCredentials.includes(reason));
