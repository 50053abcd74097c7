import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { Clock } from '../../foundation/platform/clock';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { AuthConfigError, type AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { guardWith, requires } from '../../request/gates/route-guard';
import { DetailedGate, type Gate, type RouteGate } from '../../request/gates/route-plan';
import { PinnedSessions } from '../sessions/pinned-ability.gate';
import { RecentLoginRequired } from './step-up.errors';
import { isRecentSignIn, signInOf } from './step-up.policy';

/** Requires that the user has signed in to the session of the caller within a number of seconds: {@link isRecentSignIn}. */
@Injectable()
export class RecentLoginGate implements Gate<number> {
  static readonly stage = 'recent-login';
  static readonly refusals = (_: GuardConfig, maxAge: number): AuthException[] => [new RecentLoginRequired(maxAge)];

  constructor(
    private readonly pinnedSessions: PinnedSessions,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  async check(_context: ExecutionContext, request: object, maxAge: number): Promise<void> {
    const caller = callerAt(request, this.realm.guard);
    const isRecent = isRecentSignIn(signInOf(caller.claims), maxAge, this.clock.seconds(), this.realm.options.leeway);
    // The store is read last, only for a sign-in that would count otherwise.
    if (!isRecent || (await this.pinnedSessions.includes(caller))) throw new RecentLoginRequired(maxAge);
  }
}

const gates = (maxAge: number): RouteGate[] => {
  if (Number.isSafeInteger(maxAge) && maxAge > 0)
    return [AuthenticationGate, new DetailedGate(RecentLoginGate, maxAge)];
  throw new AuthConfigError(`@RequireRecentLogin needs a whole number of seconds above 0, and got ${String(maxAge)}.`);
};

/**
 * Requires a valid token of a session to which the user has signed in within the last `seconds`, by the claim `auth_time`. A
 * refresh does not change this time, so the user has to sign in again after `seconds`, however often the session is used. It is for
 * routes that need an authentication after some hours; {@link RequireConfirmation} is for a proof of the last minutes.
 *
 * Sessions to which no user has signed in are refused: pinned sessions, sessions without `amr` (as of `auth.startSession`
 * without it), and sessions with an `act` claim. So are tokens of another issuer without `auth_time`.
 *
 * The response is 401 with `WWW-Authenticate: Bearer error="insufficient_user_authentication", max_age=…` (RFC 9470 §3) and
 * `"reason": "recent_login_required"`. The requirements of a handler and of its controller both apply.
 *
 * @example \@RequireRecentLogin(12 * 3600)
 * @throws AuthConfigError when the class is loaded, for a number that is not a whole one above 0
 * @publicApi
 */
export const RequireRecentLogin = (seconds: number): ClassDecorator & MethodDecorator => requires(...gates(seconds));

/**
 * Returns a Nest guard for `@UseGuards` with the same rules as {@link RequireRecentLogin}: it authenticates the request first.
 *
 * @example \@UseGuards(RecentLoginGuard(12 * 3600))
 * @throws AuthConfigError as {@link RequireRecentLogin} does
 * @publicApi
 */
export function RecentLoginGuard(seconds: number): Type<CanActivate> {
  return guardWith(gates(seconds));
}
