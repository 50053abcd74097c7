import { type CanActivate, type ExecutionContext, Inject, Injectable, type Type } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { AuthConfigError, type AuthException } from '../../foundation/platform/errors';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { guardWith, requires } from '../../request/gates/route-guard';
import { DetailedGate, type Gate, type RouteGate } from '../../request/gates/route-plan';
import { factorsOf } from '../login-challenge/second-factor';
import { PinnedSessions } from '../sessions/pinned-ability.gate';
import { FactorRequired } from './step-up.errors';
import { type RequiredFactor, hasSignedInWith, signInOf } from './step-up.policy';

declare module '../../foundation/realm/feature' {
  interface Factor {
    /** Whether each use of the factor verifies its user, so that it is two factors. */
    readonly verifiesUser?: (options: GuardConfig) => boolean;
  }
}

/** Requires that the user has signed in to the session with a second factor: see {@link hasSignedInWith}. */
@Injectable()
export class FactorGate implements Gate<RequiredFactor> {
  static readonly stage = 'factor';
  static readonly refusals = (_: GuardConfig, factor: RequiredFactor): AuthException[] => [new FactorRequired(factor)];

  private readonly isUserVerified: boolean;

  constructor(
    private readonly pinnedSessions: PinnedSessions,
    private readonly realm: Realm,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.isUserVerified = factorsOf(manifests).some(({ verifiesUser }) => verifiesUser?.(realm.options));
  }

  async check(_context: ExecutionContext, request: object, required: RequiredFactor): Promise<void> {
    const caller = callerAt(request, this.realm.guard);
    const isMet = hasSignedInWith(required, signInOf(caller.claims), this.isUserVerified);
    // The store is read last, only for a sign-in that would count otherwise.
    if (isMet && !(await this.pinnedSessions.includes(caller))) return;
    throw new FactorRequired(required).withReason('factor_required', caller.userId);
  }
}

const FACTORS: readonly unknown[] = ['otp', 'webauthn', 'any'] satisfies RequiredFactor[];

function gatesFor(required: RequiredFactor): RouteGate[] {
  if (!FACTORS.includes(required)) {
    throw new AuthConfigError(
      `@RequireFactor() and FactorGuard() know otp, webauthn and any, not "${String(required)}".`,
    );
  }
  return [AuthenticationGate, new DetailedGate(FactorGate, required)];
}

/**
 * Requires a session to which the user has signed in with a second factor. The `amr` claim of the access token decides:
 *
 * - `otp`: a one-time password, TOTP or a recovery code, beside another method
 * - `webauthn`: a passkey after the password; or a passkey alone, if `passkeys.userVerification` is `required`
 * - `any`: one of them
 *
 * Otherwise the response is 401 with `WWW-Authenticate: Bearer error="insufficient_user_authentication"` and the
 * accepted factors in `acr_values` (RFC 9470 §3), and `"reason": "factor_required"`: the user has to sign in again. It is also the response for a sign-in from
 * a trusted device, for pinned sessions, and while another party acts for the user (claim `act`).
 *
 * @example \@RequireFactor('any')
 * @throws AuthConfigError when the class is loaded, for any other value
 * @publicApi
 */
export const RequireFactor = (required: RequiredFactor): ClassDecorator & MethodDecorator =>
  requires(...gatesFor(required));

/**
 * Returns a Nest guard for `@UseGuards` with the same rules as {@link RequireFactor}: it authenticates the request first.
 *
 * @example \@UseGuards(FactorGuard('webauthn'))
 * @throws AuthConfigError as {@link RequireFactor} does
 * @publicApi
 */
export function FactorGuard(required: RequiredFactor): Type<CanActivate> {
  return guardWith(gatesFor(required));
}
