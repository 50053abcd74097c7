/** The properties of a passkey that are compared at each use. */
export interface Usage {
  readonly signCount: number;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

export type UseVerdict = 'accept' | 'clone' | 'refuse';

/**
 * Decides on a use of a passkey with a valid signature. Pure.
 *
 * Only the stored count decides whether a higher count is required: a copy that sends 0 must not disable the check
 * (WebAuthn Level 3 §6.1.1). Backup eligibility is a property of the key pair and never changes (§6.1.3); the backup
 * state can change.
 */
export function judgeUse(stored: Usage, used: Usage): UseVerdict {
  if (used.backedUp && !used.backupEligible) return 'refuse';
  if (used.backupEligible !== stored.backupEligible) return 'refuse';
  return stored.signCount > 0 && used.signCount <= stored.signCount ? 'clone' : 'accept';
}
