/** The facts about a user who has proved an identity. A fact that was not read yet is absent, and has no effect. */
export interface SignInFacts {
  /** Whether the sign-in has passed a second factor or needs none, because a passkey combines two factors. */
  readonly hasTwoFactors?: boolean;
  /** Whether the password comes from a device that the user trusts. */
  readonly isTrusted?: boolean;
  /** The second factor that is asked of the user: one that the user has, or one that the user must have and has not. */
  readonly secondFactor?: 'none' | 'held' | 'missing';
  /** Whether the email must be verified first and is not: `emailVerification.blockUnverifiedLogin`. */
  readonly isUnverified?: boolean;
  /** Whether the user was deleted, or the proof of the identity has ended: a changed password, a removed passkey, an end of trust. */
  readonly isOutdated?: boolean;
  /** Whether `hooks.canSignIn` refuses the user. */
  readonly isRefused?: boolean;
}

/**
 * What happens with a sign-in.
 *
 * - `challenge`: the user presents a second factor.
 * - `unverified`: it is refused until the email is verified.
 * - `enrolment`: the user sets up a second factor.
 * - `outdated`: it is refused as an invalid proof of its kind.
 * - `refused`: it is refused, because the host admits no sign-in of the user.
 * - `start`: a session starts.
 */
export type SignInVerdict = 'challenge' | 'unverified' | 'enrolment' | 'outdated' | 'refused' | 'start';

/**
 * The verdict on a sign-in, for every method. Pure. It is asked before the proof is consumed, and again with what is read after
 * the session was stored. A second factor comes first, so that the password alone does not show whether the email is verified or
 * the user is refused. A user who may not sign in yet must not add a factor to the account.
 */
export function signInVerdict(facts: SignInFacts): SignInVerdict {
  const isAsked = !facts.hasTwoFactors && !facts.isTrusted;
  if (isAsked && facts.secondFactor === 'held') return 'challenge';
  if (facts.isUnverified) return 'unverified';
  if (isAsked && facts.secondFactor === 'missing') return 'enrolment';
  if (facts.isOutdated) return 'outdated';
  return facts.isRefused ? 'refused' : 'start';
}
