import type { Caller } from '../../identity/tokens/caller';

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

/**
 * A factor that a route requires of the sign-in: a one-time password (`otp`), an authenticator of WebAuthn (`webauthn`), or one
 * of them (`any`).
 */
export type RequiredFactor = 'otp' | 'webauthn' | 'any';

/** The factors that meet a requirement, the stronger one first: the `acr_values` of the challenge (RFC 9470 §3). Pure. */
export const factorsFor = (required: RequiredFactor): readonly ('webauthn' | 'otp')[] =>
  required === 'any' ? ['webauthn', 'otp'] : [required];

/**
 * Whether the user has signed in to the session with two factors, of which one is the required one. Pure. An
 * authenticator that verifies the user (WebAuthn §2) is two factors; a one-time password needs another method beside it.
 *
 * @param isUserVerified whether every authenticator verifies its user
 */
export function hasSignedInWith(
  required: RequiredFactor,
  { amr, isPinned, hasActor }: Omit<SignInClaims, 'authTime'>,
  isUserVerified: boolean,
): boolean {
  if (isPinned || hasActor || !Array.isArray(amr)) return false;
  return factorsFor(required).some((factor) => {
    const isAlone = !amr.some((method) => method !== factor);
    return amr.includes(factor) && (!isAlone || (factor === 'webauthn' && isUserVerified));
  });
}

/** The sign-in of the session of a caller, from the claims of its access token. */
export interface SignInClaims {
  /** Unix seconds; undefined in a token of another issuer without this claim. */
  readonly authTime: unknown;
  /** The authentication methods (RFC 8176). A session without any was started by code of the host, not by its user. */
  readonly amr: unknown;
  readonly isPinned: boolean;
  /** Whether another party acts for the user (RFC 8693 §4.1). */
  readonly hasActor: boolean;
}

/** The sign-in of a caller whose session is not looked up. Pure. */
export const signInOf = ({ auth_time: authTime, amr, act }: Caller['claims']): SignInClaims => ({
  authTime,
  amr,
  isPinned: false,
  hasActor: act !== undefined,
});

/**
 * Whether the user has signed in to this session within the last `ttl` seconds. Pure.
 *
 * @param leeway seconds by which the time of the sign-in may be ahead: it is a time of another clock
 */
export function isRecentSignIn(
  { authTime, amr, isPinned, hasActor }: SignInClaims,
  ttl: number,
  now: number,
  leeway = 0,
): boolean {
  if (isPinned || hasActor || !Array.isArray(amr) || !amr.length) return false;
  return typeof authTime === 'number' && authTime <= now + leeway && now - authTime < ttl;
}

/**
 * Whether a sign-in allows the browser to create a first credential without a question: it is recent, and the user has
 * entered the password. Pure.
 */
export const isRecentPasswordLogin = (signIn: SignInClaims, ttl: number, now: number, leeway = 0): boolean =>
  isRecentSignIn(signIn, ttl, now, leeway) && (signIn.amr as unknown[]).includes('pwd');
