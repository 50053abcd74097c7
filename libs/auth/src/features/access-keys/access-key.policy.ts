/** What is known of a key and its owner when a request presents it. */
export interface PresentedKey {
  /** The stored key; null for an unknown id, and after its owner was erased. */
  readonly key: {
    readonly guard: string;
    /** Whether the secret has the stored HMAC, compared in constant time. */
    readonly isSecret: boolean;
    readonly isRevoked: boolean;
    /** By the clock of the database, which has set the expiry. */
    readonly isExpired: boolean;
  } | null;
  /** Whether the denylist has the key; null if it has forgotten entries and was not rebuilt. */
  readonly isDenied: boolean | null;
  /** Whether the owner exists and may sign in now. A service has no user: it is `allowed` until the key ends. */
  readonly owner: 'allowed' | 'refused' | 'gone';
  /** Whether the client is in one of the networks of the key; true for a key without networks. */
  readonly isInNetwork: boolean;
  /** The guard of the route. */
  readonly guard: string;
}

/** Why a key is refused: a reason in the security log. A client learns none of them. */
export type KeyRefusal = 'unknown_key' | 'wrong_key' | 'revoked_key' | 'expired_key' | 'key_owner' | 'key_network';

/**
 * Decides whether a request may pass with a key. Pure. All answers but `accepted` are the same 401.
 *
 * An unknown state of the denylist refuses no request: the row is read on the primary, and an end is committed before it is
 * answered. A denial refuses what a node of the database that was promoted too early has forgotten.
 */
export function keyVerdict({ key, isDenied, owner, isInNetwork, guard }: PresentedKey): 'accepted' | KeyRefusal {
  // The secret comes first: without it, nothing about the key is found out, not even in the log of another guard.
  if (!key || key.guard !== guard) return 'unknown_key';
  if (!key.isSecret) return 'wrong_key';
  if (key.isRevoked || isDenied) return 'revoked_key';
  if (key.isExpired) return 'expired_key';
  if (owner !== 'allowed') return 'key_owner';
  return isInNetwork ? 'accepted' : 'key_network';
}

/**
 * Whether the keys of a user end together with the sessions. Pure. A reason that no feature has excepted ends them.
 *
 * @param features those that state `keepsCredentials`
 */
export const endsKeys = (reason: string, features: readonly { keepsCredentials?: readonly string[] }[]): boolean =>
  !features.some(({ keepsCredentials = [] }) => keepsCredentials.includes(reason));
