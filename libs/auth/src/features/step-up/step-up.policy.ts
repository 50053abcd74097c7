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

/** The sign-in of the session of a caller, from the claims of its access token. */
export interface SignIn {
  /** Unix seconds; undefined in a token of another issuer without this claim. */
  readonly authTime: unknown;
  /** The authentication methods (RFC 8176). A session without any was started by code of the host, not by its user. */
  readonly amr: unknown;
  readonly isPinned: boolean;
  /** Whether another party acts for the user (RFC 8693 §4.1). */
  readonly hasActor: boolean;
}

/** Whether a sign-in counts as a confirmation: the user has signed in to this session within the last `ttl` seconds. Pure. */
export function isRecentSignIn({ authTime, amr, isPinned, hasActor }: SignIn, ttl: number, now: number): boolean {
  if (isPinned || hasActor || !Array.isArray(amr) || !amr.length) return false;
  return typeof authTime === 'number' && authTime <= now && now - authTime < ttl;
}

/**
 * Whether a sign-in allows the browser to create the first passkey without a question: it is recent, and the user has
 * entered the password. Pure.
 */
export const isRecentPasswordLogin = (signIn: SignIn, ttl: number, now: number): boolean =>
  isRecentSignIn(signIn, ttl, now) && (signIn.amr as unknown[]).includes('pwd');
