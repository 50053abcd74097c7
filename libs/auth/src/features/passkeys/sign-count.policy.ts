/** The properties of a passkey that are compared at each use. */
export interface Usage {
  readonly signCount: number;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

export type UseVerdict = 'accept' | 'clone' | 'refuse';

/** What happens to a passkey whose backup eligibility has changed: `passkeys.backupChange`. */
export type BackupChange = 'refuse' | 'accept';

/**
 * Decides on a use of a passkey with a valid signature. Pure.
 *
 * Only the stored count decides whether a higher count is required: a copy that sends 0 must not disable the check
 * (WebAuthn Level 3 §6.1.1). The devices of a synced passkey count for themselves, so its count can go back. The stored
 * eligibility decides whether a passkey can be synced, so a copy cannot disable the check of its own use by a change of the flag. Where
 * the option accepts the change, the next use is judged by the new one: the alarm then comes from the original.
 */
export function judgeUse(stored: Usage, used: Usage, backupChange: BackupChange): UseVerdict {
  if (used.backedUp && !used.backupEligible) return 'refuse';
  if (hasNewEligibility(stored, used) && backupChange === 'refuse') return 'refuse';
  const isSynced = stored.backupEligible && used.backedUp;
  return !isSynced && stored.signCount > 0 && used.signCount <= stored.signCount ? 'clone' : 'accept';
}

/** Whether the backup eligibility has changed, which is a property of the key pair (WebAuthn Level 3 §6.1.3, §7.2). */
const hasNewEligibility = (stored: Usage, used: Usage): boolean => used.backupEligible !== stored.backupEligible;

/** How the backup flags of a use differ from the stored ones, and what became of another eligibility; null if they do not. Pure. */
export function changeOf(stored: Usage, used: Usage, verdict: UseVerdict): 'unchanged' | 'refused' | 'accepted' | null {
  if (hasNewEligibility(stored, used)) return verdict === 'accept' ? 'accepted' : 'refused';
  return verdict === 'accept' && stored.backedUp !== used.backedUp ? 'unchanged' : null;
}
