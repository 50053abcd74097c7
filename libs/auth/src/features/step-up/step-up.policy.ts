/** What a proof says of who earned it. */
export interface Proof {
  readonly sub: string;
  /** The session; absent where its bearer named none. */
  readonly fid?: string;
}

export type ConfirmationVerdict = 'confirmed' | 'missing' | 'other_session';

/**
 * What a proof is worth to a caller. The session must be the very one that earned it, and an absent session
 * equals only an absent one: a machine's token must not ride on what its user proved in a browser.
 */
export function judgeConfirmation(
  proof: Proof | null,
  { userId, familyId }: { readonly userId: string; readonly familyId: string | null },
): ConfirmationVerdict {
  if (!proof || proof.sub !== userId) return 'missing';
  return (proof.fid ?? null) === familyId ? 'confirmed' : 'other_session';
}
