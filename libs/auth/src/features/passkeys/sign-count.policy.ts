/** What of a passkey is compared when it is used. */
export interface Usage {
  readonly signCount: number;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

export type UseVerdict = 'accept' | 'clone' | 'refuse';

/**
 * What a use deserves whose signature is right.
 *
 * The stored count alone decides whether counting is expected: a copy that says 0 must not disarm it
 * (WebAuthn Level 3 §6.1.1). Eligibility for backup belongs to the key pair and never changes (§6.1.3),
 * whereas the backup itself comes and goes.
 */
export function judgeUse(stored: Usage, used: Usage): UseVerdict {
  if (used.backedUp && !used.backupEligible) return 'refuse';
  if (used.backupEligible !== stored.backupEligible) return 'refuse';
  return stored.signCount > 0 && used.signCount <= stored.signCount ? 'clone' : 'accept';
}
