/** The claims of a confirmation token. */
export interface Proof {
  readonly sub: string;
  /** The session; absent for an access token without a session. */
  readonly fid?: string;
}

export type ConfirmationVerdict = 'confirmed' | 'missing' | 'other_session';

/**
 * Decides whether a confirmation token is valid for a caller. Pure. The session must be the one that it was issued to. An
 * absent session matches only an absent session: a token of a machine must not use a confirmation that its user made in a
 * browser.
 */
export function confirmationVerdict(
  proof: Proof | null,
  { userId, familyId }: { readonly userId: string; readonly familyId: string | null },
): ConfirmationVerdict {
  if (!proof || proof.sub !== userId) return 'missing';
  return (proof.fid ?? null) === familyId ? 'confirmed' : 'other_session';
}
